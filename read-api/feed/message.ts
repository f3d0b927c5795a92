import { toBase58 } from '../../db/base58.ts'
import type { StoredEvent } from '../../db/events/event-store.ts'
import { type EventType, vocabulary } from '../../db/events/vocabulary.ts'
import { SOLANA } from '../../db/streams.ts'
import { checksum, checksumIn } from '../http/amounts.ts'
import { nameOfChain } from './chains.ts'
import { type Place, placeOf } from './cursor.ts'

/** An event, as it is sent to whoever it concerns. */
export interface Message {
  chainId: number
  position: number
  type: EventType
  isRetraction: boolean
  /** Addresses that it is about: the contract, and those that its data names. */
  addresses: ReadonlySet<string>
  /** Contracts that it is an event of. */
  contracts: ReadonlySet<string>
  /** How far somebody is who has it. */
  place: Place
  /** The message itself. Made when somebody is sent it first. */
  json: string
}

const addressFields = new Map<EventType, string[]>()

/** Fields that hold an address and nothing else, as the vocabulary declares them. */
function addressFieldsOf(type: EventType): string[] {
  let fields = addressFields.get(type)
  if (!fields) {
    fields = Object.entries(vocabulary[type].shape).flatMap(([name, schema]) =>
      schema.safeParse(`0x${'0'.repeat(40)}`).success && !schema.safeParse('no address').success
        ? [name]
        : [],
    )
    addressFields.set(type, fields)
  }
  return fields
}

/** Makes a message of a stored event. */
export function messageOf(event: StoredEvent): Message {
  const fields = event.type in vocabulary ? addressFieldsOf(event.type) : []
  const named = fields.flatMap(field => {
    const value = event.data[field]
    return typeof value === 'string' ? [value] : []
  })
  const { vault } = event.data
  let json: string | undefined
  let place: Place | undefined
  return {
    chainId: event.stream,
    position: event.position,
    type: event.type,
    isRetraction: event.type === 'BlockRetracted',
    addresses: new Set(named),
    contracts: new Set([event.contract, vault].filter(value => typeof value === 'string')),
    get place() {
      place ??= placeOf(event)
      return place
    },
    get json() {
      json ??= write(event, fields)
      return json
    },
  }
}

/** What is not known is left out; addresses are as everywhere on the wire. */
function write(event: StoredEvent, fields: readonly string[]): string {
  const data = { ...event.data }
  for (const field of fields) {
    const value = data[field]
    if (typeof value === 'string') data[field] = checksum(value)
  }
  const hashOf = event.stream === SOLANA.id ? toBase58 : String
  return checksumIn(
    JSON.stringify({
      id: `${event.stream}.${event.position}`,
      kind: event.type === 'BlockRetracted' ? 'retraction' : 'event',
      network: nameOfChain(event.stream),
      chainId: event.stream,
      position: event.position,
      type: event.type,
      protocol: event.protocol || undefined,
      blockNumber: String(event.block_number),
      blockHash: hashOf(event.block_hash),
      timestamp: event.block_time || undefined,
      transactionHash: event.tx_hash ? hashOf(event.tx_hash) : undefined,
      logIndex: event.log_index ?? undefined,
      contract: event.contract && event.contract !== '0x' ? checksum(event.contract) : undefined,
      data,
    }),
  )
}
