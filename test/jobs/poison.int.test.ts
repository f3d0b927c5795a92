import { afterEach, beforeEach, expect, test } from 'vitest'
import { internalView } from '../../db/clickhouse/migrate.ts'
import { registerStream } from '../../db/events/event-store.ts'
import { mirrorStream } from '../../jobs/mirror.ts'
import { runProjection } from '../../jobs/runner.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'

const STREAM = 1
const EVENTS = 300
const VAULT = `0x${'5a'.repeat(20)}`

let pipeline: Pipeline
beforeEach(async () => {
  pipeline = await createPipeline()
})
afterEach(() => pipeline?.drop())

/** Deposits at positions 1, 2, …, three to a block; those at `poison` of an amount that is no whole number. */
async function store(poison: readonly number[]): Promise<void> {
  const { pool } = pipeline.postgres
  await registerStream(pool, STREAM, 'mainnet', 'evm')
  await pool.query(
    `INSERT INTO event_log (stream, position, type, block_number, block_hash, block_time, tx_hash, log_index, contract, data)
     SELECT $1, p, 'Deposited', p / 3, decode(lpad(to_hex(p / 3), 64, '0'), 'hex'), 1700000000 + p / 3, decode(repeat('ab', 32), 'hex'), p,
       decode(repeat('5a', 20), 'hex'),
       jsonb_build_object('owner', $4::text, 'sender', $4::text, 'shares', '1', 'ledger', 'self',
         'assets', p || CASE WHEN p = ANY ($3::int[]) THEN '.5' ELSE '' END)
     FROM generate_series(1, $2::int) AS p`,
    [STREAM, EVENTS, poison, VAULT],
  )
  await pool.query('UPDATE stream SET head = $2, head_height = $3, head_time = 1700000100 WHERE id = $1', [
    STREAM,
    EVENTS,
    EVENTS / 3,
  ])
  await mirrorStream(pool, pipeline.clickhouse.client, STREAM)
}

function project(batch: number, name = 'flow'): Promise<number | undefined> {
  const projection = pipeline.projections.find(one => one.name === name)
  if (!projection) throw new TypeError(`the projection ${name} is gone`)
  const { postgres, clickhouse } = pipeline
  return runProjection(postgres.pool, clickhouse.client, projection, STREAM, { limits: { batch } })
}

async function letters() {
  const { rows } = await pipeline.postgres.pool.query<{ position: number; block: number; log: number }>(
    `SELECT (payload->>'position')::int AS position, block_number AS block, log_index AS log, contract, attempts, stage
     FROM dead_letter ORDER BY 1`,
  )
  return rows
}

const sound = (poison: readonly number[]) =>
  Array.from({ length: EVENTS }, (_, i) => String(i + 1)).filter(amount => !poison.includes(Number(amount)))

test.each([1000, 7])(
  'events that the SQL cannot digest are left out and named, in batches of %i',
  async batch => {
    const poison = [2, 150, 151, 300]
    await store(poison)
    expect(await project(batch)).toBe(EVENTS)
    const rows = await pipeline.rows<{ assets: string }>('SELECT assets FROM flow FINAL ORDER BY position')
    expect(rows.map(({ assets }) => assets)).toEqual(sound(poison))
    expect(await letters()).toEqual(
      poison.map(position => ({
        position,
        block: Math.floor(position / 3),
        log: position,
        contract: VAULT,
        attempts: 1,
        stage: 'project',
      })),
    )
  },
)

/** The companion of balances, with SQL that chokes on amounts that are no whole numbers. */
const FUSSY = {
  'the events': `SELECT contract AS account, toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
      if(toUInt256(JSONExtractString(data, 'assets')) > 0, 'opened', 'closed') AS kind
    FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}`,
  'the rows of the first table': `SELECT holder AS account, chain_id, vault, timestamp, position, block_number,
      if(toUInt256(concat(toString(balance), if(position IN (2, 150, 151, 300), '.5', ''))) > 0, 'opened', 'closed') AS kind
    FROM balance
    WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64}`,
}

test.each(Object.entries(FUSSY))(
  'a companion that is made of %s goes on without what it cannot digest, the other tables with it',
  async (_, view) => {
    const poison = [2, 150, 151, 300]
    await store(poison)
    const { clickhouse, postgres } = pipeline
    await clickhouse.command(
      'test',
      `CREATE OR REPLACE VIEW ${internalView(clickhouse.client, 'position_change_rows')} AS ${view}`,
    )
    const positions = async (table: string) =>
      (
        await pipeline.rows<{ position: string }>(`SELECT position FROM ${table} FINAL ORDER BY position`)
      ).map(({ position }) => String(position))
    const all = Array.from({ length: EVENTS }, (_, i) => String(i + 1))
    // The second time from the beginning with the dead letters there, and with other batches, as a replay is.
    for (const batch of [100, 1000]) {
      expect(await project(batch, 'balance')).toBe(EVENTS)
      expect(await positions('balance')).toEqual(all)
      expect(await positions('position_change')).toEqual(sound(poison))
      expect(await pipeline.rows('SELECT toString(balance) AS held FROM holder FINAL')).toEqual([
        { held: String(EVENTS) },
      ])
      expect((await letters()).map(({ position, block }) => ({ position, block }))).toEqual(
        poison.map(position => ({ position, block: Math.floor(position / 3) })),
      )
      for (const table of ['balance', 'position_change', 'holder', 'account_vault'])
        await clickhouse.command('test', `TRUNCATE TABLE ${table}`)
      await postgres.pool.query("DELETE FROM checkpoint WHERE projection = 'balance'")
    }
    const { rows } = await postgres.pool.query(
      "SELECT DISTINCT payload->>'poisoned' AS name, reason ~ '^position_change \\(version 2\\)' AS said FROM dead_letter",
    )
    expect(rows).toEqual([{ name: 'position_change', said: true }])
  },
)

test('a view that fails whatever it is given is no fault of the events', async () => {
  await store([])
  await pipeline.clickhouse.command(
    'test',
    `CREATE OR REPLACE VIEW ${internalView(pipeline.clickhouse.client, 'flow_rows')} AS SELECT * FROM flow
     WHERE toUInt256(concat('x', toString({stream:Int32} + {from:UInt64} + {to:UInt64}))) = 0`,
  )
  await expect(project(1000)).rejects.toThrow(/Cannot parse/)
  expect(await letters()).toEqual([])
})

test('with a hundred of them the projection stops at the next', async () => {
  await store([200])
  await pipeline.postgres.pool.query(
    `INSERT INTO dead_letter (stage, stream, reason, payload)
     SELECT 'project', $1, p::text, jsonb_build_object('poisoned', 'flow', 'version', 1, 'position', p) FROM generate_series(1, 100) AS p`,
    [STREAM],
  )
  await expect(project(1000)).rejects.toThrow(/Cannot parse/)
  expect(await letters()).toHaveLength(100)
})
