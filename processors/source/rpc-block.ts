import { UnavailableError } from '../../db/process/errors.ts'
import type { Subscription } from '../handling/decode.ts'

/** What is used of a block as evm-processor hands it out, from a gateway or by RPC; timestamp in milliseconds. */
export interface SqdBlock {
  header: { height: number; hash: string; parentHash: string; timestamp: number }
  logs: { address: string; topics: string[]; data: string; logIndex: number; transactionHash: string }[]
  transactions: { hash: string; to?: string | undefined; input: string }[]
}

/** A block with all its logs as evm-processor's RPC client gives it: it has checked that the logs are the block's. */
export interface RpcBlock {
  height: number
  block: { hash: string; parentHash: string; timestamp: string; transactions: (RpcTransaction | string)[] }
  logs?: RpcLog[]
}

interface RpcTransaction {
  hash: string
  to?: string | null
  input: string
}

interface RpcLog {
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
    const wanted = (topic0 !== undefined && byTopic.get(lower(topic0))) || ofAnyTopic
    if (wanted.length === 0) return undefined
    const contract = lower(address)
    const meant = wanted.filter(({ addresses }) => !addresses || addresses.has(contract))
    return meant.length > 0 ? { transaction: meant.some(({ transaction }) => transaction) } : undefined
  }
}

/**
 * Takes from blocks what is subscribed to, as evm-processor's own mapping does. That one makes objects with weak
 * references to one another of everything in a block first: more work than all the rest of indexing it.
 */
export function openBlockReader(
  subscriptions: readonly Partial<Subscription>[],
): (block: RpcBlock) => SqdBlock {
  const select = openLogSelector(subscriptions)
  return ({ height, block, logs: found = [] }) => {
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
    const transactions: SqdBlock['transactions'] = []
    for (const transaction of withTransaction.size > 0 ? block.transactions : []) {
      if (typeof transaction === 'string' || !withTransaction.has(lower(transaction.hash))) continue
      const { hash, to, input } = transaction
      transactions.push({ hash: hex(hash), to: to ? hex(to) : undefined, input: hex(input) })
    }
    const timestamp = Number(hex(block.timestamp)) * 1000
    return {
      header: { height, hash: hex(block.hash), parentHash: hex(block.parentHash), timestamp },
      logs,
      transactions,
    }
  }
}

const lower = (text: string) => text.toLowerCase()

function hex(value: unknown): string {
  if (typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value)) return value.toLowerCase()
  throw new UnavailableError(`The node gave ${JSON.stringify(value)?.slice(0, 80)} where hex is expected.`)
}
