import { Counter, Gauge, Histogram } from 'prom-client'
import type { Committed } from '../db/events/chain-database.ts'
import type { SamplingRound } from '../db/events/sample-budgets.ts'
import { onScrape, registry } from '../db/process/metrics.ts'
import { HOUR } from '../db/units.ts'

const registers = [registry]
const labelNames = ['chain'] as const

const headBlock = new Gauge({
  name: 'vaultlog_chain_head_block',
  help: 'Newest block that is stored, by its number',
  labelNames,
  registers,
})
const headTime = new Gauge({
  name: 'vaultlog_chain_head_timestamp_seconds',
  help: 'Time of the newest block that is stored, unix seconds',
  labelNames,
  registers,
})
const lag = new Gauge({
  name: 'vaultlog_chain_lag_seconds',
  help: 'Now less the time of the newest block that is stored',
  labelNames,
  registers,
})
const eventsAppended = new Counter({
  name: 'vaultlog_events_appended_total',
  help: 'Events appended to the event store, retractions not counted',
  labelNames,
  registers,
})
const blocksRetracted = new Counter({
  name: 'vaultlog_blocks_retracted_total',
  help: 'Blocks with events that a reorg replaced',
  labelNames,
  registers,
})
const commitDuration = new Histogram({
  name: 'vaultlog_commit_duration_seconds',
  help: 'One batch of the processor: decoding, state samples, and the transaction of append and cursor',
  labelNames,
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  registers,
})

/** Logs and state reads that gave no event. */
export const deadLetters = new Counter({
  name: 'vaultlog_dead_letters_total',
  help: 'Dead letters met by the processor, repeated ones and those that are only counted too',
  labelNames: ['chain', 'stage'] as const,
  registers,
})

/** `result`: equal, different, unanswered (the other endpoint has no state of the block, or is away), left out (too many waited). */
export const crossChecks = new Counter({
  name: 'vaultlog_cross_checks_total',
  help: 'State reads that another endpoint was asked about, too, by result',
  labelNames: ['chain', 'result'] as const,
  registers,
})

/** Over the budget of inspections. */
const waitingContracts = new Gauge({
  name: 'vaultlog_waiting_contracts',
  help: 'Contracts that may be vaults and wait for their turn to be looked at',
  labelNames,
  registers,
})

/** Over the budget of logs. */
const leftOutContracts = new Gauge({
  name: 'vaultlog_left_out_contracts',
  help: 'Contracts, by day, that logged so much that some of it is left out until the day is over',
  labelNames,
  registers,
})

/** Those that were there first are sampled every hour, whatever it is. */
const samplingInterval = new Gauge({
  name: 'vaultlog_sampling_interval_seconds',
  help: 'Time between two turns in which vaults that nobody listed are sampled, by standing; 3600: nobody waits',
  labelNames: ['chain', 'standing'] as const,
  registers,
})

/** `reason`: the code of the error, or `unavailable` for what a dependency threw. */
export const sourceRestarts = new Counter({
  name: 'vaultlog_source_restarts_total',
  help: 'Runs of the source that ended and were begun again',
  labelNames: ['chain', 'reason'] as const,
  registers,
})

const heads = new Map<string, number>()
onScrape([lag], () => () => {
  for (const [chain, time] of heads) lag.set({ chain }, Math.max(0, Date.now() / 1000 - time))
})

export function observeBudgets(
  chain: string,
  {
    waiting = 0,
    leftOut = 0,
    rounds,
  }: { waiting?: number | undefined; leftOut?: number | undefined; rounds: readonly SamplingRound[] },
): void {
  waitingContracts.set({ chain }, waiting)
  leftOutContracts.set({ chain }, leftOut)
  for (const { standing, hours } of rounds) samplingInterval.set({ chain, standing }, hours * HOUR)
}

export function observeCommit(chain: string, committed: Committed): void {
  headBlock.set({ chain }, committed.headBlock)
  if (committed.headTime > 0) {
    headTime.set({ chain }, committed.headTime)
    heads.set(chain, committed.headTime)
  }
  eventsAppended.inc({ chain }, committed.appended)
  blocksRetracted.inc({ chain }, committed.retracted)
  commitDuration.observe({ chain }, committed.seconds)
}
