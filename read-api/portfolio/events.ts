import type { FoundVault } from '../catalogue/find-vault.ts'
import type { Vault } from '../catalogue/vault.ts'
import { checksum, toWhole } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { inHundreds } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import { flowPrices, heldSince, positionFlows, pricesAfterBlocks, rewardClaims } from './return-queries.ts'

interface PositionEvent {
  position: number
  timestamp: number
  blockNumber: number
  eventType: 'deposit' | 'withdrawal' | 'claim'
  assetAmountNative: string
  sharePrice: number | undefined
  lpTokenAmount: string
  transactionHash: string
  logIndex: number
  /** Of claims: what was paid, in base units. */
  rewardToken?: string
  rewardAmountNative?: string
}

/**
 * What an account deposited and withdrew, what the vault itself paid it, and what others did in the vault's asset since it
 * first held shares; oldest first.
 */
export async function positionEvents(
  account: string,
  found: FoundVault,
  context: EndpointContext,
): Promise<PositionEvent[]> {
  const parts = await Promise.all([flowsOf(account, found, context), claimsOf(account, found, context)])
  return parts.flat().sort((a, b) => a.timestamp - b.timestamp || a.position - b.position)
}

async function flowsOf(
  account: string,
  { vault, pinned }: FoundVault,
  { deps, signal }: EndpointContext,
): Promise<PositionEvent[]> {
  const asked = { ...pinned, account }
  const [rows, sampled] = await Promise.all([
    ask(deps.clickhouse, positionFlows, asked, signal),
    ask(deps.clickhouse, flowPrices, asked, signal),
  ])
  const prices = pricesOf(vault, sampled)
  return rows.map(row => ({
    position: row.position,
    timestamp: row.at,
    blockNumber: row.block_number,
    eventType: row.kind === 'redeem' ? 'withdrawal' : 'deposit',
    assetAmountNative: row.assets,
    sharePrice: prices.get(row.block_number) ?? ownPrice(vault, row),
    lpTokenAmount: row.shares,
    transactionHash: row.tx_hash,
    logIndex: row.log_index,
  }))
}

function pricesOf({ asset }: Vault, rows: readonly { block_number: number; price: string }[]) {
  return new Map(
    rows.map(({ block_number, price }) => [block_number, toWhole(BigInt(price), asset.decimals)]),
  )
}

/** Of the event's own amounts: at the end of its block there may be no share left that has a price. */
function ownPrice(
  { state, asset }: Vault,
  { assets, shares }: { assets: string; shares: string },
): number | undefined {
  const sold = toWhole(BigInt(shares), state.decimals)
  return sold === 0 ? undefined : toWhole(BigInt(assets), asset.decimals) / sold
}

/** Most wallets have none: since when they hold shares, and at which price, is asked only where they have. */
async function claimsOf(
  account: string,
  { vault, pinned }: FoundVault,
  { deps, signal }: EndpointContext,
): Promise<PositionEvent[]> {
  const asked = { ...pinned, account }
  const all = await ask(deps.clickhouse, rewardClaims, { ...asked, asset: vault.state.asset }, signal)
  if (all.length === 0) return []
  const [held] = await ask(deps.clickhouse, heldSince, asked, signal)
  const rows = all.filter(({ at, is_own }) => is_own === 1 || (held && at >= held.at))
  const blocks = [...new Set(rows.map(({ block_number }) => block_number))]
  const priced = await Promise.all(
    inHundreds(blocks).map(some =>
      ask(deps.clickhouse, pricesAfterBlocks, { ...pinned, blocks: some }, signal),
    ),
  )
  const prices = pricesOf(vault, priced.flat())
  return rows.map(row => ({
    position: row.position,
    timestamp: row.at,
    blockNumber: row.block_number,
    eventType: 'claim',
    assetAmountNative: row.token === vault.state.asset ? row.assets : '0',
    sharePrice: prices.get(row.block_number),
    lpTokenAmount: '0',
    transactionHash: row.tx_hash,
    logIndex: row.log_index,
    rewardToken: checksum(row.token),
    rewardAmountNative: row.assets,
  }))
}
