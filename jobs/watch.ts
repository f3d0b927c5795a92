import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { sparingly } from '../db/chain/heads.ts'
import { NEAR, spoken, stateOf } from '../db/chain-state.ts'
import { readFault } from '../db/read-models.ts'
import { readStatus, type StreamStatus } from '../db/status.ts'
import { table } from './table.ts'

interface Look {
  /** Milliseconds. */
  at: number
  streams: StreamStatus[]
  /** Newest blocks of chains as nodes say, by name. */
  heads?: ReadonlyMap<string, number>
  /** What is wrong with the read models. */
  fault?: string | undefined
  /** Projections that need a replay. */
  outdated?: readonly string[]
}

/** What came between two looks, and how long the rest takes at that rate. */
function paceOf(
  stream: StreamStatus,
  behind: number | undefined,
  now: Look,
  before: Look | undefined,
): [string, string] {
  const earlier = before?.streams.find(({ name }) => name === stream.name)
  const seconds = before ? (now.at - before.at) / 1000 : 0
  if (!earlier || seconds <= 0 || stream.kind === 'registry' || stream.retired) return ['', '']
  const rate = (stream.headBlock - earlier.headBlock) / seconds
  const left = behind !== undefined && behind > NEAR && rate > 0 ? spoken(behind / rate) : ''
  return [rate.toFixed(rate < 10 ? 1 : 0), left]
}

/** One line a stream; with an earlier look also how many blocks and events came in a second since. */
export function statusTable(now: Look, before?: Look): string {
  if (now.streams.length === 0) return 'Nothing is stored yet: no processor has run on this event store.'
  const seconds = before ? (now.at - before.at) / 1000 : 0
  const streams = table(
    [
      'stream',
      'block',
      'chain at',
      'behind',
      ...(before ? ['blocks/s', 'time left'] : []),
      'age',
      'state',
      'events',
      ...(before ? ['events/s'] : []),
      'most behind',
      'by events',
      'dead letters',
    ],
    now.streams.map(stream => {
      const worst = [...stream.projections].sort((a, b) => b.behind - a.behind)[0]
      const earlier = before?.streams.find(({ name }) => name === stream.name)
      const rate = earlier && seconds > 0 ? ((stream.head - earlier.head) / seconds).toFixed(1) : ''
      const head = stream.retired ? undefined : now.heads?.get(stream.name)
      const behind = head === undefined ? undefined : Math.max(0, head - stream.headBlock)
      const [blocks, left] = paceOf(stream, behind, now, before)
      return [
        stream.name,
        stream.headBlock,
        head ?? '',
        behind ?? '',
        ...(before ? [blocks.padStart('blocks/s'.length), left] : []),
        stream.age === undefined ? '' : spoken(stream.age),
        stateOf(stream, head),
        stream.head,
        ...(before ? [rate.padStart('events/s'.length)] : []),
        worst && worst.behind > 0 ? worst.name : '',
        worst?.behind ?? '',
        stream.deadLetters,
      ]
    }),
  )
  const fault = now.fault ? [`READ MODELS: ${now.fault}`] : []
  const outdated = (now.outdated ?? []).map(
    name =>
      `${name}: rows of another version of the code; run \`vaultlog replay --projection ${name}\`, the old ones are served until it has finished`,
  )
  const { streams: all } = now
  return [
    ...fault,
    streams,
    ...outdated,
    ...all.flatMap(historyOf),
    ...all.flatMap(waitingOf),
    ...all.flatMap(leftOutOf),
    ...all.flatMap(turnsOf),
    ...all.flatMap(olderOf),
    ...all.flatMap(stream => stuckOf(stream, now.heads?.get(stream.name))),
    ...all.flatMap(stream => nodeBehindOf(stream, now.heads?.get(stream.name))),
    ...all.flatMap(archiveOf),
    ...all.flatMap(uncomparedOf),
    ...all.flatMap(differingOf),
  ].join('\n')
}

/** How far the history of what a chain watches since lately is. */
function historyOf({ name, headBlock, backfills }: StreamStatus): string[] {
  return backfills.map(({ sources, from, cursor }) => {
    const share = Math.min(1, Math.max(0, (cursor - from + 1) / Math.max(1, headBlock - from + 1)))
    const bar = '#'.repeat(Math.floor(share * BAR)).padEnd(BAR, '-')
    return `${name}: history of ${sources} new source${sources === 1 ? '' : 's'} [${bar}] ${Math.floor(share * 100)} %, block ${Math.max(cursor, from)} of ${headBlock}`
  })
}

/** More came up in an hour than are looked at. */
function waitingOf({ name, waitingContracts: count }: StreamStatus): string[] {
  if (count === 0) return []
  return [
    `${name}: ${count} contract${count === 1 ? '' : 's'} that may be a vault wait${count === 1 ? 's' : ''} to be looked at in the order in which they came up (INSPECTIONS_PER_HOUR)`,
  ]
}

/** Contracts that log more in a day than is taken. */
function leftOutOf({ name, leftOut: count }: StreamStatus): string[] {
  if (count === 0) return []
  return [
    `${name}: ${count} contract${count === 1 ? '' : 's'} logged more than LOGS_PER_DAY; the rest is fetched when the day is over. \`vaultlog ignore\` leaves one alone, a fact \`listed\` takes all of it`,
  ]
}

/** More vaults that nobody listed than are sampled each hour. */
function turnsOf({ name, sampledInTurns }: StreamStatus): string[] {
  return sampledInTurns.map(
    ({ standing, vaults, hours }) =>
      `${name}: of ${vaults} vaults that nobody listed (${standing}) those that came last are sampled once in ${hours} hours (SAMPLES_PER_HOUR); listed ones hourly`,
  )
}

/** Contracts that said their first word long after they were made. */
function olderOf({ name, olderLogs: count }: StreamStatus): string[] {
  if (count === 0) return []
  return [
    `${name}: fetching what ${count} contract${count === 1 ? '' : 's'} logged long before ${count === 1 ? 'it was' : 'they were'} discovered`,
  ]
}

/** A chain that moves while nothing of it is stored. */
function stuckOf(stream: StreamStatus, head: number | undefined): string[] {
  if (!stateOf(stream, head).startsWith('STUCK')) return []
  return [
    `${stream.name}: nothing was stored for ${spoken(stream.quiet)}${head === undefined ? '' : ` while the chain went on to block ${head}`}. The log of its processor says why; another endpoint in RPC_<NETWORK> helps where the node does.`,
  ]
}

/** A node that has not got what was stored from it or from another. */
function nodeBehindOf(stream: StreamStatus, head: number | undefined): string[] {
  if (head === undefined || stateOf(stream, head) !== 'node behind') return []
  return [
    `${stream.name}: the node is at block ${head}, ${stream.headBlock - head} behind what is stored: nothing is taken back, and nothing comes until it is further. Another endpoint in RPC_<NETWORK> helps.`,
  ]
}

/** A node without an archive. */
function archiveOf({ name, withoutState, samplesSince, backfills, olderLogs }: StreamStatus): string[] {
  if (withoutState === undefined) return []
  const logs = backfills.length === 0 && olderLogs === 0 ? 'logs complete' : 'logs still come'
  const samples =
    samplesSince === undefined ? 'samples where there is state' : `samples since block ${samplesSince}`
  return [
    `${name}: history: ${logs}, ${samples}: the node keeps no state of old blocks (met at block ${withoutState}). An archive node in RPC_<NETWORK>, and \`deadletters resolve\`, end this line.`,
  ]
}

/** Some ranges were compared before all of some contracts was stored. */
function uncomparedOf({ name, uncompared: count }: StreamStatus): string[] {
  if (count === 0) return []
  return [
    `${name}: ${count} contract${count === 1 ? ' was' : 's were'} left out where final blocks were compared with the chain, as not all of ${count === 1 ? 'it' : 'them'} was stored: Postgres’ completeness.left_out names them`,
  ]
}

/** One of the endpoints is wrong, or was. */
function differingOf({ name, differing: count }: StreamStatus): string[] {
  if (count === 0) return []
  return [
    `${name}: in ${count} state read${count === 1 ? '' : 's'} another endpoint of RPC_<NETWORK> says something else: \`deadletters --stage cross_check\` has both answers. Find out which endpoint is wrong; \`deadletters resolve\` ends this line.`,
  ]
}

const BAR = 30

/**
 * Shows where everything stands every `seconds` until the signal: on a terminal in place, else one table after the
 * other. A database that does not answer is said and asked again.
 */
export async function watchStatus(
  pool: pg.Pool,
  options: {
    seconds: number
    signal: AbortSignal
    out?: NodeJS.WriteStream
    heads?: () => Promise<Map<string, number>>
    outdated?: () => Promise<string[]>
  },
): Promise<void> {
  const { seconds, signal, out = process.stdout } = options
  const heads = options.heads && sparingly(options.heads)
  let before: Look | undefined
  while (!signal.aborted) {
    const at = Date.now()
    const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
    let text: string
    try {
      const [streams, fault, found, outdated] = await Promise.all([
        readStatus(pool, at / 1000),
        readFault(pool),
        heads?.(),
        options.outdated?.(),
      ])
      const look = { at, streams, fault, heads: found, outdated }
      text = `${time} UTC, every ${seconds} s; Ctrl-C ends\n${statusTable(look, before ?? look)}`
      before = look
    } catch (error) {
      text = `${time} UTC: Postgres does not answer (${(error as Error).message}), asking again`
    }
    // Home, and clear what is below: no flicker, no scrolling.
    out.write(out.isTTY ? `\u001b[H\u001b[J${text}\n` : `${text}\n\n`)
    await pause(seconds * 1000, undefined, { signal }).catch(() => {})
  }
}
