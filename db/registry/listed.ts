import type pg from 'pg'
import { decodeEventData } from '../events/event-json.ts'
import { REGISTRY_STREAM, readEvents } from '../events/event-store.ts'

/** What the registry lists of a chain, as far as it is read. */
export interface Listed {
  /** Position of the registry's stream. */
  position: number
  /** Addresses of vaults, lower case. */
  vaults: ReadonlySet<string>
  /** Ids of lending markets. */
  markets: ReadonlySet<string>
}

/** @param known what was read before: then only what came since is read, and the same is given where nothing did */
export async function readListed(
  db: pg.Pool,
  chainId: number,
  known: Listed = { position: 0, vaults: new Set(), markets: new Set() },
): Promise<Listed> {
  const events = await readEvents(db, REGISTRY_STREAM, {
    after: known.position,
    types: ['FactRecorded', 'FactRemoved'],
  })
  const of = { vault: new Set(known.vaults), market: new Set(known.markets) }
  let isChanged = false
  for (const { type, data } of events) {
    const { subject, kind } =
      type === 'FactRecorded' ? decodeEventData(type, data) : decodeEventData('FactRemoved', data)
    const [, family, chain, name] = /^(vault|market):(\d+):(.+)$/.exec(subject) ?? []
    if (kind !== 'listed' || Number(chain) !== chainId || !name) continue
    isChanged = true
    const set = of[family as 'vault' | 'market']
    if (type === 'FactRecorded') set.add(name.toLowerCase())
    else set.delete(name.toLowerCase())
  }
  const position = events.at(-1)?.position ?? known.position
  if (isChanged) return { position, vaults: of.vault, markets: of.market }
  known.position = position
  return known
}
