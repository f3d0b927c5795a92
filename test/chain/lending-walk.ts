import { type Address, encodeFunctionData, maxUint256, parseAbi } from 'viem'
import { aaveCalls, aaveConfigCalls } from './aave.ts'
import { aaveAbi, morphoAbi } from './abis.ts'
import { type CometMarket, cometCalls, cometRates } from './comet.ts'
import { calls } from './deploy.ts'
import { ScenarioError } from './errors.ts'
import { type EvkMarket, evkCalls } from './evk.ts'
import { morphoCalls } from './morpho.ts'
import type { Call, Node } from './node.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

export const viewAbi = parseAbi([
  'function scaledBalanceOf(address) view returns (uint256)',
  'function scaledTotalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function setUserEMode(uint8 category)',
  'function setEModeCategory(uint8 category, uint16 ltv, uint16 threshold, uint16 bonus, address oracle, string label)',
  'function setAssetEModeCategory(address asset, uint8 category)',
])

export function configure(
  world: World,
  from: Address,
  functionName: 'setEModeCategory' | 'setAssetEModeCategory',
  args: unknown[],
): Call {
  const data = encodeFunctionData({ abi: viewAbi, functionName, args } as Parameters<
    typeof encodeFunctionData
  >[0])
  return { from, to: world.aave.configurator, data, label: functionName }
}

/** The markets beside those of the world. */
export interface Extra {
  comet: CometMarket
  evk: EvkMarket
}

/** One act of a random user; it may be refused, which is a step as well. */
export function act(world: World, { comet, evk }: Extra, users: readonly Address[], random: Random): Call {
  const user = random.pick(users) as Address
  const { morpho, aave, actors } = world
  const blue = morphoCalls(morpho.address)
  const pool = aaveCalls(aave.pool)
  const market = random.pick(morpho.markets)
  const reserve = random.pick(aave.reserves)
  const other = random.pick(aave.reserves)
  if (!market || !reserve || !other) throw new Error('nothing to act on')
  const priceOf = (symbol: string) =>
    Object.entries(world.assets).find(([name]) => name === symbol)?.[1].startPrice ?? 1
  const worth = (token: { symbol: string; decimals: number }, usd: number) =>
    BigInt(Math.round((usd / priceOf(token.symbol)) * 1e6)) * 10n ** BigInt(Math.max(0, token.decimals - 6)) +
    BigInt(random.below(999))
  const some = (token: { symbol: string; decimals: number }) =>
    random.chance(0.1) ? BigInt(1 + random.below(3)) : worth(token, random.between(10, 60_000))
  const { asset } = reserve
  const choices: (() => Call)[] = [
    () => blue.supply(user, market, some(market.loan)),
    () => blue.withdraw(user, market, some(market.loan)),
    () => blue.supplyCollateral(user, market, some(market.collateral)),
    () => blue.supplyCollateral(user, market, some(market.collateral)),
    () => blue.withdrawCollateral(user, market, some(market.collateral)),
    () => blue.borrow(user, market, some(market.loan)),
    () => blue.borrow(user, market, some(market.loan)),
    () => blue.repay(user, market, some(market.loan)),
    () => blue.repayShares(user, market, BigInt(1 + random.below(1e9))),
    () => blue.liquidate(actors.liquidator, market, user, BigInt(1 + random.below(1e9)) * 10n ** 6n),
    () => blue.seize(actors.liquidator, market, user, some(market.collateral)),
    () => blue.setFee(actors.admin, market, random.pick([0, 0.05, 0.2, 0.25]) ?? 0),
    () => blue.setFeeRecipient(actors.admin, random.pick(users) as Address),
    () => pool.supply(user, asset.address, some(asset)),
    () => pool.supply(user, asset.address, some(asset)),
    () => pool.withdraw(user, asset.address, random.chance(0.2) ? maxUint256 : some(asset)),
    () => pool.borrow(user, asset.address, some(asset)),
    () => pool.borrow(user, asset.address, some(asset)),
    () => pool.repay(user, asset.address, random.chance(0.2) ? maxUint256 : some(asset)),
    () => calls.transfer(user, reserve.aToken, random.pick(users) as Address, some(asset)),
    () =>
      pool.liquidate(
        actors.liquidator,
        asset.address,
        other.asset.address,
        user,
        random.chance(0.5) ? maxUint256 : some(other.asset),
      ),
    () => ({
      from: user,
      to: aave.pool,
      data: encodeFunctionData({
        abi: aaveAbi,
        functionName: 'setUserUseReserveAsCollateral',
        args: [asset.address, random.chance(0.6)],
      }),
    }),
    () => ({
      from: user,
      to: aave.pool,
      data: encodeFunctionData({
        abi: viewAbi,
        functionName: 'setUserEMode',
        args: [random.chance(0.6) ? 1 : 0],
      }),
    }),
    () => {
      const moved = random.pick(['WETH', 'WBTC', 'DAI'] as const) ?? 'WETH'
      const { feed, startPrice } = world.assets[moved]
      return calls.reportPrice(
        actors.admin,
        feed,
        startPrice * random.between(moved === 'DAI' ? 0.98 : 0.55, moved === 'DAI' ? 1.02 : 1.2),
      )
    },
    () =>
      aaveConfigCalls(aave.configurator).setSupplyCap(
        actors.admin,
        asset.address,
        BigInt(random.below(2)) * 10n ** 9n,
      ),
  ]
  const turn = random.next()
  const chosen =
    turn < 0.28
      ? cometAct(world, comet, user, users, random, some)
      : turn < 0.44
        ? evkAct(world, evk, user, users, random, some)
        : random.pick(choices)
  if (!chosen) throw new Error('no choice')
  return { ...chosen(), mayFail: true }
}

function evkAct(
  world: World,
  evk: EvkMarket,
  user: Address,
  users: readonly Address[],
  random: Random,
  some: (token: { symbol: string; decimals: number }) => bigint,
): (() => Call) | undefined {
  const to = evkCalls(evk)
  const { lender, collateral } = evk
  return random.pick<() => Call>([
    () => to.enable(user, 'Collateral'),
    () => to.enable(user, 'Controller'),
    () => to.deposit(user, lender.address, some(lender.token)),
    () => to.withdraw(user, lender.address, some(lender.token)),
    () => to.deposit(user, collateral.address, some(collateral.token)),
    () => to.deposit(user, collateral.address, some(collateral.token)),
    () => to.withdraw(user, collateral.address, some(collateral.token)),
    () => to.borrow(user, some(lender.token)),
    () => to.borrow(user, some(lender.token)),
    () => to.repay(user, random.chance(0.3) ? maxUint256 : some(lender.token)),
    () =>
      to.pullDebt(user, random.pick(users) as Address, random.chance(0.5) ? maxUint256 : some(lender.token)),
    () =>
      to.transfer(
        user,
        random.pick([lender, collateral])?.address ?? lender.address,
        random.pick(users) as Address,
        some(collateral.token),
      ),
    () => to.liquidate(world.actors.liquidator, user, random.chance(0.5) ? maxUint256 : some(lender.token)),
    () => to.leave(user),
    () => to.touch(user),
    () =>
      to.setLtv(
        world.actors.admin,
        7_000,
        random.pick([8_500, 8_000, 7_500]) ?? 8_500,
        random.below(500_000),
      ),
  ])
}

function cometAct(
  world: World,
  comet: CometMarket,
  user: Address,
  users: readonly Address[],
  random: Random,
  some: (token: { symbol: string; decimals: number }) => bigint,
): (() => Call) | undefined {
  const { admin, whale, liquidator } = world.actors
  const to = cometCalls(comet.address)
  const base = comet.base.token
  const collateral = random.pick(comet.collaterals)?.token ?? base
  return random.pick<() => Call>([
    () => to.supply(user, base.address, random.chance(0.2) ? maxUint256 : some(base)),
    () => to.supply(user, base.address, some(base)),
    () => to.withdraw(user, base.address, random.chance(0.2) ? maxUint256 : some(base)),
    () => to.withdraw(user, base.address, some(base)),
    () => to.withdraw(user, base.address, some(base)),
    () => to.supply(user, collateral.address, some(collateral)),
    () => to.supply(user, collateral.address, some(collateral)),
    () => to.withdraw(user, collateral.address, some(collateral)),
    // One end always lends: a debt that goes from one borrower to another is told by no log at all.
    () => to.transfer(user, random.chance(0.5) ? whale : liquidator, some(base)),
    () => to.transfer(whale, random.chance(0.7) ? user : liquidator, some(base)),
    () => to.transferAsset(user, random.pick(users) as Address, collateral.address, some(collateral)),
    () => to.absorb(liquidator, user),
    () => to.buyCollateral(liquidator, collateral.address, some(base)),
    () => to.pause(admin, [false, random.chance(0.3), false, false, random.chance(0.2)]),
    () => to.configure(admin, random.chance(0.5) ? cometRates.steeper : cometRates.borrow),
    () => to.withdrawReserves(admin, some(base)),
  ])
}

/** Loans near their limit, a fall of the price, liquidations: a part, all (which leaves bad debt), and one on Aave. */
export async function stageFall(
  node: Node,
  world: World,
  { comet, evk }: Extra,
  doomed: readonly [Address, Address, Address],
): Promise<(() => Promise<Call>)[]> {
  const { morpho, aave, actors, assets } = world
  const blue = morphoCalls(morpho.address)
  const pool = aaveCalls(aave.pool)
  const third = cometCalls(comet.address)
  const fourth = evkCalls(evk)
  const secured = 4n * 10n ** BigInt(evk.collateral.token.decimals)
  const lent = 10n ** BigInt(evk.lender.token.decimals)
  const [market] = morpho.markets
  if (!market) throw new ScenarioError('no market')
  const [weth, usdc] = [assets.WETH.token.address, assets.USDC.token.address]
  const aUsdc = aave.reserves.find(({ asset }) => asset.address === usdc)?.aToken ?? usdc
  const price = (usd: number) => calls.reportPrice(actors.admin, assets.WETH.feed, usd)
  const collateral = 5n * 10n ** 18n
  const held = async (user: Address) => {
    const args = [market.id, user] as const
    const position = { address: morpho.address, abi: morphoAbi, functionName: 'position', args } as const
    return (await node.client.readContract(position))[2]
  }
  const now = (call: Call) => async () => call
  return [
    now(price(3100)),
    ...doomed.slice(0, 2).map(user => now(blue.supplyCollateral(user, market, collateral))),
    ...doomed.slice(0, 2).map(user => now(blue.borrow(user, market, 12_000n * 10n ** 6n))),
    now(pool.supply(doomed[2], weth, collateral)),
    now(pool.borrow(doomed[2], usdc, 9_000n * 10n ** 6n)),
    now(third.pause(actors.admin, [false, false, false, false, false])),
    // One whose collateral covers the debt after the fall and one whose does not.
    now(third.supply(doomed[0], weth, collateral)),
    now(third.withdraw(doomed[0], usdc, 7_000n * 10n ** 6n)),
    now(third.supply(doomed[1], weth, collateral)),
    now(third.withdraw(doomed[1], usdc, 12_000n * 10n ** 6n)),
    ...doomed
      .slice(1)
      .flatMap(user => [
        now(fourth.enable(user, 'Collateral')),
        now(fourth.enable(user, 'Controller')),
        now(fourth.deposit(user, evk.collateral.address, secured)),
        now(fourth.borrow(user, 7_000n * lent)),
      ]),
    now(fourth.enable(actors.liquidator, 'Collateral')),
    now(fourth.deposit(actors.liquidator, evk.collateral.address, 10n * secured)),
    now(fourth.enable(actors.liquidator, 'Controller')),
    now(fourth.pullDebt(doomed[1], doomed[2], 100n * lent)),
    now(third.transferAsset(doomed[0], doomed[2], weth, collateral / 100n)),
    now(third.supply(doomed[0], usdc, 10n * 10n ** 6n)),
    now(third.transfer(doomed[0], actors.whale, 100n * 10n ** 6n)),
    now(third.transfer(actors.whale, actors.liquidator, 100n * 10n ** 6n)),
    now(calls.transfer(actors.whale, aUsdc, doomed[0], 5n * 10n ** 6n)),
    // Less than the interest since the block before: the aToken reports a mint.
    now(pool.withdraw(actors.whale, usdc, 5n)),
    now(price(1500)),
    now(fourth.liquidate(actors.liquidator, doomed[1], 1_000n * lent)),
    // All that secures the debt goes, and what is left of the debt with it.
    now(fourth.liquidate(actors.liquidator, doomed[2], maxUint256)),
    now(fourth.leave(doomed[2])),
    now(third.absorb(actors.liquidator, doomed[0])),
    now(third.absorb(actors.liquidator, doomed[1])),
    now(third.buyCollateral(actors.liquidator, weth, 1_000n * 10n ** 6n)),
    now(blue.liquidate(actors.liquidator, market, doomed[0], 10n ** 15n)),
    async () => blue.seize(actors.liquidator, market, doomed[1], await held(doomed[1])),
    now(pool.liquidate(actors.liquidator, weth, usdc, doomed[2], maxUint256)),
    now(price(3000)),
  ]
}
