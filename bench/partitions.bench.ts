import type pg from 'pg'
import { appendEvents, type BlockEvents, registerStream } from '../db/events/event-store.ts'
import { inTransaction } from '../db/postgres.ts'
import { type Bench, percentiles, perSecond, type Result, type Stage, timed } from './bench.ts'
import { openGenerator } from './store.ts'

const EVENTS = Number(process.env['BENCH_EVENTS'] ?? 4_000_000)
const CHAINS = 8
const VAULTS = Array.from({ length: 1_000 }, (_, n) => `0xa${n.toString(16).padStart(39, '0')}`)
const BLOCKS_PER_TRANSACTION = 2_500

export const bench: Bench = {
  about:
    `event_log as it is, a partition for each chain, beside the same table in one piece, with the same columns, key and indexes: ${EVENTS.toLocaleString('en')} ` +
    `events of ${CHAINS} chains, appended in turn in transactions of ${BLOCKS_PER_TRANSACTION.toLocaleString('en')} blocks to the one and to the other, then blocks ` +
    'of four events in a transaction each, as at the head. Then what vacuum takes after one chain has grown by a twentieth of its events, questions about ' +
    'one chain (30 times each, in turn), and how a chain is dropped.',
  async run(stage) {
    const stores = [await open(stage, 'partitions'), await open(stage, 'one piece')] as const
    const results = [await fill(stage, stores), await heads(stores), await vacuum(stores)]
    stage.say('filled and vacuumed')
    results.push(...(await questions(stores)), ...(await drop(stores)))
    return results
  },
}

interface Store {
  pool: pg.Pool
  isPartitioned: boolean
  /** Position of each chain. */
  heads: number[]
}
type Stores = readonly [Store, Store]

async function open(stage: Stage, kind: 'partitions' | 'one piece'): Promise<Store> {
  const { pool } = await stage.postgres()
  const isPartitioned = kind === 'partitions'
  if (!isPartitioned)
    await pool.query(`CREATE TABLE whole (LIKE event_log INCLUDING ALL);
      DROP TABLE event_log CASCADE;
      ALTER TABLE whole RENAME TO event_log;
      CREATE TRIGGER event_log_append_only BEFORE UPDATE OR DELETE ON event_log
        FOR EACH ROW EXECUTE FUNCTION refuse_change()`)
  for (let chain = 1; chain <= CHAINS; chain++) {
    if (isPartitioned) await registerStream(pool, chain, `chain ${chain}`, 'evm')
    else
      await pool.query("INSERT INTO stream (id, name, kind) VALUES ($1, $2, 'evm')", [
        chain,
        `chain ${chain}`,
      ])
  }
  return { pool, isPartitioned, heads: Array(CHAINS + 1).fill(0) }
}

async function append(store: Store, chain: number, blocks: BlockEvents[]): Promise<number> {
  const { ms } = await timed(() =>
    inTransaction(store.pool, async tx => {
      await tx.query('SELECT head FROM stream WHERE id = $1 FOR UPDATE', [chain])
      const head = await appendEvents(tx, chain, store.heads[chain] ?? 0, blocks)
      await tx.query('UPDATE stream SET head = $2 WHERE id = $1', [chain, head])
      store.heads[chain] = head
    }),
  )
  return ms
}

const generators = Array.from({ length: CHAINS + 1 }, () => openGenerator(VAULTS, EVENTS / CHAINS))
const next = (chain: number, count: number) =>
  Array.from({ length: count }, () => (generators[chain] as () => BlockEvents)())

const stored = ({ heads }: Store) => heads.reduce((sum, head) => sum + head, 0)
/** Which goes first changes each time. */
const inTurn = (stores: Stores, n: number): Stores => (n % 2 === 0 ? stores : [stores[1], stores[0]])

async function fill(stage: Stage, stores: Stores): Promise<Result> {
  const took = new Map(stores.map(store => [store, 0]))
  for (let n = 0; stored(stores[0]) < EVENTS; n++) {
    const chain = 1 + (n % CHAINS)
    const blocks = next(chain, BLOCKS_PER_TRANSACTION)
    for (const store of inTurn(stores, Math.floor(n / CHAINS)))
      took.set(store, (took.get(store) ?? 0) + (await append(store, chain, blocks)))
    if (n % 100 === 0) stage.say(`${stored(stores[0]).toLocaleString('en')} events`)
  }
  const [ours, beside] = stores.map(store => took.get(store) ?? 0) as [number, number]
  return {
    what: 'append',
    ours: perSecond(stored(stores[0]), ours),
    beside: `in one piece ${perSecond(stored(stores[1]), beside)}`,
    ratio: beside / ours,
  }
}

async function heads(stores: Stores): Promise<Result> {
  return compare(
    'append of a block at the head',
    stores,
    async (store, n) => {
      await append(store, 1 + (n % CHAINS), next(1 + (n % CHAINS), 1))
    },
    400,
  )
}

async function vacuum(stores: Stores): Promise<Result> {
  for (const { pool } of stores) await pool.query('VACUUM (ANALYZE, FREEZE) event_log')
  const blocks = next(1, Math.floor(EVENTS / CHAINS / 20 / 4))
  const took: number[] = []
  for (const store of stores) {
    await append(store, 1, blocks)
    const { ms } = await timed(() =>
      store.pool.query(`VACUUM (ANALYZE, FREEZE) ${store.isPartitioned ? 'event_log_1' : 'event_log'}`),
    )
    took.push(ms)
  }
  const [ours = 0, beside = 0] = took
  return {
    what: 'vacuum after one chain has grown',
    ours: `its partition ${seconds(ours)}`,
    beside: `the table ${seconds(beside)}`,
    ratio: beside / ours,
  }
}

async function questions(stores: Stores): Promise<Result[]> {
  const last = stores[0].heads[2] ?? 0
  const ask = (what: string, sql: string, parameters: (n: number) => unknown[]) =>
    compare(what, stores, ({ pool }, n) => pool.query(sql, parameters(n)), 30)
  return [
    await ask(
      'the next 10,000 events of a chain, as the mirror reads them',
      'SELECT position, type, block_number, data FROM event_log WHERE stream = 2 AND position > $1 ORDER BY position LIMIT 10000',
      n => [Math.floor((last * n) / 31)],
    ),
    await ask(
      'events of 1,000 blocks of a chain',
      'SELECT count(*), min(position) FROM event_log WHERE stream = 2 AND block_number BETWEEN $1 AND $1 + 1000',
      n => [1_000 * n],
    ),
    await ask(
      'events of a chain by type',
      'SELECT type, count(*) FROM event_log WHERE stream = 2 AND position > $1 GROUP BY type',
      () => [0],
    ),
    await ask(
      'events of all chains by type',
      'SELECT type, count(*) FROM event_log WHERE position > $1 GROUP BY type',
      () => [0],
    ),
  ]
}

async function drop([ours, beside]: Stores): Promise<Result[]> {
  const before = await Promise.all([sizeOf(ours), sizeOf(beside)])
  const first = await timed(() =>
    ours.pool.query('ALTER TABLE event_log DETACH PARTITION event_log_3; DROP TABLE event_log_3'),
  )
  const second = await timed(async () => {
    await beside.pool.query('ALTER TABLE event_log DISABLE TRIGGER event_log_append_only')
    await beside.pool.query('DELETE FROM event_log WHERE stream = 3')
    await beside.pool.query('ALTER TABLE event_log ENABLE TRIGGER event_log_append_only')
    await beside.pool.query('VACUUM event_log')
  })
  const after = await Promise.all([sizeOf(ours), sizeOf(beside)])
  const back = (n: 0 | 1) => `${Math.round(before[n] - after[n])} of ${Math.round(before[n])} MiB`
  return [
    {
      what: 'a chain is dropped',
      ours: `detached and dropped ${seconds(first.ms)}`,
      beside: `deleted and vacuumed ${seconds(second.ms)}`,
      ratio: second.ms / first.ms,
    },
    { what: 'disk given back', ours: back(0), beside: `in one piece ${back(1)}` },
  ]
}

/** The same in turn on either store; the medians are compared. */
async function compare(
  what: string,
  stores: Stores,
  work: (store: Store, n: number) => Promise<unknown>,
  times: number,
): Promise<Result> {
  const took = new Map<Store, number[]>(stores.map(store => [store, []]))
  for (let n = 0; n < times; n++)
    for (const store of inTurn(stores, n)) took.get(store)?.push((await timed(() => work(store, n))).ms)
  const [ours, beside] = stores.map(store => percentiles(took.get(store) ?? []))
  const said = (of: { p50: number; p99: number } | undefined) =>
    `p50 ${of?.p50.toFixed(1)} ms, p99 ${of?.p99.toFixed(1)} ms`
  return {
    what,
    ours: said(ours),
    beside: `in one piece ${said(beside)}`,
    ratio: (beside?.p50 ?? 0) / (ours?.p50 ?? 1),
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`

/** MiB of events with their indexes. */
async function sizeOf({ pool }: Store): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
     WHERE relkind = 'r' AND relname LIKE 'event\\_log%'`,
  )
  return Number(rows[0]?.bytes ?? 0) / 1024 ** 2
}
