import fc from 'fast-check'
import type { z } from 'zod'
import { type DomainEvent, type EventType, vocabulary } from '../../../db/events/vocabulary.ts'

/** Few, so that fields of one event name the same contract now and then. */
const ADDRESSES = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}`)
const address = fc.constantFrom(...ADDRESSES)

/** Text that events hold: addresses, ids, and words with an address behind them. */
export const arbitraryText = (words: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    address,
    fc.constantFrom(...words),
    fc.tuple(fc.constantFrom(...words), address).map(parts => parts.join('')),
    fc.constant(`0x${'d'.repeat(64)}`),
  )

/** An event of a type as its schema allows it; `text`: what text without a shape of its own says. */
export function arbitraryEvent<T extends EventType>(
  type: T,
  text: fc.Arbitrary<string>,
): fc.Arbitrary<DomainEvent> {
  const fields = Object.fromEntries(
    Object.entries(vocabulary[type].shape).map(([name, schema]) => [name, arbitraryOf(schema, text)]),
  )
  return fc.tuple(address, fc.record(fields), fc.nat(9)).map(
    ([contract, values, logIndex]) =>
      ({
        type,
        contract,
        logIndex,
        transactionHash: `0x${'1'.repeat(64)}`,
        data: vocabulary[type].parse(values),
      }) as DomainEvent,
  )
}

function arbitraryOf(schema: z.core.$ZodType, text: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const { def } = schema._zod as unknown as { def: z.core.$ZodTypeDef }
  switch (def.type) {
    case 'optional':
      return fc.option(arbitraryOf((def as z.core.$ZodOptionalDef).innerType, text), { nil: undefined })
    case 'array':
      return fc.array(arbitraryOf((def as z.core.$ZodArrayDef).element, text), { maxLength: 2 })
    case 'enum':
      return fc.constantFrom(...Object.values((def as z.core.$ZodEnumDef).entries))
    case 'literal':
      return fc.constantFrom(...(def as z.core.$ZodLiteralDef<string>).values)
    case 'boolean':
      return fc.boolean()
    case 'bigint':
      return fc.bigInt(0n, 2n ** 100n)
    case 'number':
      return fc.nat(20)
    case 'string':
      if (fits(schema, '')) return text
      return fc.oneof(address, fc.constant(`0x${'e'.repeat(64)}`)).filter(value => fits(schema, value))
    default:
      throw new Error(`no values for ${def.type}: teach them to this file`)
  }
}

const fits = (schema: z.core.$ZodType, value: unknown) => (schema as z.ZodType).safeParse(value).success
