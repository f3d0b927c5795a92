import { appendEvents, lockStreamHead, registerStream } from '../db/events/event-store.ts'
import type { PackKeys } from '../db/events/packs.ts'
import { inTransaction } from '../db/postgres.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { type Bench, perSecond, type Result, timed } from './bench.ts'
import { recordedHours } from './recorded-hours.ts'

const VAULTS = Number(process.env['BENCH_VAULTS'] ?? 400)
const HOURS = Number(process.env['BENCH_HOURS'] ?? 720)
const CHAIN = 1
const BEGINS = 1_735_689_600
/** Hourly samples of 25,000 vaults. */
const OF_A_YEAR = 25_000 * 8_760

export const bench: Bench = {
  about:
    `Hourly samples of ${VAULTS} vaults over ${HOURS} hours, appended hour by hour: a third of the vaults hold nothing, the others go through ` +
    'what nine real vaults on record went through. What they take on disk in either database once merged, by table, and what 25,000 vaults would take in a year.',
  async run(stage) {
    const { pool } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    await registerStream(pool, CHAIN, 'mainnet', 'evm')
    const keys: PackKeys = new Map()
    let head = 0
    const appended = await timed(async () => {
      for await (const each of recordedHours(VAULTS, HOURS, BEGINS)) {
        head = await inTransaction(pool, async tx => {
          const position = await appendEvents(tx, CHAIN, await lockStreamHead(tx, CHAIN), [each], keys)
          const { number, timestamp } = each.block
          await tx.query(
            'UPDATE stream SET head = $2, head_height = $3, final_height = $3, head_time = $4 WHERE id = $1',
            [CHAIN, position, number, timestamp],
          )
          return position
        })
      }
    })
    await pool.query('VACUUM ANALYZE event_log')
    const projections = await loadProjections()
    const caughtUp = await timed(() => catchUpAll({ pool, clickhouse: clickhouse.client, projections }))
    const samples = VAULTS * HOURS
    const results: Result[] = [
      { what: 'appended', ours: perSecond(head, appended.ms) },
      { what: 'mirrored and projected', ours: perSecond(head, caughtUp.ms) },
    ]
    const { rows } = await pool.query<{ bytes: string }>(
      `SELECT sum(pg_total_relation_size(inhrelid))::text AS bytes FROM pg_inherits WHERE inhparent = 'event_log'::regclass`,
    )
    const tables = await clickhouse.query<{ table: string }>(
      'bench',
      `SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active AND rows >= ${samples / 2}`,
    )
    for (const { table } of tables)
      await clickhouse.client.command({ query: `OPTIMIZE TABLE ${table} FINAL` })
    const sizes = await clickhouse.query<{ table: string; bytes: string }>(
      'bench',
      `SELECT table, toString(sum(bytes_on_disk)) AS bytes FROM system.parts
       WHERE database = currentDatabase() AND active GROUP BY table HAVING sum(bytes_on_disk) > ${samples} ORDER BY sum(bytes_on_disk) DESC`,
    )
    const all = [{ table: 'event_log', bytes: rows[0]?.bytes ?? '0' }, ...sizes]
    const sum = all.reduce((total, { bytes }) => total + Number(bytes), 0) / samples
    for (const { table, bytes } of all)
      results.push({ what: `bytes of a sample in ${table}`, ours: (Number(bytes) / samples).toFixed(1) })
    const gib = (sum * OF_A_YEAR) / 2 ** 30
    results.push({
      what: 'bytes of a sample in all; a year of 25,000 vaults',
      ours: `${sum.toFixed(1)}; ${gib.toFixed(1)} GiB`,
      budget: '20 GiB',
      holds: gib <= 20,
    })
    return results
  },
}
