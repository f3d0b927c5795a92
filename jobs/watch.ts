import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { readFault } from '../db/read-models.ts'
import { readStatus, type StreamStatus } from '../db/status.ts'
import { table } from './table.ts'

interface Look {
  /** Milliseconds. */
  at: number
  streams: StreamStatus[]
  /** What is wrong with the read models. */
  fault?: string | undefined
  /** Projections that need a replay. */
  outdated?: readonly string[]
}

/** One line a stream; with an earlier look also how many events came in a second since. */
export function statusTable(now: Look, before?: Look): string {
  if (now.streams.length === 0) return 'Nothing is stored yet: no processor has run on this event store.'
  const seconds = before ? (now.at - before.at) / 1000 : 0
  const streams = table(
    [
      'stream',
      'block',
      'final',
      'seconds old',
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
      return [
        stream.name,
        stream.headBlock,
        stream.finalBlock,
        stream.retired ? 'retired' : (stream.age ?? ''),
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
    ...all.flatMap(olderOf),
    ...all.flatMap(stateOf),
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

/** Contracts that said their first word long after they were made. */
function olderOf({ name, olderLogs: count }: StreamStatus): string[] {
  if (count === 0) return []
  return [
    `${name}: fetching what ${count} contract${count === 1 ? '' : 's'} logged long before ${count === 1 ? 'it was' : 'they were'} discovered`,
  ]
}

/** A node without an archive. */
function stateOf({ name, withoutState }: StreamStatus): string[] {
  if (withoutState === undefined) return []
  return [
    `${name}: the node keeps no state of old blocks (met at block ${withoutState}): samples begin where its state does. An archive node in RPC_<NETWORK>, and \`deadletters resolve\`, end this line.`,
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
  options: { seconds: number; signal: AbortSignal; out?: NodeJS.WriteStream },
): Promise<void> {
  const { seconds, signal, out = process.stdout } = options
  let before: Look | undefined
  while (!signal.aborted) {
    const at = Date.now()
    const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
    let text: string
    try {
      const look = { at, streams: await readStatus(pool, at / 1000), fault: await readFault(pool) }
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
