import type { Address } from 'viem'
import { erc20 } from '../chain/abis.ts'
import { calls, deployToken, deployVault, type Vault } from '../chain/deploy.ts'
import { placeMulticall3 } from '../chain/multicall.ts'
import type { Node } from '../chain/node.ts'
import {
  approveRouter,
  createMarket,
  deployPendle,
  deploySy,
  type Pendle,
  type PendleMarket,
  seedMarket,
} from '../chain/pendle.ts'

/** A market with the vault that its SY wraps. */
export interface VaultMarket extends PendleMarket {
  vault: Vault
}

export interface PendleWorld {
  pendle: Pendle
  users: Address[]
  /** Ends 20 days after it was made, 6 decimals. */
  short: VaultMarket
  /** Half a year, 18 decimals. */
  long: VaultMarket
  /** Never has any liquidity. */
  empty: VaultMarket
}

export const DAY = 86_400
const USERS = 4

/** Pendle's contracts and three markets, with users that hold the assets and have approved the router. */
export async function buildPendleWorld(node: Node): Promise<PendleWorld> {
  await placeMulticall3(node)
  await node.mine()
  const pendle = await deployPendle(node)
  const users = node.accounts.slice(1, 1 + USERS) as Address[]
  const usdc = await deployToken(node, { symbol: 'USDC', name: 'USD Coin', decimals: 6 })
  const weth = await deployToken(node, { symbol: 'WETH', name: 'Wrapped Ether', decimals: 18 })
  const vaults = {
    usdc: await deployVault(node, { asset: usdc, symbol: 'vUSDC', name: 'Vault of USDC' }),
    weth: await deployVault(node, { asset: weth, symbol: 'vWETH', name: 'Vault of WETH' }),
  }
  for (const [asset, vault, amount] of [
    [usdc, vaults.usdc, 1_000_000n * 10n ** 6n],
    [weth, vaults.weth, 1_000n * 10n ** 18n],
  ] as const) {
    for (const user of [pendle.admin, ...users])
      await node.send(calls.mintToken(pendle.admin, asset.address, user, 20n * amount))
    await node.send(calls.approve(pendle.admin, asset.address, vault.address))
    await node.send(calls.deposit(pendle.admin, vault.address, amount))
    await node.mine()
  }
  const { timestamp } = await node.head()
  const today = Math.floor(timestamp / DAY) * DAY
  const market = async (vault: Vault, name: string, days: number, sy?: Address): Promise<VaultMarket> => {
    const terms = {
      sy: sy ?? (await deploySy(node, vault.address, name)),
      asset: vault.asset,
      expiry: today + days * DAY,
    }
    return { ...(await createMarket(node, pendle, terms)), vault }
  }
  const short = await market(vaults.usdc, 'vUSDC', 20)
  const long = await market(vaults.weth, 'vWETH', 180)
  const empty = await market(vaults.usdc, 'vUSDC', 360, short.sy)
  await seedMarket(node, short, pendle.admin, 500_000n * 10n ** 6n)
  await seedMarket(node, long, pendle.admin, 300n * 10n ** 18n)
  for (const user of [pendle.admin, ...users]) {
    for (const of of [short, long, empty])
      for (const token of [of.asset.address, of.pt.address, of.yt, of.sy])
        await node.send(approveRouter(user, token))
    await node.mine()
  }
  return { pendle, users, short, long, empty }
}

/** What the configuration of processors has to say of a world. */
export const contractsOf = ({ pendle }: PendleWorld) => ({ 'pendle-v2-factory': [pendle.marketFactory] })

export const balanceOf = (node: Node, token: Address, of: Address, block?: number): Promise<bigint> =>
  node.client.readContract({
    address: token,
    abi: erc20,
    functionName: 'balanceOf',
    args: [of],
    ...(block === undefined ? {} : { blockNumber: BigInt(block) }),
  })
