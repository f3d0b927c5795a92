import type { Address } from 'viem'
import { type Aave, aaveCalls, deployAave } from './aave.ts'
import { ownArtifacts } from './compile.ts'
import {
  calls,
  deployFeed,
  deploySelfLedgerVault,
  deployToken,
  deployVault,
  type Feed,
  sendDeployment,
  type Token,
  type Vault,
} from './deploy.ts'
import { ScenarioError } from './errors.ts'
import { deployMorpho, type Morpho, morphoCalls } from './morpho.ts'
import { placeMulticall3 } from './multicall.ts'
import type { Call, Node } from './node.ts'

export const symbols = ['USDC', 'USDT', 'DAI', 'WETH', 'WBTC'] as const
export type AssetSymbol = (typeof symbols)[number]

export interface DeployedVault extends Vault {
  deployedBlock: number
  deployedAt: number
}

export interface AssetFeed extends Feed {
  asset: Token
}

export interface World {
  assets: Record<AssetSymbol, { token: Token; feed: Feed; startPrice: number }>
  vaults: Record<'usdc' | 'usdt' | 'weth' | 'wbtc' | 'sdai' | 'nested', DeployedVault>
  morpho: Morpho
  aave: Aave
  /** Looks like a vault in its logs and is none. */
  notAVault: Address
  /** Emits any log. */
  anyLog: Address
  actors: Actors
}

export interface Actors {
  admin: Address
  /** Lends much and early, so that borrowers always find something. */
  whale: Address
  liquidator: Address
  users: Address[]
}

export const userCount = 50

const plans = {
  USDC: { name: 'Demo USD Coin', decimals: 6, feed: 'USDC / USD', startPrice: 1 },
  USDT: { name: 'Demo Tether', decimals: 6, feed: 'USDT / USD', startPrice: 1, returnsNothing: true },
  DAI: { name: 'Demo Dai', decimals: 18, feed: 'DAI / USD', startPrice: 1 },
  WETH: { name: 'Demo Wrapped Ether', decimals: 18, feed: 'ETH / USD', startPrice: 3100 },
  WBTC: { name: 'Demo Wrapped Bitcoin', decimals: 8, feed: 'BTC / USD', startPrice: 95_000 },
} as const

/** Deploys everything that the scenario plays on, in blocks 12 s apart. */
export async function buildWorld(node: Node): Promise<World> {
  const later = { mine: false }
  await placeMulticall3(node)
  await node.mine()

  const asset = async (symbol: AssetSymbol) => {
    const { feed, startPrice, ...token } = plans[symbol]
    return {
      token: await deployToken(node, { symbol, ...token }, later),
      feed: await deployFeed(node, { description: feed, price: startPrice }, later),
      startPrice,
    }
  }
  const assets = {
    USDC: await asset('USDC'),
    USDT: await asset('USDT'),
    DAI: await asset('DAI'),
    WETH: await asset('WETH'),
    WBTC: await asset('WBTC'),
  }
  await node.mine()

  const plain = (symbol: AssetSymbol, offset: number) =>
    deployVault(
      node,
      { asset: assets[symbol].token, offset, name: `Demo ${symbol} Vault`, symbol: `dv${symbol}` },
      later,
    )
  const usdt = await plain('USDT', 12)
  const vaults = {
    usdc: await plain('USDC', 0),
    usdt,
    weth: await plain('WETH', 0),
    wbtc: await plain('WBTC', 0),
    sdai: await deploySelfLedgerVault(
      node,
      { asset: assets.DAI.token, name: 'Demo Savings Dai', symbol: 'dsDAI', annualRate: 0.06 },
      later,
    ),
    nested: await deployVault(
      node,
      { asset: usdt, nested: true, name: 'Demo Vault of Vaults', symbol: 'dvdvUSDT' },
      later,
    ),
  }
  const notAVault = await sendDeployment(node, ownArtifacts().NotAVault)
  const anyLog = await sendDeployment(node, ownArtifacts().AnyLog)
  const { number: deployedBlock, timestamp: deployedAt } = await node.mine()
  const deployed = (vault: Vault): DeployedVault => ({ ...vault, deployedBlock, deployedAt })

  const pair = (loan: AssetSymbol, collateral: AssetSymbol, lltv: number) => ({
    loan: assets[loan].token,
    loanFeed: assets[loan].feed,
    collateral: assets[collateral].token,
    collateralFeed: assets[collateral].feed,
    lltv,
  })
  const morpho = await deployMorpho(node, [
    pair('USDC', 'WETH', 0.86),
    pair('DAI', 'WBTC', 0.77),
    pair('USDT', 'WETH', 0.915),
  ])
  await node.mine()

  const reserve = (symbol: AssetSymbol, ltv: number, liquidationThreshold: number) => ({
    asset: assets[symbol].token,
    feed: assets[symbol].feed,
    ltv,
    liquidationThreshold,
    liquidationBonus: 0.05,
  })
  const aave = await deployAave(node, [
    reserve('USDC', 0.75, 0.8),
    reserve('WETH', 0.75, 0.8),
    reserve('WBTC', 0.7, 0.75),
    reserve('DAI', 0.7, 0.75),
  ])

  const [admin, whale, liquidator] = node.accounts
  const users = node.accounts.slice(10, 10 + userCount)
  if (!admin || !whale || !liquidator || users.length < userCount) {
    throw new ScenarioError(`The scenario needs ${10 + userCount} unlocked accounts`)
  }
  const world: World = {
    assets,
    vaults: {
      usdc: deployed(vaults.usdc),
      usdt: deployed(vaults.usdt),
      weth: deployed(vaults.weth),
      wbtc: deployed(vaults.wbtc),
      sdai: deployed(vaults.sdai),
      nested: deployed(vaults.nested),
    },
    morpho,
    aave,
    notAVault,
    anyLog,
    actors: { admin, whale, liquidator, users },
  }
  for (const call of openingCalls(world)) await node.send(call)
  await node.mine()
  return world
}

/**
 * The whale lends in every market, and whale and liquidator hold money of every kind. Both also borrow, far from their
 * limits even after the crash, so that rates are those of markets in use.
 */
function openingCalls({ assets, vaults, aave, morpho, actors: { admin, whale, liquidator } }: World): Call[] {
  const units = { USDC: 2_000_000n, USDT: 1_000_000n, DAI: 1_500_000n, WETH: 800n, WBTC: 20n }
  const pool = aaveCalls(aave.pool)
  const blue = morphoCalls(morpho.address)
  const list: Call[] = []
  for (const symbol of symbols) {
    const { token } = assets[symbol]
    const unit = 10n ** BigInt(token.decimals)
    for (const account of [whale, liquidator]) {
      list.push(calls.mintToken(admin, token.address, account, units[symbol] * unit * 5n))
      list.push(calls.approve(account, token.address, aave.pool))
      list.push(calls.approve(account, token.address, morpho.address))
    }
    if (aave.reserves.some(({ asset }) => asset.address === token.address)) {
      list.push(pool.supply(whale, token.address, units[symbol] * unit))
    }
  }
  const borrowed = { USDC: 900_000n, DAI: 700_000n, WETH: 300n, WBTC: 5n }
  for (const symbol of ['USDC', 'DAI', 'WETH', 'WBTC'] as const) {
    const { token } = assets[symbol]
    list.push(pool.borrow(whale, token.address, borrowed[symbol] * 10n ** BigInt(token.decimals)))
  }
  for (const market of morpho.markets) {
    const unit = 10n ** BigInt(market.loan.decimals)
    const collateral = market.collateral.symbol === 'WBTC' ? 10n : 300n
    list.push(blue.supply(whale, market, 600_000n * unit))
    list.push(
      blue.supplyCollateral(liquidator, market, collateral * 10n ** BigInt(market.collateral.decimals)),
    )
    list.push(blue.borrow(liquidator, market, 300_000n * unit))
  }
  list.push(blue.setFeeRecipient(admin, admin))
  const { usdt } = vaults
  list.push(calls.approve(whale, usdt.asset.address, usdt.address))
  list.push(calls.deposit(whale, usdt.address, 40_000n * 10n ** BigInt(usdt.asset.decimals)))
  return list
}
