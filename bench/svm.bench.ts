import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { SOLANA } from '../db/streams.ts'
import { openPortal, type Portal, type PortalQuery } from '../processors/source/portal-client.ts'
import { loadPrograms } from '../processors/svm/load-programs.ts'
import { openPortalSource } from '../processors/svm/portal-source.ts'
import { runSvm } from '../processors/svm/processor.ts'
import type { TestChain } from '../test/svm/chain.ts'
import { type Bench, measured, peakMemory, perSecond, type Stage } from './bench.ts'
import { portalOver } from './portal-over.ts'
import { busyChain } from './svm-chain.ts'

const SLOTS = Number(process.env['BENCH_SLOTS'] ?? 1_500)
const MEMORY = 512

export const bench: Bench = {
  about:
    `A local Portal in a process of its own (compressed lines of JSON, as the published one sends them) → decoded → event store with its cursor in the same ` +
    `transaction: ${SLOTS.toLocaleString('en')} slots of a chain of the real virtual machine, in each eight transactions of 19 instructions that move shares of three stake pools, and a deposit or ` +
    'redemption of one of those, a lending vault, or a vault of reserves; none sampled. Beside it, in the same run, who reads the same lines, parses them and does nothing else.',
  async run(stage) {
    stage.say('filling the chain')
    const world = await busyChain(SLOTS)
    const { chain } = world
    const url = await portalOver(stage, 'svm', chain.blocks)
    const client = () =>
      openPortal({ network: 'solana', urls: [url], settings: { url: 'PORTAL', key: 'PORTAL_API_KEY' } })
    stage.say('by the Portal, which looks everything up for the first time')
    const queries: PortalQuery[] = []
    await index(stage, world, noting(client(), queries))
    stage.say('reading and parsing alone')
    const bare = await read(
      client(),
      queries.filter(({ fromBlock }) => fromBlock > world.begun),
    )
    stage.say('by the Portal')
    const { ms, cpu, events } = await index(stage, world, client())
    stage.say('a process of its own')
    const memory = await memoryOf(stage, chain, url)
    return [
      {
        what: 'slots',
        ours: perSecond(SLOTS, ms),
        beside: `reading and parsing alone ${perSecond(SLOTS, bare.ms)}`,
        ratio: bare.ms / ms,
      },
      { what: `events stored, ${events.toLocaleString('en')} of them`, ours: perSecond(events, ms) },
      {
        what: 'bytes of lines',
        ours: `${(bare.characters / 2 ** 20 / (ms / 1_000)).toFixed(1)} MiB/s`,
        beside: `reading and parsing alone ${(bare.characters / 2 ** 20 / (bare.ms / 1_000)).toFixed(1)} MiB/s`,
      },
      {
        what: 'slots of a second of the processor’s own CPU',
        ours: perSecond(SLOTS, cpu),
        beside: `reading and parsing alone ${perSecond(SLOTS, bare.cpu)}`,
        ratio: bare.cpu / cpu,
      },
      {
        what: 'memory of the processor at its peak',
        ours: memory === undefined ? 'not told here' : `${Math.round(memory)} MiB`,
        budget: `${MEMORY} MiB`,
        ...(memory !== undefined && { holds: memory <= MEMORY }),
      },
    ]
  },
}

async function read(portal: Portal, queries: readonly PortalQuery[]) {
  const found = { slots: 0, instructions: 0, characters: 0 }
  const took = await measured(async () => {
    for (const query of queries)
      for await (const line of (await portal.stream(query)) ?? []) {
        const { instructions = [] } = JSON.parse(line) as { instructions?: unknown[] }
        found.slots++
        found.instructions += instructions.length
        found.characters += line.length
      }
  })
  if (found.slots < SLOTS) throw new RangeError(`${found.slots} lines came, of ${SLOTS} slots`)
  return { ...found, ...took }
}

/** The same Portal; what it is asked is noted. */
const noting = (portal: Portal, queries: PortalQuery[]): Portal => ({
  ...portal,
  stream(query) {
    queries.push(query)
    return portal.stream(query)
  },
})

/** All of it, and how long what came after the beginning took. */
async function index(
  stage: Stage,
  { chain, begun }: { chain: TestChain; begun: number },
  portal: Portal,
): Promise<{ ms: number; cpu: number; events: number }> {
  const { pool } = await stage.postgres()
  const programs = await loadPrograms()
  const to = (endSlot: number) =>
    runSvm({ pool, programs, source: openPortalSource(portal), startSlot: chain.blocks[0]?.slot, endSlot })
  await to(begun)
  const took = await measured(() => to(chain.head.slot))
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM event_log WHERE stream = $1 AND block_number > $2',
    [SOLANA.id, begun],
  )
  return { ...took, events: rows[0]?.count ?? 0 }
}

/** MiB that the processor's process has held at most, until all is stored. */
async function memoryOf(stage: Stage, chain: TestChain, url: string): Promise<number | undefined> {
  const { pool, url: databaseUrl } = await stage.postgres()
  const child = spawn(process.execPath, ['--import', 'tsx', 'processors/main.ts', SOLANA.name], {
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      RPC_SOLANA: '',
      PORTAL_SOLANA: url,
      START_BLOCK_SOLANA: String(chain.blocks[0]?.slot),
      PROCESSOR_METRICS_PORT: 'off',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  stage.afterwards(async () => child.kill())
  const stored = async () => {
    const { rows } = await pool.query('SELECT final_height FROM stream WHERE id = $1', [SOLANA.id])
    return Number(rows[0]?.final_height ?? -1)
  }
  while ((await stored()) < chain.head.slot) {
    if (child.exitCode !== null) throw new TypeError('the processor has ended')
    await sleep(100)
  }
  const memory = await peakMemory(child.pid)
  child.kill()
  return memory
}
