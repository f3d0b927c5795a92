import { InvalidArgumentError } from 'commander'
import { readEnv } from '../db/process/env.ts'
import { VaultlogError } from '../db/process/errors.ts'
import { openStores, type Stores } from '../db/stores.ts'

/** An option's whole number of 0 or more. */
export function integer(value: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new InvalidArgumentError('must be a whole number of 0 or more.')
  return number
}

/** An option's seconds, a tenth or more. */
export function seconds(value: string): number {
  const number = Number(value)
  if (!(number >= 0.1 && number <= 86_400)) throw new InvalidArgumentError('must be seconds, 0.1 or more.')
  return number
}

/** Opens the databases for one command, runs it, closes them; errors of ours are one line, others keep their stack. */
export async function withStores(
  work: (stores: Stores, signal: AbortSignal) => Promise<number | undefined>,
): Promise<void> {
  const interrupt = new AbortController()
  process.once('SIGINT', () => interrupt.abort())
  process.once('SIGTERM', () => interrupt.abort())
  let stores: Stores | undefined
  try {
    stores = await openStores(readEnv(), 'cli')
    process.exitCode = (await work(stores, interrupt.signal)) ?? 0
  } catch (error) {
    process.stderr.write(`${error instanceof VaultlogError ? error.message : (error as Error).stack}\n`)
    process.exitCode = 1
  } finally {
    await stores?.close()
  }
}

/** A line for whoever runs the command. */
export const print = (text: string) => process.stdout.write(`${text}\n`)
