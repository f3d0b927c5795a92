import { groupBy } from '../../db/group-by.ts'
import { inLanes } from '../../db/process/lanes.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { lastBy } from '../moment/last-by.ts'
import { ask } from '../moment/query.ts'
import { inTimes } from '../moment/states-at.ts'
import { readAssetPrices } from '../portfolio/asset-prices.ts'
import {
  accountOfShares,
  isIn,
  type Period,
  type ShareMovement,
  type StatedShares,
  timesOf,
} from '../portfolio/shares.ts'
import { LANES, ROW_LIMIT, refuseTooLong, refuseTooMany } from '../portfolio/stake.ts'
import { type Method, midnightsOf } from '../portfolio/statement.ts'
import { pinnedTo, svmVaultsOf } from './book.ts'
import {
  type SvmFlowRow,
  type SvmHolding,
  svmFlowsBySlot,
  svmHoldings,
  svmLoggedPrices,
  svmSampledPrices,
} from './queries.ts'
import { narrowed, type SvmFilter } from './select.ts'
import { type SvmVault, worthOf } from './vault.ts'

/** A vault of Solana in a statement. */
export interface StatedSvm extends StatedShares {
  vault: SvmVault
}

/**
 * Every vault of which wallets on Solana had shares, staked ones with them, at the beginning or at the end of a period, or that
 * they moved in it; which others they are left out for their standing.
 */
export async function readSvmStatement(
  { wallets, method, ...period }: Period & { wallets: readonly string[]; method: Method },
  query: SvmFilter,
  context: EndpointContext,
): Promise<{ positions: StatedSvm[]; leftOut: SvmVault[] }> {
  const { deps, catalogue, shown, signal } = context
  if (wallets.length === 0) return { positions: [], leftOut: [] }
  const asked = { ...pinnedTo(context), accounts: [...wallets], to: period.to, limit: ROW_LIMIT }
  const [held, flows] = await Promise.all([
    ask(deps.clickhouse, svmHoldings, asked, signal),
    ask(deps.clickhouse, svmFlowsBySlot, asked, signal),
  ])
  refuseTooMany(held.length + flows.length)
  const vaults = held.length + flows.length > 0 ? await svmVaultsOf(context) : []
  const heldOf = groupBy(held, ({ mint }) => mint)
  const flowsOf = groupBy(flows, ({ vault }) => vault)
  const moved = new Map(
    vaults.map(vault => [
      vault.address,
      movementsOf(heldOf.get(vault.share.mint) ?? [], flowsOf.get(vault.address) ?? []),
    ]),
  )
  const isAlive = ({ address }: SvmVault) => isIn(moved.get(address) ?? [], period)
  const { kept, leftOut } = narrowed(vaults, query, catalogue, shown.withUnlisted)
  const alive = kept.filter(isAlive)
  refuseTooLong(alive.length * midnightsOf(period).length)
  const assetOf = (vault: SvmVault) => ({ chainId: asked.chain, address: vault.asset.mint })
  const pricesOf = await readAssetPrices(
    alive.map(vault => ({
      asset: assetOf(vault),
      times: timesOf(moved.get(vault.address) ?? [], period),
    })),
    context,
  )
  return {
    positions: await inLanes(LANES, alive, async vault => {
      const movements = moved.get(vault.address) ?? []
      const worthAt = await readWorth(vault, timesOf(movements, period), context)
      const priceAt = pricesOf(assetOf(vault))
      const worthSent = (shares: bigint, { at }: ShareMovement) => worthAt(shares, at)
      const shares = { assetDecimals: vault.asset.decimals, priceAt, movements, worthAt, worthSent }
      return { vault, ...accountOfShares(shares, { ...period, method }) }
    }),
    leftOut: leftOut.filter(isAlive),
  }
}

/** Slot by slot: what token accounts and stakes have is told, and what they had before is what was told last. */
function movementsOf(held: readonly SvmHolding[], flows: readonly SvmFlowRow[]): ShareMovement[] {
  const before = new Map<string, bigint>()
  const heldAt = groupBy(held, ({ slot }) => slot)
  const flowAt = new Map(flows.map(flow => [flow.slot, flow]))
  const slots = [...new Set([...heldAt.keys(), ...flowAt.keys()])].sort((a, b) => a - b)
  return slots.map((slot): ShareMovement => {
    const [rows, flow] = [heldAt.get(slot) ?? [], flowAt.get(slot)]
    const changes = rows.map(({ holder, place, held: text }) => {
      const key = `${holder} ${place}`
      const change = BigInt(text) - (before.get(key) ?? 0n)
      before.set(key, BigInt(text))
      return { holder, change }
    })
    const amount = (of: string | null | undefined) => (of === null ? undefined : BigInt(of ?? 0))
    return {
      at: rows[0]?.at ?? flow?.at ?? 0,
      block: slot,
      accounts: changes.flatMap(({ holder, change }) => (change === 0n ? [] : [holder])),
      delta: changes.reduce((all, { change }) => all + change, 0n),
      minted: BigInt(flow?.minted ?? 0),
      burned: BigInt(flow?.burned ?? 0),
      deposited: amount(flow?.deposited),
      withdrawn: amount(flow?.withdrawn),
    }
  })
}

/**
 * What shares of a vault were worth at these moments (ascending), rounded down: by the last sample, or what its program wrote to
 * the log after that; undefined before either.
 */
async function readWorth(
  vault: SvmVault,
  times: readonly number[],
  context: EndpointContext,
): Promise<(shares: bigint, at: number) => bigint | undefined> {
  const { deps, signal } = context
  const pinned = { ...pinnedTo(context), vault: vault.address }
  const [sampled, logged] = await Promise.all([
    inTimes(times, some => ask(deps.clickhouse, svmSampledPrices, { ...pinned, ...some }, signal)),
    inTimes(times, some => ask(deps.clickhouse, svmLoggedPrices, { ...pinned, ...some }, signal)),
  ])
  return (shares, at) => {
    const [sample, log] = [lastBy(sampled, at), lastBy(logged, at)]
    const last = log && log.block > (sample?.block ?? -1) ? log : sample
    if (!last?.assets || !last.shares) return undefined
    return worthOf({ price: { assets: BigInt(last.assets), shares: BigInt(last.shares) } }, shares)
  }
}
