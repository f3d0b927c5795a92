import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { UnavailableError } from '../db/process/errors.ts'

const sum = z.object({ events: z.number(), checksum: z.string() })

/** What processors/verify.ts says of a range of blocks. */
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

/**
 * Compares the store's events of a network with the chain's own logs, range by range. Decoding is the processors'
 * part, so one of their processes does it, on the stores that this one has open.
 */
export async function verifyChain(
  network: string,
  range: ChainRange,
  { DATABASE_URL, CLICKHOUSE_URL }: { DATABASE_URL: string; CLICKHOUSE_URL: string },
  onRange: (range: RangeAnswer) => void,
): Promise<void> {
  const args = (['rpc', 'from', 'to'] as const).flatMap(name =>
    range[name] === undefined ? [] : [`--${name}`, String(range[name])],
  )
  const child = spawn(process.execPath, ['--import', 'tsx', 'processors/verify.ts', network, ...args], {
    env: { ...process.env, DATABASE_URL, CLICKHOUSE_URL },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-4000)
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  for await (const line of createInterface({ input: child.stdout }))
    onRange(rangeSchema.parse(JSON.parse(line)))
  const code = await ended
  if (code !== 0 && code !== 1)
    throw new UnavailableError(`${network} could not be compared with its chain: ${errors.trim()}`)
}
