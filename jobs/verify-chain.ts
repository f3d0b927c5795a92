import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { UnavailableError, VaultlogError } from '../db/process/errors.ts'
import { LOADER, scriptOf } from '../db/process/script.ts'

const sum = z.object({ events: z.number(), checksum: z.string() })

/** What processors/checking/verify.ts says of a range of blocks. */
const rangeSchema = z.object({
  from: z.number(),
  to: z.number(),
  chain: sum,
  store: sum,
  equal: z.boolean(),
  differences: z.array(z.string()),
})
export type RangeAnswer = z.infer<typeof rangeSchema>

export interface ChainRange {
  rpc?: string
  from?: number
  to?: number
}

class ComparisonInterrupted extends VaultlogError {
  readonly code = 'COMPARISON_INTERRUPTED'
  constructor() {
    super('Interrupted. What is above was compared, what comes after it was not.')
  }
}

interface Stores {
  DATABASE_URL: string
  CLICKHOUSE_URL?: string | undefined
}

const commonSchema = z.object({ common: z.number().optional(), different: z.number().optional() })

/**
 * Compares the store's events of a network with the chain's own logs, range by range. Decoding is the processors'
 * part, so one of their processes does it, on the stores that this one has open.
 */
export function verifyChain(
  network: string,
  range: ChainRange,
  stores: Stores,
  onRange: (range: RangeAnswer) => void,
  signal: AbortSignal,
): Promise<void> {
  const args = (['rpc', 'from', 'to'] as const).flatMap(name =>
    range[name] === undefined ? [] : [`--${name}`, String(range[name])],
  )
  return askProcessor(network, args, stores, line => onRange(rangeSchema.parse(line)), signal)
}

/** The newest stored block that the chain has, and the oldest that it has not. */
export async function commonBlock(
  network: string,
  { rpc }: { rpc?: string },
  stores: Stores,
  signal: AbortSignal,
): Promise<z.infer<typeof commonSchema>> {
  let answer: z.infer<typeof commonSchema> = {}
  const args = ['--common', ...(rpc ? ['--rpc', rpc] : [])]
  await askProcessor(
    network,
    args,
    stores,
    line => {
      answer = commonSchema.parse(line)
    },
    signal,
  )
  return answer
}

/** The hash that the chain has of a block; undefined where the node has no such block. */
export async function hashOfBlock(
  network: string,
  block: number,
  { rpc }: { rpc?: string },
  stores: Stores,
  signal: AbortSignal,
): Promise<string | undefined> {
  let hash: string | undefined
  const args = ['--hash-of', String(block), ...(rpc ? ['--rpc', rpc] : [])]
  await askProcessor(
    network,
    args,
    stores,
    line => {
      hash = z.object({ hash: z.string().optional() }).parse(line).hash
    },
    signal,
  )
  return hash
}

/** What processors/checking/verify.ts prints, line by line. */
async function askProcessor(
  network: string,
  args: readonly string[],
  { DATABASE_URL, CLICKHOUSE_URL }: Stores,
  onLine: (line: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(
    process.execPath,
    [...LOADER, scriptOf('processors/checking/verify'), network, ...args],
    {
      env: { ...process.env, DATABASE_URL, ...(CLICKHOUSE_URL ? { CLICKHOUSE_URL } : {}) },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    },
  )
  // Ended by the signal it says so as an error, too.
  child.once('error', () => {})
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-4000)
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  try {
    for await (const line of createInterface({ input: child.stdout })) onLine(JSON.parse(line))
  } finally {
    child.kill()
  }
  const code = await ended
  if (signal.aborted) throw new ComparisonInterrupted()
  if (code !== 0)
    throw new UnavailableError(`${network} could not be compared with its chain: ${errors.trim()}`)
}

/** Prints ranges as they come: of one that fails after hours, what was found until then is known. */
export function rangePrinter(print: (text: string) => void): {
  add(range: RangeAnswer): void
  /** Prints the totals, and gives how many ranges differ. */
  close(range: ChainRange): number
} {
  const head = ['from', 'to', 'events', 'on the chain', 'checksum', 'of the chain', '']
  // As wide as any of them can be: the next one is not known yet.
  const widths = [12, 12, 12, 12, 32, 32]
  const line = (cells: (string | number)[]) =>
    cells
      .map((cell, i) => String(cell).padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd()
  let [compared, different, last] = [0, 0, -1]
  return {
    add({ from, to, store, chain, equal, differences }) {
      if (compared++ === 0) print(line(head))
      if (!equal) different++
      last = to
      print(
        line([
          from,
          to,
          store.events,
          chain.events,
          store.checksum,
          chain.checksum,
          equal ? 'equal' : 'DIFFERENT',
        ]),
      )
      for (const difference of differences) print(difference)
    },
    close({ to }) {
      if (to !== undefined && last >= 0 && last < to)
        print(`Not compared: blocks ${last + 1} to ${to}, which are not final in the store.`)
      print(different === 0 ? `All ${compared} ranges equal.` : `${different} of ${compared} ranges differ.`)
      return different
    },
  }
}
