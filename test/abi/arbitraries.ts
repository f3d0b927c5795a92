import fc from 'fast-check'
import { type AbiEvent, type AbiParameter, encodeAbiParameters, encodeEventTopics, type Hex } from 'viem'
import { TOKEN_MESSENGER } from '../../abi/cctp-v2/domains.ts'
import { asWord, encodeBody, encodeMessage } from '../../abi/cctp-v2/message.ts'
import type { LogWords } from '../../abi/words.ts'

import { anyMessage } from './cctp-message.ts'

type Parameter = AbiParameter & { components?: readonly AbiParameter[] }

const hexOf = (length: number): fc.Arbitrary<Hex> =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map(b => `0x${Buffer.from(b).toString('hex')}` as Hex)

/** Any value of an ABI type, as viem takes it; lower-case hex. */
export function anyValue(parameter: Parameter, maxUint = 2n ** 256n - 1n): fc.Arbitrary<unknown> {
  const { type } = parameter
  const integer = /^(u?)int(\d+)$/.exec(type)
  if (integer) {
    const bits = BigInt(integer[2] ?? 256)
    const top = integer[1] === 'u' ? 2n ** bits - 1n : 2n ** (bits - 1n) - 1n
    const max = top < maxUint ? top : maxUint
    const value = fc.oneof(
      fc.bigInt({ min: integer[1] === 'u' ? 0n : -max - 1n, max }),
      fc.constantFrom(0n, 1n, max),
      fc.bigInt({ min: 0n, max: max < 2n ** 53n ? max : 2n ** 53n }),
    )
    return bits <= 48n ? value.map(Number) : value
  }
  const item = /^(.+)\[\]$/.exec(type)?.[1]
  if (item) return fc.array(anyValue({ ...parameter, type: item }, maxUint), { maxLength: 5 })
  const fixed = /^bytes(\d+)$/.exec(type)
  if (fixed) return hexOf(Number(fixed[1]))
  switch (type) {
    case 'address':
      return fc.oneof(hexOf(20), fc.constant(`0x${'0'.repeat(40)}`))
    case 'bool':
      return fc.boolean()
    case 'string':
      return fc.string({ unit: 'grapheme', maxLength: 80 })
    case 'bytes':
      return fc.uint8Array({ maxLength: 100 }).map(b => `0x${Buffer.from(b).toString('hex')}`)
    case 'tuple':
      return fc.record(
        Object.fromEntries((parameter.components ?? []).map(c => [c.name ?? '', anyValue(c, maxUint)])),
      )
    default:
      throw new Error(`no values of ${type}`)
  }
}

export interface EncodedEvent {
  /** By name of the parameter. */
  args: Record<string, unknown>
  log: LogWords & { topics: string[] }
}

/** Arguments that are a language of their own: any bytes as well, which say nothing in it. */
const spoken: Record<string, (maxUint?: bigint) => fc.Arbitrary<unknown>> = {
  'MessageSent message': max => anyMessage({ sender: asWord(TOKEN_MESSENGER) }, max).map(encodeMessage),
  'MessageReceived sender': () => fc.constant(asWord(TOKEN_MESSENGER)),
  'MessageReceived messageBody': max => anyMessage({}, max).map(({ body }) => encodeBody(body)),
}

function anyArgument(event: AbiEvent, input: AbiParameter, maxUint?: bigint): fc.Arbitrary<unknown> {
  const word = spoken[`${event.name} ${input.name}`]
  const any = anyValue(input, maxUint)
  return word ? fc.oneof({ weight: 3, arbitrary: word(maxUint) }, { weight: 1, arbitrary: any }) : any
}

/** An event with any arguments, encoded by viem. */
export function encodedEvent(event: AbiEvent, maxUint?: bigint): fc.Arbitrary<EncodedEvent> {
  const name = (p: AbiParameter, i: number) => p.name || `arg${i}`
  return fc.tuple(...event.inputs.map(input => anyArgument(event, input, maxUint))).map(values => {
    const args = Object.fromEntries(event.inputs.map((input, i) => [name(input, i), values[i]]))
    const indexed = event.inputs.flatMap((input, i) => (input.indexed ? [values[i]] : []))
    const topics = encodeEventTopics({ abi: [event], args: indexed as never }) as string[]
    const plain = event.inputs.flatMap((input, i) => (input.indexed ? [] : [[input, values[i]] as const]))
    const data = encodeAbiParameters(
      plain.map(([input]) => input),
      plain.map(([, value]) => value) as never,
    )
    return { args, log: { topics, data } }
  })
}
