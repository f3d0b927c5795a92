import { concatHex, type Hex, hexToNumber, numberToHex, size, slice } from 'viem'

/** Code of bounded-reader.yul, by solc 0.8.37 with 200 optimizer runs, for paris. A test compiles it again and compares. */
export const boundedReaderCode: Hex =
  '0x60f78038038091600039600051906020519160405190606051905a94846080968360051c91828503975b898281101560e7578087915160601c6018601483015160e01c92019085851160aa575b9160008082601894600998965a98fa935a90039d01019b3d8302928c821181151660a3575b8884116098575b82538260e01b600183015260e01b60058201528160008483013e01016029565b506000925060036078565b5060026071565b9091925060fa8b02870189015a1060d557895a87031160d5578a88868603011160d55790889291604c565b50505081900398509650505050505050f35b5081900398509650505050505050f3'

/** Gas that one call may use. A vault of thirty markets answers with a fifth of it. */
export const CALL_GAS = 5_000_000
/** The same for what is asked again and again of a vault that nobody vouches for: twice what thirty markets take. */
export const STRANGER_GAS = 2_000_000
/** What all that is asked of such a vault in a block may use together: three such calls. One of thirty markets takes two thirds of it. */
export const SAMPLE_GAS = 3 * STRANGER_GAS
/** The same for one call of it: half as much again as thirty markets take. */
export const DEAR_GAS = 1_500_000
/** Bytes of an answer that are read: what is longer is nothing that is asked for. */
export const ANSWER_BYTES = 4_096
/** Bytes of answers of one request, a little less than a contract's code may have. */
const ROOM = 20_000
/** Gas of one request, about: nodes allow 50 million, or what they do in some seconds. */
const BUDGET = 40_000_000
/** Bytes of the code and its questions: EIP-3860 allows 49,152. */
export const QUESTION_BYTES = 40_000

export interface BoundedCall {
  to: string
  data: string
}

export interface BoundedAnswer {
  /** Undefined where the call failed, or brought nothing. */
  data: Hex | undefined
  /** What is wrong with a contract that neither answered nor reverted in the ordinary way. */
  trouble?: string
  /** What the call used, where the node told. */
  gas?: number
}

export function encodeReads(calls: readonly BoundedCall[], gas = CALL_GAS): Hex {
  return concatHex([
    boundedReaderCode,
    ...[gas, ANSWER_BYTES, ROOM, BUDGET].map(value => numberToHex(value, { size: 32 })),
    ...calls.flatMap(({ to, data }) => [to as Hex, numberToHex(size(data as Hex), { size: 4 }), data as Hex]),
  ])
}

/** As many of the calls, from the first on, as go into one request. */
export function fitting<T extends BoundedCall>(calls: readonly T[], most: number): T[] {
  let bytes = size(boundedReaderCode)
  const over = calls.findIndex(({ data }, i) => {
    bytes += 24 + size(data as Hex)
    return i >= most || (i > 0 && bytes > QUESTION_BYTES)
  })
  return calls.slice(0, over < 0 ? calls.length : over)
}

export const TOO_LONG = `it answered more than ${ANSWER_BYTES} bytes`
const troubleOf = (how: number, gas: number): string | undefined =>
  how === 2 ? `it used all of ${gas} gas` : how === 3 ? TOO_LONG : undefined

/** Bytes before each answer: how the call ended, the answer's length, the gas. */
const HEAD = 9

/**
 * The answers to the first of the calls, to one at least; those after them were not made. Undefined where the answer is
 * not the reader's.
 */
export function decodeReads(answer: Hex, calls: number, gas = CALL_GAS): BoundedAnswer[] | undefined {
  const answers: BoundedAnswer[] = []
  const total = size(answer)
  for (let at = 0; at < total; ) {
    if (at + HEAD > total || answers.length === calls) return undefined
    const how = hexToNumber(slice(answer, at, at + 1))
    const length = hexToNumber(slice(answer, at + 1, at + 5))
    if (how > 3 || length > ANSWER_BYTES || at + HEAD + length > total) return undefined
    const used = hexToNumber(slice(answer, at + 5, at + HEAD))
    const trouble = troubleOf(how, gas)
    const data = how === 1 && length > 0 ? slice(answer, at + HEAD, at + HEAD + length) : undefined
    answers.push({ data, gas: used, ...(trouble ? { trouble } : {}) })
    at += HEAD + length
  }
  return answers.length > 0 ? answers : undefined
}
