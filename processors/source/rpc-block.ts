import { UnavailableError } from '../../db/process/errors.ts'
import type { Subscription } from '../handling/decode.ts'
import { lowerHex } from './rpc-values.ts'

/** What is used of a block as evm-processor hands it out, from a gateway or by RPC; timestamp in milliseconds. */
export interface SqdBlock {
  header: { height: number; hash: string; parentHash: string; timestamp: number }
  logs: { address: string; topics: string[]; data: string; logIndex: number; transactionHash: string }[]
  transactions: { hash: string; to?: string | undefined; input: string }[]
}

/** Without `parentHash` where the header was not asked for: the block's logs said the rest. */
export type FinalBlock = Omit<SqdBlock, 'header'> & {
  header: Omit<SqdBlock['header'], 'parentHash'> & { parentHash?: string }
}

/** A log as a node gives it. */
export interface RpcLog {
  address: string
  topics: string[]
  data: string
  logIndex: string
  transactionHash: string
}

interface Wanted {
  addresses: ReadonlySet<string> | undefined
  transaction: boolean
}

/** Says of logs whether they are subscribed to, and whether with their transaction. */
export function openLogSelector(
  subscriptions: readonly Partial<Subscription>[],
): (topic0: string | undefined, address: string) => { transaction: boolean } | undefined {
  const byTopic = new Map<string, Wanted[]>()
  const ofAnyTopic: Wanted[] = []
  for (const { topic0, address, transaction = false } of subscriptions) {
    const addresses = address && new Set(address.map(lower))
    if (!topic0) ofAnyTopic.push({ addresses, transaction })
    for (const topic of new Set(topic0?.map(lower)))
      byTopic.set(topic, [...(byTopic.get(topic) ?? []), { addresses, transaction }])
  }
  for (const wanted of byTopic.values()) wanted.push(...ofAnyTopic)

  return (topic0, address) => {
    const wanted = (topic0 !== undefined && (byTopic.get(topic0) ?? byTopic.get(lower(topic0)))) || ofAnyTopic
    let selected: typeof ALONE | undefined
    for (const { addresses, transaction } of wanted) {
      if (addresses && !addresses.has(address) && !addresses.has(lower(address))) continue
      if (transaction) return WITH_TRANSACTION
      selected = ALONE
    }
    return selected
  }
}

const ALONE = { transaction: false }
const WITH_TRANSACTION = { transaction: true }

/**
 * Takes from all the logs of a block what is subscribed to, as evm-processor's own mapping does, and says whose transactions
 * are wanted with them. That one makes objects with weak references to one another of everything in a block first: more
 * work than all the rest of indexing it.
 */
export function openLogReader(
  subscriptions: readonly Partial<Subscription>[],
): (found: readonly RpcLog[]) => { logs: SqdBlock['logs']; withTransaction: ReadonlySet<string> } {
  const select = openLogSelector(subscriptions)
  return found => {
    const logs: SqdBlock['logs'] = []
    const withTransaction = new Set<string>()
    for (const log of found) {
      const selected = select(log.topics[0], log.address)
      if (!selected) continue
      const transactionHash = hex(log.transactionHash)
      logs.push({
        address: hex(log.address),
        topics: log.topics.map(hex),
        data: hex(log.data),
        logIndex: Number(hex(log.logIndex)),
        transactionHash,
      })
      if (selected.transaction) withTransaction.add(transactionHash)
    }
    return { logs, withTransaction }
  }
}

const lower = (text: string) => text.toLowerCase()

function hex(value: unknown): string {
  const text = lowerHex(value)
  if (text !== undefined) return text
  throw new UnavailableError(`The node gave ${JSON.stringify(value)?.slice(0, 80)} where hex is expected.`)
}
