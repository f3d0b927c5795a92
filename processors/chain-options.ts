import type pg from 'pg'
import type { Committed } from '../db/events/chain-database.ts'
import type { Network } from '../db/networks.ts'
import type { Protocol } from './protocol.ts'
import type { Portal } from './source/portal-client.ts'

export interface ChainProcessorOptions {
  network: Network
  protocols: readonly Protocol[]
  pool: pg.Pool
  rpcUrls: readonly string[]
  /** History comes from one of these, where there is one, and else from the node. */
  portal?: Portal
  gateway?: string
  /** Contracts by kind, besides those of the protocols' own tables. */
  contracts?: Record<string, readonly string[]>
  /** Vaults to look at from the start, whether or not an event brings them up. */
  listedVaults?: readonly string[]
  startBlock?: number
  /** Blocks of history asked for at once, when something is watched since lately. */
  backfillRange?: number
  /** Stop after this block; absent: follow the chain for ever. */
  endBlock?: number
  finality?: number
  /** Milliseconds between looks at the chain's head; unset: by the rhythm of its blocks. */
  pollInterval?: number
  /** Looks at the head for each block, in the mean, where no interval is set. */
  headLooks?: number
  /** Milliseconds until a part of what was read is asked of another endpoint. */
  crossCheckMs?: number
  samples?: boolean
  /** Contracts that strangers bring up and are looked at in an hour of the chain. */
  inspectionsPerHour?: number
  /** Logs of a vault that nobody listed that are taken with the blocks of a day. */
  logsPerDay?: number
  /** Samples of vaults that nobody listed in an hour of the chain, by standing. */
  samplesPerHour?: number
  /** Milliseconds between looks at which aggregators stand behind price feeds. */
  feedInterval?: number
  onCommit?: (committed: Committed) => void | Promise<void>
  signal?: AbortSignal
}
