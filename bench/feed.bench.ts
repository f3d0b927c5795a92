import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { createWebhookBook } from '../db/webhooks/book.ts'
import { appendBlocks } from '../test/read-api/append.ts'
import { startApi } from './api.ts'
import { type Bench, peakMemory, percentiles, type Result, type Stage } from './bench.ts'
import type { Order, Told } from './feed-readers.ts'

const SUBSCRIBERS = 1_000
const WEBHOOKS = 100
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 30)
const BLOCK_MS = 500
const EVENTS = 2

/** A chain that is written beside: positions and when their transaction was committed, milliseconds since 1970. */
class Writer {
  readonly committed = new Map<number, number>()
  private number = 0
  private readonly pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.pool = pool
  }

  async block(): Promise<void> {
    this.number++
    const hex = (value: number, bytes: number) => `0x${value.toString(16).padStart(2 * bytes, '0')}`
    const events = Array.from({ length: EVENTS }, (_, logIndex) => ({
      type: 'ShareTransferred' as const,
      protocol: 'erc-4626' as const,
      contract: hex(0xa0, 20),
      logIndex,
      transactionHash: hex(this.number, 32),
      data: { from: hex(0xb0, 20), to: hex(0xb1, 20), shares: 10n ** 18n },
    }))
    const block = { number: this.number, hash: hex(this.number, 32), timestamp: 1_700_000_000 + this.number }
    await appendBlocks(this.pool, 1, 'mainnet', [{ block, events }])
    const at = performance.timeOrigin + performance.now()
    for (let i = 0; i < EVENTS; i++) this.committed.set((this.number - 1) * EVENTS + i + 1, at)
  }
}

/** Seconds of a processor that a process has used. */
async function cpuOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

interface Delays {
  p50: number
  p99: number
  count: number
}

interface Phase {
  streams: Delays
  webhooks: Delays
  /** Cores that the API used. */
  cores: number
}

interface World {
  writer: Writer
  readers: ChildProcess
  api: ChildProcess
}

const ask = async (readers: ChildProcess, order: Order) => {
  readers.send(order)
  return (await once(readers, 'message'))[0] as unknown
}

/** Blocks for so long; how late each message of them came to each of so many. */
async function phase(
  { writer, readers, api }: World,
  count: { streams: number; webhooks: number },
): Promise<Phase> {
  await ask(readers, { kind: 'told' })
  const first = writer.committed.size + 1
  const cpu = await cpuOf(api.pid)
  const began = performance.now()
  for (let i = 0; i < (SECONDS * 1_000) / BLOCK_MS; i++) {
    await new Promise(resolve => setTimeout(resolve, began + i * BLOCK_MS - performance.now()))
    await writer.block()
  }
  const cores = ((await cpuOf(api.pid)) - cpu) / ((performance.now() - began) / 1_000)
  const told: Told = { streams: [], webhooks: [] }
  const expectedOf = (kind: keyof Told) => (writer.committed.size + 1 - first) * count[kind]
  const isLate = (kind: keyof Told) => told[kind].length / 2 < expectedOf(kind)
  // Waits for those that are late.
  for (let i = 0; i < 60 && (isLate('streams') || isLate('webhooks')); i++) {
    await new Promise(resolve => setTimeout(resolve, 1_000))
    const more = (await ask(readers, { kind: 'told' })) as Told
    told.streams = told.streams.concat(more.streams)
    told.webhooks = told.webhooks.concat(more.webhooks)
  }
  const delaysOf = (kind: keyof Told): Delays => {
    const delays = []
    for (let i = 0; i < told[kind].length; i += 2)
      delays.push((told[kind][i + 1] ?? 0) - (writer.committed.get(told[kind][i] ?? 0) ?? 0))
    if (delays.length !== expectedOf(kind))
      throw new RangeError(`${delays.length} of ${expectedOf(kind)} messages came`)
    return { ...percentiles(delays), count: delays.length }
  }
  return { streams: delaysOf('streams'), webhooks: delaysOf('webhooks'), cores }
}

const inWords = ({ p50, p99 }: Delays) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`

async function subscribe(pool: pg.Pool, port: number): Promise<void> {
  const book = createWebhookBook(pool)
  const { rows } = await pool.query<{ id: number }>('SELECT id FROM api_key LIMIT 1')
  const { rows: streams } = await pool.query<{ head: number }>('SELECT head FROM stream WHERE id = 1')
  for (let i = 0; i < WEBHOOKS; i++)
    await book.create(
      {
        keyId: rows[0]?.id ?? 0,
        url: `http://127.0.0.1:${port}/${i}`,
        filter: { networks: [1] },
        mode: 'instant',
        cursor: new Map([[1, streams[0]?.head ?? 0]]),
      },
      { webhooks: WEBHOOKS, rules: 0 },
    )
}

export const bench: Bench = {
  about:
    `A chain of ${1_000 / BLOCK_MS} blocks a second with ${EVENTS} events each is written for ${SECONDS} s while so many follow it: from the commit of the ` +
    'transaction that stores an event to its arrival in another process, over every message and everybody. Streams are of one API process, all of the whole chain; webhooks are sent by it one message in a request, signed, the next after the answer and the cursor’s commit. Writer, Postgres, API and those who read share the machine.',
  async run(stage: Stage) {
    const { pool, url } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const writer = new Writer(pool)
    await writer.block()
    const { api, port, key } = await startApi(
      stage,
      { pool, url, clickhouse },
      { WEBHOOK_PRIVATE_TARGETS: 'true', LOG_LEVEL: 'info' },
    )
    const readers = fork(new URL('./feed-readers.ts', import.meta.url), { execArgv: ['--import', 'tsx'] })
    stage.afterwards(async () => readers.kill('SIGKILL'))
    const [{ port: hookPort }] = (await once(readers, 'message')) as [{ port: number }]
    const world = { writer, readers, api: api.child }

    await ask(readers, { kind: 'follow', port, key, count: 1 })
    const one = await phase(world, { streams: 1, webhooks: 0 })
    stage.say(`1 stream: ${inWords(one.streams)}`)
    await ask(readers, { kind: 'follow', port, key, count: SUBSCRIBERS - 1 })
    const many = await phase(world, { streams: SUBSCRIBERS, webhooks: 0 })
    stage.say(`${SUBSCRIBERS} streams: ${inWords(many.streams)}, ${many.cores.toFixed(2)} cores`)
    const memory = await peakMemory(api.child.pid)
    await subscribe(pool, hookPort)
    // Taken up within a second.
    await new Promise(resolve => setTimeout(resolve, 3_000))
    const all = await phase(world, { streams: SUBSCRIBERS, webhooks: WEBHOOKS })
    stage.say(
      `and ${WEBHOOKS} webhooks: ${inWords(all.streams)}; ${inWords(all.webhooks)}, ${all.cores.toFixed(2)} cores`,
    )
    const held = await peakMemory(api.child.pid)
    const beside = `one stream ${inWords(one.streams)}`
    return [
      {
        what: `${SUBSCRIBERS.toLocaleString('en')} streams`,
        ours: inWords(many.streams),
        beside,
        ratio: one.streams.p50 / many.streams.p50,
        budget: 'p99 1 s',
        holds: many.streams.p99 <= 1_000,
      },
      {
        what: `the same beside ${WEBHOOKS} webhooks`,
        ours: inWords(all.streams),
        beside,
        ratio: one.streams.p50 / all.streams.p50,
        budget: 'p99 1 s',
        holds: all.streams.p99 <= 1_000,
      },
      {
        what: `${WEBHOOKS} webhooks beside ${SUBSCRIBERS.toLocaleString('en')} streams`,
        ours: inWords(all.webhooks),
        beside,
        ratio: one.streams.p50 / all.webhooks.p50,
      },
      {
        what: 'messages received',
        ours: `${many.streams.count.toLocaleString('en')} by streams; beside webhooks ${all.streams.count.toLocaleString('en')} and ${all.webhooks.count.toLocaleString('en')}: none missing, none twice`,
      },
      {
        what: 'cores that the API used',
        ours: `${many.cores.toFixed(2)}; with webhooks ${all.cores.toFixed(2)}`,
        beside: `one stream ${one.cores.toFixed(2)}`,
      },
      ...(memory === undefined || held === undefined
        ? []
        : [
            {
              what: 'memory of the API at its peak',
              ours: `${memory.toFixed(0)} MiB; with webhooks ${held.toFixed(0)} MiB`,
              budget: '512 MiB',
              holds: held <= 512,
            } satisfies Result,
          ]),
    ]
  },
}
