import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { storeDeadLetters } from '../../db/dead-letters.ts'
import { readLogBudgets } from '../../db/events/log-budgets.ts'
import { readOlderSources } from '../../db/events/older-logs.ts'
import { readWaiting } from '../../db/events/waiting-contracts.ts'
import { isBackfilling, readFirstBlock } from '../../db/events/watched-sources.ts'
import { type Network, type NetworkId, networkIds } from '../../db/networks.ts'
import type { Env } from '../../db/process/env.ts'
import { log } from '../../db/process/log.ts'
import { createDecoder } from '../handling/decode.ts'
import { type CompletenessOptions, compareRange, type RangeComparison } from '../knowledge/completeness.ts'
import { configuredContracts } from '../knowledge/contracts-file.ts'
import { KnownContracts } from '../knowledge/known-contracts.ts'
import { RegistryWatch } from '../knowledge/registry-watch.ts'
import { loadProtocols } from '../load-protocols.ts'
import { readFeeds, withFeeds } from '../prices/feeds.ts'
import { assertComparable } from '../source/right-chain.ts'
import { openChainRpc } from '../source/rpc.ts'

/** Blocks compared at once. */
export const RECHECK_BLOCKS = 10_000
/** A contract discovered between two questions looks like a difference: what differs is looked at once more. */
const SECOND_LOOK_MS = 2_000

/** Everything that a comparison needs, as the processor of the network would have it. */
export async function openCompleteness(
  pool: pg.Pool,
  network: Network,
  rpcUrls: readonly string[],
  env: Pick<Env, 'CONTRACTS_FILE'>,
): Promise<CompletenessOptions> {
  const rpc = openChainRpc(rpcUrls)
  await assertComparable(rpc, network)
  const configured = await configuredContracts(env.CONTRACTS_FILE, network.name)
  const options = {
    network,
    protocols: await loadProtocols(),
    ...(configured ? { contracts: configured } : {}),
  }
  const protocols = withFeeds(options, await readFeeds(options, rpc))
  const decoder = createDecoder(protocols, network.name)
  const contracts = new KnownContracts(protocols)
  // Of a contract whose logs are still being fetched, or that waits to be looked at, they would look like a difference.
  const unfinished = [
    ...(await readOlderSources(pool, network.chainId)),
    ...(await readWaiting(pool, network.chainId)),
    ...(await readLogBudgets(pool, network.chainId)).filter(({ leftOutFrom }) => leftOutFrom !== undefined),
  ].map(({ contract }) => contract)
  const ignored = (await RegistryWatch.open(pool, network.chainId)).ignored
  contracts.ignore(new Set([...ignored, ...unfinished]))
  contracts.watchSources(decoder.sources(configured))
  await contracts.load(pool, network.chainId)
  return {
    pool,
    stream: network.chainId,
    rpc,
    decoder,
    contracts,
    unfinished: [...new Set(unfinished)].filter(contract => !ignored.has(contract)).sort(),
  }
}

/** compareRange, and again where it differs. */
export async function compareTwice(
  open: () => Promise<CompletenessOptions>,
  from: number,
  to: number,
): Promise<RangeComparison> {
  const found = await compareRange(await open(), from, to)
  if (found.equal) return found
  await sleep(SECOND_LOOK_MS)
  return compareRange(await open(), from, to)
}

/** The newest block that is final in the store; -1 before the first. */
export async function finalBlock(pool: pg.Pool, stream: number): Promise<number> {
  const { rows } = await pool.query<{ final_height: number }>(
    'SELECT final_height FROM stream WHERE id = $1',
    [stream],
  )
  return rows[0]?.final_height ?? -1
}

/**
 * Compares the final blocks that have not been compared yet with the chain, at most RECHECK_BLOCKS of them, and keeps
 * the result; a difference is a dead letter. The first time it begins that far below the newest final block. Gives
 * undefined where there is nothing new.
 */
export async function recheckNext(
  pool: pg.Pool,
  network: Network,
  rpcUrls: readonly string[],
  env: Pick<Env, 'CONTRACTS_FILE'>,
): Promise<RangeComparison | undefined> {
  const stream = network.chainId
  // Half a history would look like a difference.
  if (await isBackfilling(pool, stream)) return undefined
  const final = await finalBlock(pool, stream)
  const { rows } = await pool.query<{ done: number | null }>(
    'SELECT max(to_block) AS done FROM completeness WHERE stream = $1 AND to_block <= $2',
    [stream, final],
  )
  const first = Math.max((await readFirstBlock(pool, stream)) ?? 0, final - RECHECK_BLOCKS + 1)
  const from = Math.max((rows[0]?.done ?? first - 1) + 1, 0)
  const to = Math.min(final, from + RECHECK_BLOCKS - 1)
  if (from > to) return undefined
  const found = await compareTwice(() => openCompleteness(pool, network, rpcUrls, env), from, to)
  await keep(pool, network, found)
  return found
}

async function keep(pool: pg.Pool, network: Network, found: RangeComparison): Promise<void> {
  const { from, to, chain, store, equal, leftOut, differences } = found
  await pool.query(
    `INSERT INTO completeness (stream, from_block, to_block, chain_events, chain_checksum, store_events, store_checksum, is_equal, differences, left_out)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     ON CONFLICT (stream, from_block, to_block) DO UPDATE SET chain_events = excluded.chain_events,
       chain_checksum = excluded.chain_checksum, store_events = excluded.store_events, store_checksum = excluded.store_checksum,
       is_equal = excluded.is_equal, differences = excluded.differences, left_out = excluded.left_out, checked_at = clock_timestamp()`,
    [
      network.chainId,
      from,
      to,
      chain.events,
      chain.checksum,
      store.events,
      store.checksum,
      equal,
      JSON.stringify(differences),
      leftOut,
    ],
  )
  const facts = { network: network.name, from, to, chain: chain.events, store: store.events }
  if (equal) {
    log.info(facts, 'the store has what the chain has')
    return
  }
  log.error({ ...facts, differences }, 'the store differs from the chain')
  const reason = `blocks ${from} to ${to} differ from the chain: ${differences[0] ?? ''}`
  await storeDeadLetters(pool, [
    { stage: 'verify', stream: network.chainId, block: from, reason, payload: found },
  ])
}

/**
 * Milliseconds from the start to a network's first comparison. Those of all networks are spread evenly over the time between two of one:
 * done in the same moment, with thousands of contracts each, they kept all processors busy for seconds, and blocks at the head waited.
 */
export const untilFirstRecheck = (minutes: number, { name }: Pick<NetworkId, 'name'>): number =>
  (minutes * 60_000 * (1 + networkIds.findIndex(network => network.name === name))) / networkIds.length

/** Compares what has become final with the chain, every so many minutes, until stopped. */
export function startRecheck(
  minutes: number,
  network: Network,
  next: () => Promise<RangeComparison | undefined>,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const loop = async () => {
    let pause = untilFirstRecheck(minutes, network)
    while (minutes > 0 && !signal.aborted) {
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
      pause = minutes * 60_000
      // Ranges that piled up meanwhile follow each other.
      while (!signal.aborted) {
        const found = await next().catch((error: Error) => {
          log.warn(
            { error: error.message },
            'final blocks could not be compared with the chain, trying again later',
          )
          return undefined
        })
        if (!found || found.to - found.from + 1 < RECHECK_BLOCKS) break
      }
    }
  }
  const running = loop()
  return {
    async stop() {
      stopping.abort()
      // A comparison under way changes nothing that its end would have to wait for.
      await Promise.race([running, sleep(1000)])
    },
  }
}
