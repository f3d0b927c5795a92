import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { storeDeadLetters } from '../../db/dead-letters.ts'
import { cleanText } from '../../db/events/event-json.ts'
import type { Network } from '../../db/networks.ts'
import { log } from '../../db/process/log.ts'
import { steadyNow } from '../../db/process/steady.ts'
import { DAY } from '../../db/units.ts'
import { deadLetters } from '../metrics.ts'
import type { RawLog } from '../protocol.ts'
import type { DeadLetter } from './block.ts'

/** Letters that are kept of a contract, of one stage and day of the chain; what comes after them is counted. */
const KEPT = 10
/** And of all contracts together: there may be any number of them. */
const KEPT_OF_ALL = 1_000
/** Bytes of a log's data that are kept: a letter of a megabyte costs who logs it cents. The whole log is on the chain. */
const KEPT_BYTES = 4_096
/** Contracts and days that are remembered at most, and days of all contracts. */
const REMEMBERED = 10_000
const REMEMBERED_DAYS = 100
/** Milliseconds within which the log has no second line of a stage and contract. */
const SAY_AGAIN = 3_600_000

type Kept = LRUCache<string, Set<string>>

interface Counted {
  letter: DeadLetter
  times: number
}

/** Keeps what gave no event for the operator: anybody can deploy a contract that makes thousands a block. */
export class DeadLetterBox {
  private readonly pool: pg.Pool
  private readonly network: Network
  /** Identities of the letters that are kept, by stage, contract and day. */
  private readonly kept: Kept = new LRUCache({ max: REMEMBERED })
  /** The same of all contracts together, by stage and day: however many contracts there are, it is not forgotten for them. */
  private readonly keptOfAll: Kept = new LRUCache({ max: REMEMBERED_DAYS })
  /** When the log had one of that stage and contract. */
  private readonly said = new LRUCache<string, number>({ max: REMEMBERED })

  constructor(pool: pg.Pool, network: Network) {
    this.pool = pool
    this.network = network
  }

  async keep(letters: readonly DeadLetter[]): Promise<void> {
    const { chainId: stream, name: chain } = this.network
    const list = new Map<string, Counted>()
    for (const raw of letters) {
      // Quotes of what contracts say may end amid a character.
      const letter = { ...raw, reason: cleanText(raw.reason) }
      deadLetters.inc({ chain, stage: letter.stage })
      const { letter: one, isNew } = this.kindOf(letter)
      const key = JSON.stringify([one.stage, one.contract, identity(one)])
      const known = list.get(key)
      if (known) known.times++
      else list.set(key, { letter: one, times: 1 })
      if (!isNew) continue
      const { stage, block, contract, reason } = one
      log[this.isFirst(one) ? 'warn' : 'debug'](
        { stage, stream, block: block.number, logIndex: one.log?.logIndex, contract, reason },
        'dead letter: `vaultlog deadletters` lists it, and those of this contract that follow in the next hour',
      )
    }
    await storeDeadLetters(
      this.pool,
      [...list.values()].map(({ letter: { stage, block, contract, reason, log: raw, keptFrom }, times }) => ({
        stage,
        stream,
        block: block.number,
        hash: block.hash || undefined,
        tx: raw?.transactionHash,
        logIndex: raw?.logIndex,
        contract,
        reason,
        payload: raw ? payloadOf(raw) : keptFrom === undefined ? {} : { keptFrom },
        attempts: times,
      })),
    )
  }

  /** Of its contract and stage, within an hour: a line of the log for each would bury all others. */
  private isFirst({ stage, contract }: DeadLetter): boolean {
    const key = `${stage} ${contract}`
    const now = steadyNow()
    if (now - (this.said.get(key) ?? Number.NEGATIVE_INFINITY) < SAY_AGAIN) return false
    this.said.set(key, now)
    return true
  }

  /** The letter itself, or the one that counts those of its contract and day which are not kept, or of the day. */
  private kindOf(letter: DeadLetter): { letter: DeadLetter; isNew: boolean } {
    const { stage, block, contract } = letter
    const day = Math.floor(block.timestamp / DAY)
    const date = Number.isFinite(day) ? new Date(day * DAY * 1000).toISOString().slice(0, 10) : 'one day'
    const own = admit(this.kept, `${stage} ${contract} ${day}`, identity(letter), KEPT)
    const all =
      own === 'over'
        ? own
        : admit(this.keptOfAll, `${stage} ${day}`, `${contract} ${identity(letter)}`, KEPT_OF_ALL)
    if (all !== 'over') return { letter, isNew: all === 'new' }
    const [most, of] = own === 'over' ? [KEPT, contract] : [KEPT_OF_ALL, '']
    const reason = `more than ${most} on ${date}: this counts the others, which are not kept`
    const counting = { stage, block: { ...block, hash: '' }, contract: of, reason }
    const isFirst = admit(this.kept, `${stage} ${of} ${day} counted`, '', 1) === 'new'
    return { letter: counting, isNew: isFirst }
  }
}

/** `bytes`: how many the data has, where not all of them are kept. */
function payloadOf({ topics, data }: RawLog): { topics: string[]; data: string; bytes?: number } {
  const bytes = (data.length - 2) / 2
  if (bytes <= KEPT_BYTES) return { topics, data }
  return { topics, data: data.slice(0, 2 + KEPT_BYTES * 2), bytes }
}

/** Whether a letter is among those that are kept of a kind. */
function admit(all: Kept, kind: string, letter: string, most: number): 'new' | 'known' | 'over' {
  const kept = all.get(kind) ?? new Set()
  all.set(kind, kept)
  if (kept.has(letter)) return 'known'
  if (kept.size >= most) return 'over'
  kept.add(letter)
  return 'new'
}

const identity = ({ block, log: raw, reason }: DeadLetter) => `${block.hash} ${raw?.logIndex ?? ''} ${reason}`
