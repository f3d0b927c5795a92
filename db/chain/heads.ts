import type { Env } from '../process/env.ts'
import { SOLANA } from '../streams.ts'
import { type Call, sendByHttp } from './transport.ts'

const PATIENCE_MS = 3_000

const NEWEST: Call = { method: 'eth_blockNumber', params: [] }
/** Of Solana nothing else is stored. */
const NEWEST_FINAL: Call = { method: 'getSlot', params: [{ commitment: 'finalized' }] }

/**
 * The number of the newest block of each network, of Solana its newest final slot, as the first of its nodes that answers soon says;
 * others are left out.
 */
export async function readHeads({
  rpc,
  RPC_SOLANA = [],
}: Pick<Env, 'rpc' | 'RPC_SOLANA'>): Promise<Map<string, number>> {
  const heads = await Promise.all(
    Object.entries({ ...rpc, [SOLANA.name]: RPC_SOLANA }).map(async ([name, urls]) => {
      for (const url of urls) {
        const head = await askHead(url, name === SOLANA.name ? NEWEST_FINAL : NEWEST)
        if (head !== undefined) return [[name, head] as const]
      }
      return []
    }),
  )
  return new Map(heads.flat())
}

async function askHead(url: string, call: Call): Promise<number | undefined> {
  // A node that has WebSockets alone is not opened one for a look.
  if (!/^https?:/.test(url)) return undefined
  try {
    const [answer] = await sendByHttp(url)([call], {
      timeoutMs: PATIENCE_MS,
      maxBytes: 10_000,
    })
    const head = answer && 'result' in answer ? Number(answer.result) : Number.NaN
    return Number.isSafeInteger(head) ? head : undefined
  } catch {
    return undefined
  }
}

/** Asks again no sooner than after a while, however many look: a page and a watching terminal do so every few seconds. */
export function sparingly<T>(ask: () => Promise<T>, everyMs = 10_000): () => Promise<T> {
  let asked = { at: Number.NEGATIVE_INFINITY, answer: undefined as Promise<T> | undefined }
  return () => {
    const now = performance.now()
    if (!asked.answer || now - asked.at >= everyMs) asked = { at: now, answer: ask() }
    return asked.answer as Promise<T>
  }
}
