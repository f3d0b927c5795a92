import type pg from 'pg'
import { log } from '../../db/process/log.ts'
import type { Network } from '../chains.ts'
import { deadLetters } from '../metrics.ts'
import type { DeadLetter } from './block.ts'

/** Letters that are kept of a contract, of one stage and day of the chain; what comes after them is counted. */
const KEPT = 10
const DAY = 86_400
/** Contracts and days that are remembered at most. */
const REMEMBERED = 10_000

interface Counted {
  letter: DeadLetter
  times: number
}

/** Keeps what gave no event for the operator: anybody can deploy a contract that makes thousands a block. */
export class DeadLetterBox {
  private readonly pool: pg.Pool
  private readonly network: Network
  /** Identities of the letters that are kept, by stage, contract and day. */
  private readonly kept = new Map<string, Set<string>>()

  constructor(pool: pg.Pool, network: Network) {
    this.pool = pool
    this.network = network
  }

  async keep(letters: readonly DeadLetter[]): Promise<void> {
    const { chainId: stream, name: chain } = this.network
    const list = new Map<string, Counted>()
    for (const letter of letters) {
      deadLetters.inc({ chain, stage: letter.stage })
      const { letter: one, isNew } = this.kindOf(letter)
      const key = JSON.stringify([one.stage, one.contract, identity(one)])
      const known = list.get(key)
      if (known) known.times++
      else list.set(key, { letter: one, times: 1 })
      if (!isNew) continue
      const { stage, block, contract, reason } = one
      log.warn(
        { stage, stream, block: block.number, logIndex: one.log?.logIndex, contract, reason },
        'dead letter',
      )
    }
    await this.pool.query(
      `INSERT INTO dead_letter (stage, stream, block_number, block_hash, tx_hash, log_index, contract, reason, payload, attempts)
       SELECT l->>'stage', $1, (l->>'block')::bigint, l->>'hash', l->>'tx', (l->>'logIndex')::bigint, l->>'contract', l->>'reason',
         l->'payload', (l->>'times')::int
       FROM jsonb_array_elements($2::jsonb) l
       ON CONFLICT (stage, stream, coalesce(block_hash, ''), coalesce(log_index, -1), coalesce(contract, ''), md5(reason))
       DO UPDATE SET attempts = dead_letter.attempts + excluded.attempts, last_at = clock_timestamp()`,
      [
        stream,
        JSON.stringify(
          [...list.values()].map(({ letter: { stage, block, contract, reason, log: raw }, times }) => ({
            stage,
            block: block.number,
            hash: block.hash || undefined,
            tx: raw?.transactionHash,
            logIndex: raw?.logIndex,
            contract,
            reason,
            payload: raw ? { topics: raw.topics, data: raw.data } : {},
            times,
          })),
        ),
      ],
    )
  }

  /** The letter itself, or the one that counts those of its contract and day which are not kept. */
  private kindOf(letter: DeadLetter): { letter: DeadLetter; isNew: boolean } {
    const { stage, block, contract } = letter
    const day = Math.floor(block.timestamp / DAY)
    const key = `${stage} ${contract} ${day}`
    if (this.kept.size >= REMEMBERED && !this.kept.has(key)) this.kept.clear()
    const kept = this.kept.get(key) ?? new Set()
    this.kept.set(key, kept)
    const own = identity(letter)
    if (kept.has(own)) return { letter, isNew: false }
    if (kept.size < KEPT) {
      kept.add(own)
      return { letter, isNew: true }
    }
    const isFirst = !kept.has('')
    kept.add('')
    const date = Number.isFinite(day) ? new Date(day * DAY * 1000).toISOString().slice(0, 10) : 'one day'
    const reason = `more than ${KEPT} on ${date}: this counts the others, which are not kept`
    return { letter: { stage, block: { ...block, hash: '' }, contract, reason }, isNew: isFirst }
  }
}

const identity = ({ block, log: raw, reason }: DeadLetter) => `${block.hash} ${raw?.logIndex ?? ''} ${reason}`
