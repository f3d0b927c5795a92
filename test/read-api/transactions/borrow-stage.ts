import type { Address, LocalAccount } from 'viem'
import { parseAbi } from 'viem'
import { expect } from 'vitest'
import type { AaveRef } from '../../../read-api/protocols/aave-v3/account.ts'
import type { MorphoRef } from '../../../read-api/protocols/morpho-blue/borrow.ts'
import type { BorrowAction, MarketAssetRef, MarketRef } from '../../../read-api/transactions/borrow/family.ts'
import { createBorrowPreparer } from '../../../read-api/transactions/borrow/prepare.ts'
import { aaveCalls, deployAave } from '../../chain/aave.ts'
import { morphoAbi } from '../../chain/abis.ts'
import { calls, deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { accruedTotals, deployMorpho, type Market, morphoCalls } from '../../chain/morpho.ts'
import { type Stage, startStage } from './stage.ts'

export const aaveConfigAbi = parseAbi([
  'function setReserveFreeze(address asset, bool freeze)',
  'function setReservePause(address asset, bool paused)',
  'function setReserveBorrowing(address asset, bool enabled)',
  'function setSupplyCap(address asset, uint256 cap)',
  'function setBorrowCap(address asset, uint256 cap)',
  'function setDebtCeiling(address asset, uint256 ceiling)',
  'function setBorrowableInIsolation(address asset, bool borrowable)',
  'function setSiloedBorrowing(address asset, bool siloed)',
  'function setEModeCategory(uint8 id, uint16 ltv, uint16 threshold, uint16 bonus, address oracle, string label)',
  'function setAssetEModeCategory(address asset, uint8 id)',
  'function configureReserveAsCollateral(address asset, uint256 ltv, uint256 threshold, uint256 bonus)',
])
export const aaveUserAbi = parseAbi([
  'function setUserEMode(uint8 id)',
  'function setUserUseReserveAsCollateral(address asset, bool useAsCollateral)',
  'function getUserAccountData(address user) view returns (uint256 collateral, uint256 debt, uint256 available, uint256 threshold, uint256 ltv, uint256 healthFactor)',
])

export interface Place {
  market: MarketRef
  asset: MarketAssetRef
}

/** Ways to take bundles for markets, and to sign and send them. */
export function openBorrowing(stage: Stage) {
  const borrowing = createBorrowPreparer(stage.reader, stage.preparer.dryRun)
  type Wish = { amount?: bigint; all?: boolean; simulate?: boolean }

  const bundle = ({ market, asset }: Place, user: LocalAccount, action: BorrowAction, wish: Wish) =>
    borrowing.bundle({ market, asset, user: user.address.toLowerCase() as Address, action, ...wish })

  /** Takes the bundle, waits `after` seconds, signs and sends what is left of it; every transaction has to land. */
  const perform = async (
    place: Place,
    user: LocalAccount,
    action: BorrowAction,
    { after = 0, ...wish }: Wish & { after?: number },
  ) => {
    const made = await bundle(place, user, action, wish)
    if (after > 0) await stage.wait(after)
    for (const { name, tx } of made.actions.slice(made.currentActionIndex)) {
      const { landed } = await stage.sign(user, tx)
      expect(landed, `${action}: ${name}`).toBe(true)
    }
    return made.actions.slice(made.currentActionIndex).map(({ name }) => name)
  }

  const look = ({ market, asset }: Place, user: LocalAccount) =>
    borrowing.look(market, asset, user.address.toLowerCase() as Address)

  /** Whether a call of the user would go through at that block. */
  const wouldPass = (user: LocalAccount, to: Address, data: `0x${string}`, blockNumber: bigint) =>
    stage.node.client.call({ account: user.address, to, data, blockNumber, gas: 3_000_000n }).then(
      () => true,
      () => false,
    )

  return { borrowing, bundle, perform, look, wouldPass }
}

/** Aave v3 and Morpho Blue with lenders in them, on a node of its own. */
export async function startLending() {
  const stage = await startStage()
  const { node, mint, act, sign } = stage
  const hands = openBorrowing(stage)
  const usdc = await deployToken(node, { decimals: 6, symbol: 'USDC' })
  const usdt = await deployToken(node, { decimals: 6, symbol: 'USDT', returnsNothing: true })
  const weth = await deployToken(node, { decimals: 18, symbol: 'WETH' })
  /** Nobody has supplied it, so that it can still be made an isolated collateral. */
  const iso = await deployToken(node, { decimals: 18, symbol: 'ISO' })
  const feeds = {
    usd: await deployFeed(node, { description: 'USD', price: 1 }),
    eth: await deployFeed(node, { description: 'ETH', price: 3_000 }),
  }
  const reserve = (asset: Token, feed: typeof feeds.usd, ltv: number, liquidationThreshold: number) => ({
    asset,
    feed,
    ltv,
    liquidationThreshold,
    liquidationBonus: 0.05,
  })
  const aave = await deployAave(node, [
    reserve(usdc, feeds.usd, 0.75, 0.8),
    reserve(weth, feeds.eth, 0.8, 0.825),
    reserve(usdt, feeds.usd, 0.75, 0.8),
    reserve(iso, feeds.usd, 0.5, 0.6),
  ])
  const pair = (loan: Token) => ({
    loan,
    loanFeed: feeds.usd,
    collateral: weth,
    collateralFeed: feeds.eth,
    lltv: 0.86,
  })
  const morpho = await deployMorpho(node, [pair(usdc), pair(usdt)])
  await node.mine()

  // Others lend and borrow, so that interest accrues.
  const [, lender = '0x'] = node.accounts
  const pool = aaveCalls(aave.pool)
  const blue = morphoCalls(morpho.address)
  const whole = { USDC: 1_000_000n, USDT: 1_000_000n, WETH: 1_000n } as Record<string, bigint>
  for (const token of [usdc, usdt, weth]) {
    const amount = (whole[token.symbol] ?? 0n) * 10n ** BigInt(token.decimals)
    await mint(token, lender, amount * 3n)
    await node.send(calls.approve(lender, token.address, aave.pool))
    await node.send(calls.approve(lender, token.address, morpho.address))
    await node.send(pool.supply(lender, token.address, amount))
    await node.mine()
    await node.send(pool.borrow(lender, token.address, amount / 2n))
    await node.mine()
  }
  for (const market of morpho.markets) {
    await node.send(blue.supply(lender, market, 1_000_000n * 10n ** 6n))
    await node.send(blue.supplyCollateral(lender, market, 400n * 10n ** 18n))
    await node.mine()
    await node.send(blue.borrow(lender, market, 700_000n * 10n ** 6n))
  }
  await node.mine()

  const assetOf = (token: Token, id = token.address, side: 'loan' | 'collateral' = 'loan') => ({
    id: id as string,
    side,
    info: { address: token.address, symbol: token.symbol, decimals: token.decimals },
  })
  const aaveRef: AaveRef = {
    protocol: 'aave-v3',
    chainId: 1,
    id: aave.pool,
    root: aave.pool,
    assets: [usdc, weth, usdt, iso].map(token => assetOf(token)),
    reserves: aave.reserves.map(({ asset, aToken }) => ({ asset: asset.address, aToken })),
  }
  const morphoRef = ({ id, params, loan, collateral }: Market): MorphoRef => ({
    protocol: 'morpho-blue',
    chainId: 1,
    id,
    root: morpho.address,
    assets: [
      assetOf(loan, `${loan.address}-loan` as Address),
      assetOf(collateral, `${collateral.address}-collateral` as Address, 'collateral'),
    ],
    params,
  })

  /** An asset of a market as the preparer wants it. */
  const inAave = ({ address }: Token): Place => placeIn(aaveRef, ({ id }) => id === address)
  const inMorpho = (side: 'loan' | 'collateral', n = 0): Place => {
    const market = morpho.markets[n]
    if (!market) throw new Error('no market')
    return placeIn(morphoRef(market), of => of.side === side)
  }

  const configure = (functionName: string, ...args: readonly unknown[]) =>
    act(aave.configurator, aaveConfigAbi, functionName, ...args)

  /** The user's own call to the pool. */
  const poolCall = async (user: LocalAccount, data: `0x${string}`) =>
    (await sign(user, { to: aave.pool, chainId: 1, data })).landed

  const accountData = (user: LocalAccount) =>
    node.client.readContract({
      address: aave.pool,
      abi: aaveUserAbi,
      functionName: 'getUserAccountData',
      args: [user.address],
    })

  const position = ({ market }: Place, user: LocalAccount) =>
    node.client.readContract({
      address: morpho.address,
      abi: morphoAbi,
      functionName: 'position',
      args: [market.id as `0x${string}`, user.address],
    })

  /** With its interest at that block. */
  const accrued = ({ market }: Place, blockNumber?: bigint) => {
    const { id, params } = market as MorphoRef
    return accruedTotals(node, morpho.address, { id, params } as Pick<Market, 'id' | 'params'>, blockNumber)
  }

  const tokensOf = ({ address }: Token) => {
    const found = aave.reserves.find(({ asset }) => asset.address === address)
    if (!found) throw new Error('no reserve')
    return found
  }

  return {
    ...stage,
    ...hands,
    tokens: { usdc, usdt, weth, iso },
    feeds,
    aave,
    morpho,
    inAave,
    inMorpho,
    configure,
    poolCall,
    accountData,
    position,
    accrued,
    tokensOf,
  }
}

export type Lending = Awaited<ReturnType<typeof startLending>>

function placeIn(market: MarketRef, is: (asset: MarketAssetRef) => boolean): Place {
  const asset = market.assets.find(is)
  if (!asset) throw new Error('no such asset')
  return { market, asset }
}
