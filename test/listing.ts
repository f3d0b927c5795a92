import type pg from 'pg'
import { appendFacts, REGISTRY_STREAM, registerStream } from '../db/events/event-store.ts'
import { inTransaction } from '../db/postgres.ts'
import { protocolName } from '../db/protocols.ts'

/**
 * Lists every vault and market of the store in the registry, as an installation does with those that it vouches for, but for
 * `strangers`. Worlds of tests deploy vaults that no registry knows.
 */
export async function listVaults(pool: pg.Pool, strangers: ReadonlySet<string> = new Set()): Promise<void> {
  await registerStream(pool, REGISTRY_STREAM, 'registry', 'registry')
  const { rows } = await pool.query<{ subject: string; protocol: string }>(
    `SELECT DISTINCT ON (subject) 'vault:' || stream || ':' || contract AS subject, data ->> 'protocol' AS protocol
     FROM event v WHERE type = 'VaultDiscovered' AND contract <> ALL ($1) AND NOT EXISTS (
       SELECT FROM event f WHERE f.stream = $2 AND f.type = 'FactRecorded' AND f.data ->> 'kind' = 'listed'
         AND f.data ->> 'subject' = 'vault:' || v.stream || ':' || v.contract)
     ORDER BY subject, position`,
    [[...strangers], REGISTRY_STREAM],
  )
  const facts = rows.map(({ subject, protocol }) => ({
    type: 'FactRecorded' as const,
    contract: '',
    data: {
      subject,
      kind: 'listed',
      value: JSON.stringify({
        protocol: protocolName(protocol),
        description: '',
        lendUrl: '',
        protocolVaultUrl: '',
      }),
    },
  }))
  for (const { subject } of await unlistedMarkets(pool, strangers))
    facts.push({ type: 'FactRecorded', contract: '', data: { subject, kind: 'listed', value: '{}' } })
  if (facts.length === 0) return
  const {
    rows: [registry],
  } = await pool.query<{ head_time: number }>('SELECT head_time FROM stream WHERE id = $1', [REGISTRY_STREAM])
  await inTransaction(pool, tx => appendFacts(tx, REGISTRY_STREAM, facts, registry?.head_time ?? 0))
}

/** Markets that anybody can open and no registry lists. */
async function unlistedMarkets(
  pool: pg.Pool,
  strangers: ReadonlySet<string>,
): Promise<{ subject: string }[]> {
  const { rows } = await pool.query<{ subject: string }>(
    `SELECT DISTINCT 'market:' || stream || ':' || (data ->> 'market') AS subject FROM event m
     WHERE type = 'MarketCreated' AND data ->> 'market' <> ALL ($1) AND NOT EXISTS (
       SELECT FROM event f WHERE f.stream = $2 AND f.type = 'FactRecorded' AND f.data ->> 'kind' = 'listed'
         AND f.data ->> 'subject' = 'market:' || m.stream || ':' || (m.data ->> 'market'))
     ORDER BY subject`,
    [[...strangers], REGISTRY_STREAM],
  )
  return rows
}
