import type { Reading } from '../catalogue/reading.ts'
import { familyOf } from '../load-protocols.ts'
import { ask } from '../moment/query.ts'
import type { LendingAsset, LendingMarket } from './market.ts'
import { type LendingEvent, lendingEvents } from './queries.ts'

/** What a wallet did with one asset of a market, by whichever of its accounts, oldest first. */
export async function readEvents(
  market: LendingMarket,
  asset: LendingAsset,
  wallet: string,
  reading: Reading,
): Promise<LendingEvent[]> {
  const { deps, catalogue, signal } = reading
  const { events } = familyOf(market)
  if (events) return events(market, asset, wallet, reading)
  const pinned = { chain: market.chainId, p: catalogue.chain(market.chainId, 'lending')?.position ?? 0 }
  const of = { contract: market.root, market: asset.eventMarket, side: asset.side, account: wallet }
  const rows = await ask(deps.clickhouse, lendingEvents, { ...pinned, ...of }, signal)
  return rows.map(row => ({ ...row, account: wallet }))
}
