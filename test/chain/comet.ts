import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { ownArtifacts } from './compile.ts'
import { type Feed, sendDeployment, type Token } from './deploy.ts'
import type { Call, Node } from './node.ts'

/** @see CometMainInterface.sol and CometExtInterface.sol of compound-finance/comet */
export const cometAbi = parseAbi([
  'function supply(address asset, uint256 amount)',
  'function withdraw(address asset, uint256 amount)',
  'function transfer(address dst, uint256 amount) returns (bool)',
  'function transferAsset(address dst, address asset, uint256 amount)',
  'function absorb(address absorber, address[] accounts)',
  'function buyCollateral(address asset, uint256 minAmount, uint256 baseAmount, address recipient)',
  'function pause(bool supplyPaused, bool transferPaused, bool withdrawPaused, bool absorbPaused, bool buyPaused)',
  'function withdrawReserves(address to, uint256 amount)',
  'function totalSupply() view returns (uint256)',
  'function totalBorrow() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function borrowBalanceOf(address account) view returns (uint256)',
  'function collateralBalanceOf(address account, address asset) view returns (uint128)',
  'function totalsCollateral(address asset) view returns (uint256)',
  'function getReserves() view returns (int256)',
  'function userBasic(address account) view returns (int104 principal, uint64 baseTrackingIndex, uint64 baseTrackingAccrued, uint16 assetsIn, uint8 reserved)',
  'struct TotalsBasic { uint64 baseSupplyIndex; uint64 baseBorrowIndex; uint64 trackingSupplyIndex; uint64 trackingBorrowIndex; uint104 totalSupplyBase; uint104 totalBorrowBase; uint40 lastAccrualTime; uint8 pauseFlags; }',
  'function totalsBasic() view returns (TotalsBasic)',
  'function getUtilization() view returns (uint256)',
  'function getSupplyRate(uint256 utilization) view returns (uint64)',
  'function getBorrowRate(uint256 utilization) view returns (uint64)',
  'function getPrice(address feed) view returns (uint256)',
  'function isBorrowCollateralized(address account) view returns (bool)',
  'function isLiquidatable(address account) view returns (bool)',
  // Of CometLike alone: what a new implementation behind the proxy would change.
  'struct Rates { uint64 kink; uint64 base; uint64 slopeLow; uint64 slopeHigh; }',
  'struct AssetInfo { uint8 offset; address asset; address priceFeed; uint64 scale; uint64 borrowCollateralFactor; uint64 liquidateCollateralFactor; uint64 liquidationFactor; uint128 supplyCap; }',
  'function configure(Rates supply_, Rates borrow_)',
  'function addAsset(AssetInfo info)',
  'function deploy(address comet, address code)',
])

export interface CometMarket {
  address: Address
  configurator: Address
  base: { token: Token; feed: Feed }
  collaterals: { token: Token; feed: Feed }[]
}

const YEAR = 31_536_000
const wad = (fraction: number) => BigInt(Math.round(fraction * 1e9)) * 10n ** 9n
const perSecond = (perYear: number) => wad(perYear) / BigInt(YEAR)

/** Yearly rates at no utilization, at the kink and at full utilization. */
const rates = (kink: number, [none, atKink, full]: readonly [number, number, number]) => ({
  kink: wad(kink),
  base: perSecond(none),
  slopeLow: perSecond((atKink - none) / kink),
  slopeHigh: perSecond((full - atKink) / (1 - kink)),
})

export const cometRates = {
  supply: rates(0.85, [0, 0.03, 0.2]),
  borrow: rates(0.85, [0.015, 0.05, 0.4]),
  /** After a change of the code. */
  steeper: rates(0.6, [0.01, 0.2, 1.5]),
}

/** A CometLike with these collaterals, and the configurator that tells of it. */
export async function deployComet(
  node: Node,
  base: { token: Token; feed: Feed },
  collaterals: { token: Token; feed: Feed; borrow: number; liquidate: number; liquidation: number }[],
): Promise<CometMarket> {
  const admin = node.accounts[0] as Address
  const { CometLike, CometConfigurator } = ownArtifacts()
  const unit = 10n ** BigInt(base.token.decimals)
  const address = await sendDeployment(node, CometLike, [
    base.token.address,
    base.feed.proxy,
    unit,
    10n * unit,
    1_000_000n * unit,
    cometRates.supply,
    cometRates.borrow,
  ])
  const configurator = await sendDeployment(node, CometConfigurator)
  for (const { token, feed, borrow, liquidate, liquidation } of collaterals) {
    const scale = 10n ** BigInt(token.decimals)
    const info = {
      offset: 0,
      asset: token.address,
      priceFeed: feed.proxy,
      scale,
      borrowCollateralFactor: wad(borrow),
      liquidateCollateralFactor: wad(liquidate),
      liquidationFactor: wad(liquidation),
      supplyCap: 1_000_000n * scale,
    }
    const data = encodeFunctionData({ abi: cometAbi, functionName: 'addAsset', args: [info] })
    await node.send({ from: admin, to: address, data, label: 'addAsset' })
  }
  const data = encodeFunctionData({ abi: cometAbi, functionName: 'deploy', args: [address, address] })
  await node.send({ from: admin, to: configurator, data, label: 'deploy comet' })
  await node.mine()
  return { address, configurator, base, collaterals: collaterals.map(({ token, feed }) => ({ token, feed })) }
}

/** Amounts are base units of the asset named, of the base token where none is. */
export function cometCalls(to: Address) {
  const call = (from: Address, data: Call['data'], label: string): Call => ({
    from,
    to,
    ...(data ? { data } : {}),
    label: `Comet ${label}`,
  })
  const encode = encodeFunctionData
  return {
    supply: (from: Address, asset: Address, amount: bigint) =>
      call(from, encode({ abi: cometAbi, functionName: 'supply', args: [asset, amount] }), 'supply'),
    withdraw: (from: Address, asset: Address, amount: bigint) =>
      call(from, encode({ abi: cometAbi, functionName: 'withdraw', args: [asset, amount] }), 'withdraw'),
    transfer: (from: Address, dst: Address, amount: bigint) =>
      call(from, encode({ abi: cometAbi, functionName: 'transfer', args: [dst, amount] }), 'transfer'),
    transferAsset: (from: Address, dst: Address, asset: Address, amount: bigint) =>
      call(
        from,
        encode({ abi: cometAbi, functionName: 'transferAsset', args: [dst, asset, amount] }),
        'transferAsset',
      ),
    absorb: (from: Address, account: Address) =>
      call(from, encode({ abi: cometAbi, functionName: 'absorb', args: [from, [account]] }), 'absorb'),
    buyCollateral: (from: Address, asset: Address, baseAmount: bigint) =>
      call(
        from,
        encode({ abi: cometAbi, functionName: 'buyCollateral', args: [asset, 0n, baseAmount, from] }),
        'buyCollateral',
      ),
    pause: (
      from: Address,
      [supply, transfer, withdraw, absorb, buy]: readonly [boolean, boolean, boolean, boolean, boolean],
    ) =>
      call(
        from,
        encode({ abi: cometAbi, functionName: 'pause', args: [supply, transfer, withdraw, absorb, buy] }),
        'pause',
      ),
    configure: (from: Address, borrow: typeof cometRates.borrow) =>
      call(
        from,
        encode({ abi: cometAbi, functionName: 'configure', args: [cometRates.supply, borrow] }),
        'configure',
      ),
    withdrawReserves: (from: Address, amount: bigint) =>
      call(
        from,
        encode({ abi: cometAbi, functionName: 'withdrawReserves', args: [from, amount] }),
        'withdrawReserves',
      ),
  }
}
