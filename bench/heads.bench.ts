import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import type { ClickHouse } from '../db/clickhouse/client.ts'
import type { NetworkName } from '../db/networks.ts'
import { MIRROR } from '../db/wake-ups.ts'
import { dealt } from '../jobs/process-groups.ts'
import { loadProjections } from '../jobs/projection.ts'
import { findWork } from '../jobs/work.ts'
import { type Running, start } from '../test/faults/command.ts'
import { startApi } from './api.ts'
import { type Bench, percentiles, type Result, type Stage } from './bench.ts'
import type { HeadsChain, Mined } from './heads-node.ts'
import { childrenLike, cpuOf, memoryOf } from './parts.ts'
import { recordedDensity } from './recorded-density.ts'

const MINUTES = Number(process.env['BENCH_MINUTES'] ?? 15)
const VAULTS = Number(process.env['BENCH_VAULTS'] ?? 25_000)
const DENSITY = Number(process.env['BENCH_DENSITY'] ?? 1)
const PROCESSES = Number(process.env['BENCH_PROCESSES'] ?? 4)
const ASK_EVERY_MS = 50
const LOOK_EVERY_MS = 5_000
const SETTLED_WITHIN_MS = 30 * 60_000
/** The answer whose moment is looked at: a list stands on every chain. */
const LIST = '/v2/vaults?perPage=1'

export const bench: Bench = {
  about:
    `22 generated chains at the networks' own block times, ${VAULTS.toLocaleString('en')} vaults on them as they were recorded, each with ` +
    `${DENSITY === 1 ? '' : `${DENSITY} times `}its recorded deposits and redemptions a second, one block of 500 replaced by another; ${MINUTES} minutes. ` +
    `An hour turns after a fifth of them: from then on every vault is sampled, within eleven minutes. From a block with events on its node to the first answer whose x-as-of-block has it, asked for every ` +
    `${ASK_EVERY_MS} ms. ${PROCESSES} processes of processors, one worker, one API, embedded databases, and the nodes, all on the same cores.`,
  async run(stage) {
    const { pool, url } = await stage.postgres()
    const clickhouse = await stage.clickhouse()
    const chains = await recordedDensity(VAULTS, DENSITY)
    const node = await startNodes(stage, chains)
    const env = { ...node.env, ...environmentOf(stage, url, clickhouse) }
    const processors = dealt(
      chains.map(({ name }) => name),
      PROCESSES,
    ).map(names => startPart(stage, ['processors/main.ts', ...names], env))
    const worker = startPart(stage, ['jobs/main.ts'], env)
    await settled(
      stage,
      pool,
      chains.reduce((sum, { vaults }) => sum + vaults, 0),
    )
    const { api, port, key } = await startApi(stage, { pool, url, clickhouse })
    const pids = {
      processors: pidsOf(processors),
      worker: pidsOf([worker]),
      API: pidsOf([api]),
      Postgres: await childrenLike(/postgres/),
      ClickHouse: await childrenLike(/clickhouse-server/),
      nodes: [node.child.pid ?? 0],
    }
    const watch = new Watch(node.child, `http://127.0.0.1:${port}${LIST}`, key)
    stage.afterwards(watch.follow(pool))
    stage.say('settled: the chains go on')
    const figures = await measure(stage, watch, { clickhouse, pids, go: () => node.child.send({ go: true }) })
    return resultsOf(watch, figures)
  },
}

const pidsOf = (parts: readonly Running[]) => parts.map(({ child }) => child.pid ?? 0)

const environmentOf = (stage: Stage, url: string, clickhouse: ClickHouse) => ({
  DATABASE_URL: url,
  CLICKHOUSE_URL: stage.clickhouseUrl,
  CLICKHOUSE_DATABASE: clickhouse.database,
  PROCESSOR_METRICS_PORT: 'off',
  WORKER_METRICS_PORT: 'off',
  // No registry lists generated vaults: all of them are looked at, taken and sampled at once.
  INSPECTIONS_PER_HOUR: '10000000',
  SAMPLES_PER_HOUR: '10000000',
  LOGS_PER_DAY: '10000000',
  LOG_LEVEL: process.env['BENCH_LOG'] ?? 'warn',
})

function startPart(stage: Stage, args: string[], env: Record<string, string>): Running {
  const part = start(args, env)
  stage.afterwards(async () => {
    part.child.kill('SIGTERM')
    const { stderr, stdout } = await part.ended
    if (process.env['BENCH_WORDS']) stage.say(`${args.join(' ')}: ${(stdout + stderr).slice(-4_000)}`)
  })
  return part
}

async function startNodes(stage: Stage, chains: readonly HeadsChain[]) {
  const child = fork(fileURLToPath(new URL('heads-node.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx', '--max-old-space-size=4096'],
  })
  stage.afterwards(async () => {
    child.kill('SIGKILL')
  })
  // The hour turns after a fifth of what is measured.
  const now = Math.floor(Date.now() / 1000)
  child.send({ chains, now: now + 3_600 - (now % 3_600) - MINUTES * 12 })
  const [{ urls }] = (await once(child, 'message')) as [{ urls: Record<string, string> }]
  const env: Record<string, string> = {}
  for (const [name, url] of Object.entries(urls)) env[`RPC_${name.toUpperCase().replaceAll('-', '_')}`] = url
  return { child, env }
}

/** Until all vaults' history is in the read models. */
async function settled(stage: Stage, pool: pg.Pool, vaults: number): Promise<void> {
  const projections = await loadProjections()
  const deadline = Date.now() + SETTLED_WITHIN_MS
  let before = ''
  while (Date.now() < deadline) {
    await sleep(5_000)
    const { rows } = await pool.query<{ streams: number; position: string; vaults: number }>(
      `SELECT count(*)::int AS streams, coalesce(sum(head), 0)::text AS position,
         (SELECT count(*)::int FROM event_log WHERE type = 'VaultDiscovered') AS vaults FROM stream WHERE kind = 'evm'`,
    )
    const now = JSON.stringify(rows[0])
    const left = await findWork(pool, projections)
    stage.say(`filling: ${now}, ${left.length} jobs`)
    if ((rows[0]?.vaults ?? 0) >= vaults && now === before && left.length === 0) return
    before = now
  }
  throw new RangeError('the history of the vaults never settled')
}

/** How far a block has come: in the event store, in ClickHouse as events, in the read models. */
const STEPS = ['stored', 'mirrored', 'projected'] as const
type Reached = Partial<Record<(typeof STEPS)[number], number>>

/** Blocks with events, from their node to an answer. */
class Watch {
  readonly delays = new Map<NetworkName, { at: number; ms: number; reached: Reached }[]>()
  readonly pending = new Map<NetworkName, (Mined & { reached: Reached })[]>()
  blocks = 0
  asked = 0
  failed = 0
  private readonly url: string
  private readonly key: string

  constructor(nodes: ChildProcess, url: string, key: string) {
    this.url = url
    this.key = key
    nodes.on('message', message => this.note(message as Mined))
  }

  private note(mined: Mined): void {
    this.blocks++
    // A block of the same height or above is of the branch that was left.
    const kept = (this.pending.get(mined.name) ?? []).filter(({ number }) => number < mined.number)
    if (mined.acts > 0) kept.push({ ...mined, reached: {} })
    this.pending.set(mined.name, kept)
  }

  /** Notes when blocks that are waited for came how far; ends by what it gives. */
  follow(pool: pg.Pool): () => Promise<void> {
    let isOver = false
    const done = (async () => {
      while (!isOver) {
        const { rows } = await pool.query<{ name: NetworkName } & Record<(typeof STEPS)[number], number>>(
          `SELECT s.name, s.head_height AS stored, max(c.block_number) FILTER (WHERE c.projection = $1) AS mirrored,
             min(c.block_number) FILTER (WHERE p.face = 'core') AS projected
           FROM stream s JOIN checkpoint c ON c.stream = s.id LEFT JOIN projection p ON p.name = c.projection
           WHERE s.kind = 'evm' GROUP BY s.id`,
          [MIRROR],
        )
        for (const { name, ...heights } of rows)
          for (const { number, at, reached } of this.pending.get(name) ?? [])
            for (const step of STEPS) if (heights[step] >= number) reached[step] ??= Date.now() - at
        await sleep(ASK_EVERY_MS)
      }
    })()
    return async () => {
      isOver = true
      await done
    }
  }

  async ask(): Promise<void> {
    this.asked++
    const response = await fetch(this.url, { headers: { 'x-api-key': this.key } })
    await response.arrayBuffer()
    const now = Date.now()
    if (!response.ok) {
      this.failed++
      return
    }
    for (const part of (response.headers.get('x-as-of-block') ?? '').split(/,\s*/)) {
      const [name, block] = part.split('=') as [NetworkName, string]
      const pending = this.pending.get(name) ?? []
      for (const { number, at, reached } of pending)
        if (number <= Number(block))
          this.delays.set(name, [...(this.delays.get(name) ?? []), { at, ms: now - at, reached }])
      this.pending.set(
        name,
        pending.filter(({ number }) => number > Number(block)),
      )
    }
  }
}

interface Figures {
  seconds: number
  cpu: Record<string, number>
  /** MiB at most, by part. */
  memory: Record<string, number>
  statements: number
  parts: number[]
}

async function measure(
  stage: Stage,
  watch: Watch,
  { clickhouse, pids, go }: { clickhouse: ClickHouse; pids: Record<string, number[]>; go: () => void },
): Promise<Figures> {
  const asked = async (sql: string) =>
    Number((await clickhouse.query<{ n: string }>('bench', sql))[0]?.n ?? 0)
  const statementsOf = () => asked(`SELECT toString(value) AS n FROM system.events WHERE event = 'Query'`)
  const partsOf = () =>
    asked('SELECT toString(count()) AS n FROM system.parts WHERE active AND database = currentDatabase()')
  const began = performance.now()
  const [cpu, statements] = [await cpuOf(pids), await statementsOf()]
  const memory: Record<string, number> = {}
  const parts: number[] = []
  const until = began + MINUTES * 60_000
  go()
  const looking = (async () => {
    while (performance.now() < until) {
      for (const [part, list] of Object.entries(pids))
        memory[part] = Math.max(memory[part] ?? 0, await memoryOf(list))
      parts.push(await partsOf())
      const waiting = [...watch.pending.values()].flat().length
      stage.say(
        `${Math.round((performance.now() - began) / 1000)} s: ${watch.blocks} blocks, ${waiting} waiting`,
      )
      await sleep(LOOK_EVERY_MS)
    }
  })()
  while (performance.now() < until) {
    await watch.ask()
    await sleep(ASK_EVERY_MS)
  }
  await looking
  const seconds = (performance.now() - began) / 1000
  const after = await cpuOf(pids)
  return {
    seconds,
    cpu: Object.fromEntries(Object.entries(after).map(([part, end]) => [part, end - (cpu[part] ?? 0)])),
    memory,
    statements: (await statementsOf()) - statements,
    parts,
  }
}

const inMs = (list: readonly { ms: number }[]) => {
  const { p50, p99 } = percentiles(list.map(({ ms }) => ms))
  return { p50, p99, words: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${list.length} blocks` }
}

/** The medians of the steps. */
const stepsOf = (list: readonly { reached: Reached }[]) =>
  STEPS.map(step => {
    const { p50 } = inMs(list.flatMap(({ reached }) => ({ ms: reached[step] ?? Number.POSITIVE_INFINITY })))
    return `${step} ${p50.toFixed(0)}`
  }).join(', ')

/** Where the three slowest blocks were held up. */
const slowestOf = (watch: Watch): Result[] =>
  [...watch.delays]
    .flatMap(([name, list]) => list.map(delay => ({ name, ...delay })))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 3)
    .map(({ name, ms, reached }) => ({
      what: `one of the three slowest blocks, of ${name}`,
      ours: `${ms.toFixed(0)} ms`,
      beside: stepsOf([{ reached }]),
    }))

function resultsOf(watch: Watch, { seconds, cpu, memory, statements, parts }: Figures): Result[] {
  const all = [...watch.delays.values()].flat().sort((a, b) => a.at - b.at)
  const third = Math.floor(all.length / 3)
  const [begin, end] = [inMs(all.slice(0, third)), inMs(all.slice(-third))]
  const waiting = [...watch.pending.values()].flat().length
  const used = Object.entries(cpu).map(([part, spent]) => `${part} ${(spent / seconds).toFixed(2)}`)
  const held = Object.entries(memory).map(([part, mib]) => `${part} ${mib.toFixed(0)} MiB`)
  const whole = inMs(all)
  return [
    {
      what: 'block mined → in an answer, all chains',
      ours: whole.words,
      budget: 'p50 1 s, p99 3 s',
      holds: whole.p50 <= 1_000 && whole.p99 <= 3_000,
    },
    ...STEPS.map(
      (step): Result => ({
        what: `block mined → ${step}`,
        ours: inMs(all.flatMap(({ reached }) => (reached[step] === undefined ? [] : [{ ms: reached[step] }])))
          .words,
      }),
    ),
    ...[...watch.delays].map(([name, list]): Result => {
      const { p50, p99, words } = inMs(list)
      const holds = p50 <= 1_000 && p99 <= 3_000
      return { what: name, ours: words, beside: stepsOf(list), budget: 'p50 1 s, p99 3 s', holds }
    }),
    ...slowestOf(watch),
    {
      what: 'the last third of it, beside the first',
      ours: end.words,
      beside: begin.words,
      ratio: begin.p50 / end.p50,
    },
    { what: 'blocks with events that were in no answer at the end', ours: String(waiting) },
    { what: 'CPU, cores', ours: used.join(', ') },
    {
      what: 'memory at most (PSS)',
      ours: held.join(', '),
      budget: 'processors 2 GiB, API 512 MiB',
      holds: (memory['processors'] ?? 0) <= 2_048 && (memory['API'] ?? 0) <= 512,
    },
    {
      what: 'statements of ClickHouse',
      ours: `${(statements / seconds).toFixed(1)}/s, ${(statements / Math.max(1, all.length)).toFixed(1)} for each block with events`,
    },
    {
      what: 'active parts, in the beginning, at most and at the end',
      ours: `${parts[0]}, ${Math.max(...parts)}, ${parts.at(-1)}`,
    },
    { what: 'answers that were asked for, and failed', ours: `${watch.asked}, ${watch.failed}` },
  ]
}
