import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, test } from 'vitest'
import { z } from 'zod'
import type { RawLog } from '../processors/protocol.ts'

/** Recorded chain data; but for the receipts they are no part of the repository. */
export const RECORDINGS = process.env.RECORDINGS_DIR ?? join(import.meta.dirname, '../../shared/data')

/** A suite over recordings: skipped where they are absent, and says so. */
export function describeRecorded(name: string, suite: () => void): void {
  if (existsSync(RECORDINGS)) {
    describe(name, suite)
    return
  }
  console.warn(`Skipped «${name}»: no recordings in ${RECORDINGS} (RECORDINGS_DIR).`)
  describe.skip(name, () => test('needs the recordings', () => {}))
}

const hex = z.string().regex(/^0x[0-9a-f]*$/)
const rpcLog = z.object({
  address: hex,
  topics: z.array(hex),
  data: hex,
  logIndex: hex.transform(Number),
  transactionHash: hex,
})
const rpcReceipt = z.object({
  blockNumber: hex.transform(Number),
  transactionHash: hex,
  logs: z.array(rpcLog),
})

export type RecordedReceipt = z.infer<typeof rpcReceipt> & { chainId: number }

/** Receipts of real transactions of ten chains, with what a decoder reads of their logs. */
export function recordedReceipts(): RecordedReceipt[] {
  const text = gunzipSync(readFileSync(join(import.meta.dirname, 'fixtures/receipts.jsonl.gz'))).toString(
    'utf8',
  )
  const line = z.object({ chainId: z.number(), receipt: rpcReceipt })
  return text
    .trim()
    .split('\n')
    .map(json => {
      const { chainId, receipt } = line.parse(JSON.parse(json))
      return { chainId, ...receipt }
    })
}

/** The logs of one complete block, in order. */
export function recordedBlockLogs(chain: string, number: number): RawLog[] {
  const file = join(RECORDINGS, 'whole-blocks', chain, String(number), 'receipts.json')
  return z
    .array(rpcReceipt)
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .flatMap(receipt => receipt.logs)
}

export const WHOLE_BLOCKS = [
  ['ethereum', 1000000],
  ['ethereum', 4369999],
  ['ethereum', 18000000],
  ['ethereum', 18500000],
  ['polygon', 50000000],
  ['arbitrum', 150000000],
] as const
