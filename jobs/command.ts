import { ClickHouseError } from '@clickhouse/client'
import { InvalidArgumentError } from 'commander'
import { type Env, readEnv } from '../db/process/env.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { onInterrupt } from '../db/process/shutdown.ts'
import { assertReadModels } from '../db/read-models.ts'
import { type EventStore, openEventStore, openStores, type Stores } from '../db/stores.ts'

/** An option's or argument's whole number of 0 or more. */
export function integer(value: string): number {
  const number = Number(value)
  // Number('') is 0: a variable of a script that is not set would be the first block.
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError('must be a whole number of 0 or more.')
  return number
}

/** An option's seconds, a tenth or more. */
export function seconds(value: string): number {
  const number = Number(value)
  if (!(number >= 0.1 && number <= 86_400)) throw new InvalidArgumentError('must be seconds, 0.1 or more.')
  return number
}

/**
 * Opens both databases for one command, runs it, closes them. Read models that are not those of the checkpoints are an
 * error with its cure, unless the command is for that.
 */
export function withStores(work: Work<Stores>, { mayBeLost = false } = {}): Promise<void> {
  return withOpen(openStores, async (stores, signal) => {
    if (!mayBeLost) await assertReadModels({ pool: stores.pool, clickhouse: stores.clickhouse.client })
    return work(stores, signal)
  })
}

/** The same with Postgres alone: what asks nothing of ClickHouse is there when ClickHouse is not. */
export function withEventStore(work: Work<EventStore>): Promise<void> {
  return withOpen(openEventStore, work)
}

type Work<S> = (stores: S, signal: AbortSignal) => Promise<number | undefined>

/** Of files and folders: what the system says of them is enough. */
const OF_FILES = ['ENOENT', 'EACCES', 'EISDIR', 'ENOTDIR', 'ENOSPC', 'EROFS', 'EPERM']

/** Errors of ours are one line, and what ClickHouse or the file system answers is; others keep their stack. */
function describe(error: unknown): string {
  if (error instanceof VaultlogError) return error.message
  if (error instanceof ClickHouseError) return `ClickHouse answers: ${error.message.trim()} (${error.type})`
  const { code, message, stack } = error as NodeJS.ErrnoException
  return OF_FILES.includes(code ?? '') ? message : (stack ?? String(error))
}

async function withOpen<S extends EventStore>(
  open: (env: Env, name: string) => Promise<S>,
  work: Work<S>,
): Promise<void> {
  const interrupt = new AbortController()
  onInterrupt(() => interrupt.abort())
  let stores: S | undefined
  try {
    stores = await open(readEnv(), 'cli')
    process.exitCode = (await work(stores, interrupt.signal)) ?? 0
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`)
    process.exitCode = 1
  } finally {
    await stores?.close()
  }
}

/** For commands that ask a node of the chain. */
export const NODE_OPTION = ['--rpc <url>', 'node that knows the chain, RPC_<NETWORK> unless told'] as const

/** A line for whoever runs the command. */
export const print = (text: string) => process.stdout.write(`${text}\n`)
