import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { z } from 'zod'
import type { Ask } from '../../db/chain/failover.ts'
import { ChainDatabase, type Committed } from '../../db/events/chain-database.ts'
import { StoppedError } from '../../db/events/chain-errors.ts'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { readRetractions } from '../../db/events/teaching.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { SOLANA } from '../../db/streams.ts'
import { isRetryable } from '../failures.ts'
import { observeCommit, sourceRestarts } from '../metrics.ts'
import { handleBlocks } from './handle.ts'
import { SvmHistory } from './history.ts'
import { Holders } from './holders.ts'
import { keepLetters, keepRefusals } from './letters.ts'
import type { Stake, SvmProgram } from './program.ts'
import { type Sampled, Sampler } from './sampler.ts'
import { readSlice, type Slice, type SvmSource } from './source.ts'
import type { Vaults } from './vaults.ts'

export interface SvmProcessorOptions {
  pool: pg.Pool
  programs: readonly SvmProgram[]
  source: SvmSource
  /** Where accounts are read; absent: there are no samples. */
  ask?: Ask | undefined
  /** First slot; absent: the head, where nothing is stored yet. */
  startSlot?: number | undefined
  /** Stop after this slot; absent: follow the chain for ever. */
  endSlot?: number | undefined
  /** Milliseconds between looks at the head. */
  pollInterval?: number | undefined
  onCommit?: ((committed: Committed) => void | Promise<void>) | undefined
  signal?: AbortSignal | undefined
}

const POLL = 2_000
/** While history is fetched, which waits for nothing else. */
const BESIDE = 50
const LONGEST_PAUSE = 10_000
/** Slots behind the head, some minute of them, within which what a node says of now belongs to what is being handled. */
const NEAR = 150

/** The node's blocks do not stand on what is stored, though both are final. */
export class SvmForkError extends VaultlogError {
  readonly code = 'DEEP_FORK'
}

/** Follows Solana for ever (or to endSlot), and begins anew from the cursor when something fails. */
export async function runSvm(options: SvmProcessorOptions): Promise<void> {
  const { signal } = options
  let failures = 0
  while (!signal?.aborted) {
    const database = new ChainDatabase({
      pool: options.pool,
      stream: SOLANA.id,
      name: SOLANA.name,
      kind: 'svm',
      teaches,
      onCommit: async committed => {
        failures = 0
        observeCommit(SOLANA.name, committed)
        await options.onCommit?.(committed)
      },
    })
    try {
      await follow(options, database)
      return
    } catch (raw) {
      const error =
        raw instanceof z.ZodError
          ? new UnavailableError(`The source answered nonsense: ${z.prettifyError(raw)}`)
          : raw
      if (error instanceof StoppedError || signal?.aborted) return
      if (!isRetryable(error)) throw error
      sourceRestarts.inc({
        chain: SOLANA.name,
        reason: error instanceof VaultlogError ? error.code.toLowerCase() : 'unavailable',
      })
      const pause = Math.min(LONGEST_PAUSE, 250 * 2 ** Math.min(++failures, 7))
      log.warn(
        { network: SOLANA.name, error: String(error), pause, attempt: failures },
        'processor run failed, trying again',
      )
      await sleep(pause, undefined, { signal }).catch(() => {})
    } finally {
      await database.close()
    }
  }
}

const TEACHING: ReadonlySet<string> = new Set([
  'SvmVaultIdentified',
  'SvmMintDescribed',
  'SvmFarmNamed',
  'SvmHoldersListed',
  'SvmStakesRevalued',
])

/** What is to be known at every start. */
const teaches = ({ type, contract }: DomainEvent) => (TEACHING.has(type) ? [contract] : undefined)

/** Events at the end of the stream among which stakes are looked for that were moved and not read since. */
const LATELY = 200_000

/** Stakes that were moved lately and not read since: whoever was to read them may have ended before. */
async function readMovedStakes(pool: pg.Pool): Promise<Stake[]> {
  const { rows } = await pool.query<{
    position: number
    mint: string
    type: string
    data: Record<string, string>
  }>(
    `SELECT position, '0x' || encode(contract, 'hex') AS mint, type, data FROM event_log
     WHERE stream = $1 AND position > (SELECT head FROM stream WHERE id = $1) - $2 AND type IN ('SvmStakeChanged', 'SvmStakeSampled')
     ORDER BY position`,
    [SOLANA.id, LATELY],
  )
  const isRetracted = await readRetractions(pool, SOLANA.id)
  const moved = new Map<string, Stake>()
  for (const { position, mint, type, data } of rows) {
    if (isRetracted(position)) continue
    const { farm, stakeAccount, owner } = data
    const key = `${stakeAccount} ${owner}`
    if (type === 'SvmStakeChanged') moved.set(key, { mint, farm, stakeAccount, owner } as Stake)
    else moved.delete(key)
  }
  return [...moved.values()]
}

async function follow(options: SvmProcessorOptions, database: ChainDatabase): Promise<void> {
  const { pool, source, ask, signal, endSlot = Number.MAX_SAFE_INTEGER } = options
  const state = await database.connect()
  let cursor = { height: state.height, hash: state.hash }
  let from = cursor.height < 0 ? (options.startSlot ?? (await source.head())) : cursor.height + 1
  const history = await SvmHistory.open(options, from)
  let programs = history.live()
  let vaults = await history.liveVaults()
  const sampler = ask && new Sampler(ask, options.programs)
  sampler?.touchStakes(await readMovedStakes(pool))
  const holders = sampler && new Holders(ask, options.programs, sampler)
  let pending: Sampled[] = []
  while (!signal?.aborted && (from <= endSlot || history.isPending)) {
    if (await history.step(database, cursor.height)) {
      programs = history.live()
      vaults = await history.liveVaults()
    }
    const head = Math.min(endSlot, await source.head())
    // A slice of what is filtered has its last block whatever it holds: so that the slot of a sample is one.
    const to = source.isFiltered
      ? Math.min(head, ...pending.map(({ slot }) => slot).filter(slot => slot >= from))
      : head
    const slice = from > to ? undefined : await readSlice({ source, programs }, from, to, vaults)
    if (!slice && to < head) {
      // None of these slots has a block.
      from = Math.max(from, to + 1)
      pending = pending.filter(({ slot }) => slot >= from)
      continue
    }
    if (!slice) {
      const pause = history.isDue ? BESIDE : (options.pollInterval ?? POLL)
      await sleep(pause, undefined, { signal }).catch(() => {})
      continue
    }
    assertFollows(slice, cursor, source)
    const { end } = slice
    const next = vaults.copy()
    const handled = handleBlocks(slice.blocks, programs, next)
    await keepLetters(pool, handled)
    const blocks = withSamples(handled.blocks, pending, end)
    const nextHead = { height: end.slot, hash: end.hash }
    await database.transact({ prevHead: cursor, nextHead, isOnTop: true }, async writer => {
      writer.append(blocks)
      writer.setHeadTime(end.time)
    })
    cursor = nextHead
    from = end.slot + 1
    vaults = next
    pending = pending.filter(({ slot }) => slot > end.slot)
    sampler?.touch(handled.touched)
    sampler?.touchStakes(handled.stakes)
    holders?.forget(handled.revalued)
    if (!sampler || !holders || head - end.slot > NEAR || pending.length > 0) continue
    const read = await sampled(pool, { sampler, holders, vaults, end })
    pending = read.filter(({ slot }) => slot > end.slot)
    const events = read.filter(({ slot }) => slot === end.slot).flatMap(each => each.events)
    if (events.length > 0) await database.appendPast([{ block: refOf(end), events }], [], end.slot)
  }
}

interface Sampling {
  sampler: Sampler
  holders: Holders
  vaults: Vaults
  end: Slice['end']
}

/** What a node says of vaults, stakes and holders that are due. */
async function sampled(pool: pg.Pool, { sampler, holders, vaults, end }: Sampling): Promise<Sampled[]> {
  const now = { least: end.slot, time: end.time }
  // First: that all were read is said after what was read before is stored.
  const holding = await holders.read(vaults, now).catch(unlessUnavailable)
  const states = await sampler.read(sampler.due(vaults, end.time), vaults, now).catch(unlessUnavailable)
  const read = [...holding, ...states]
  await keepRefusals(pool, read)
  return read
}

/** Without what is stored: a sample can wait for a node that answers. */
function unlessUnavailable(error: unknown): Sampled[] {
  if (!(error instanceof UnavailableError)) throw error
  log.warn({ network: SOLANA.name, error: error.message }, 'nothing could be sampled')
  return []
}

function assertFollows({ blocks }: Slice, cursor: { height: number; hash: string }, source: SvmSource): void {
  const [first] = blocks
  // After a rewind the hash of the slot that stays is not known.
  const isKnown = cursor.height >= 0 && cursor.hash !== '0x'
  if (source.isFiltered || !first || !isKnown || first.parentHash === cursor.hash) return
  throw new SvmForkError(
    `Solana's slot ${first.slot} stands on ${first.parentHash}, and the final slot ${cursor.height} is stored as ${cursor.hash}. ` +
      'Nothing was changed. Look whether RPC_SOLANA is a node of the same cluster.',
  )
}

/** What a node said of a slot comes after all else of it. */
function withSamples(
  blocks: readonly BlockEvents[],
  pending: readonly Sampled[],
  end: Slice['end'],
): BlockEvents[] {
  const all = blocks.some(({ block }) => block.number === end.slot)
    ? blocks
    : [...blocks, { block: refOf(end), events: [] }]
  return all.map(({ block, events }) => ({
    block,
    events: [...events, ...pending.filter(({ slot }) => slot === block.number).flatMap(each => each.events)],
  }))
}

const refOf = ({ slot, hash, time }: Slice['end']) => ({ number: slot, hash, timestamp: time })
