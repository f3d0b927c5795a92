import type { EventAbi } from '../../abi/words.ts'
import type { DomainEvent, EventData, EventType } from '../../db/events/vocabulary.ts'
import { ZERO_ADDRESS } from '../../db/units.ts'
import type { LogDecoder, RawLog, VaultTerms } from '../protocol.ts'

/** An event with the identity of its log. */
export function eventOf<T extends EventType>(log: RawLog, type: T, data: EventData<T>): DomainEvent<T> {
  const { address: contract, logIndex, transactionHash } = log
  return { type, contract, logIndex, transactionHash, data } as DomainEvent<T>
}

/** A log that is one event. `data` gives its fields from the log's arguments; undefined: nothing worth an event. */
export function on<Args, T extends EventType>(
  abi: EventAbi<Args>,
  type: T,
  data: (args: Args, log: RawLog, vault?: VaultTerms) => EventData<T> | undefined,
): LogDecoder {
  return onMany(abi, [type], (args, log, vault) => {
    const fields = data(args, log, vault)
    return fields === undefined ? [] : [eventOf(log, type, fields) as DomainEvent]
  })
}

/** A log that is any number of events. */
export function onMany<Args>(
  abi: EventAbi<Args>,
  gives: readonly EventType[],
  events: (args: Args, log: RawLog, vault?: VaultTerms) => DomainEvent[],
): LogDecoder {
  const { signature, topic0, topicCount, dataLength } = abi
  return {
    signature,
    topic0,
    topicCount,
    dataLength,
    gives,
    decode: (log, vault) => events(abi.decode(log), log, vault),
  }
}

/** The zero address stands for «none»: then the field is absent. */
export function some(address: string): string | undefined {
  return address === ZERO_ADDRESS ? undefined : address
}

/** Hundredths of a percent as a fraction scaled by 1e18. */
export function bpsToWad(bps: bigint | number): bigint {
  return BigInt(bps) * 10n ** 14n
}

/** The most characters of a name and of a symbol that are kept. */
const LONGEST_NAME = 256
export const LONGEST_SYMBOL = 64

/**
 * Text from a chain as people and PostgreSQL take it: without control characters and without those that nobody sees, which
 * turn the direction of what is around them or make two names look alike. No more of it than its `most` characters.
 */
export function cleanText(text: string, most = LONGEST_NAME): string {
  const visible = text.replace(/[\p{Cc}\p{Cf}]/gu, '').trim()
  return visible.length <= most ? visible : [...visible].slice(0, most).join('')
}
