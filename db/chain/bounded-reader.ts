import { concatHex, type Hex, hexToNumber, numberToHex, size, slice } from 'viem'

/** Code of bounded-reader.yul, by solc 0.8.37 with 200 optimizer runs, for paris. A test compiles it again and compares. */
export const boundedReaderCode: Hex =
  '0x60ee80380380916000396000516020519060405190606051925a600583901c808403918760805b808281101560dd5790818b6018935160601c85601484015160e01c95869401921160a1575b5a9460009283928dfa925a900391016018019a863d8402921183151692600593609a575b888311608f575b81538160e01b60018201528160008483013e0101986026565b506000915060036076565b506002606f565b90915060fa8b0287018a015a1060ca578b5a87031160ca578a89868f03011160ca57908391604b565b5050505097955050505050508291500390f35b505097955050505050508291500390f3'

/** Gas that one call may use. A vault of thirty markets answers with a fifth of it. */
export const CALL_GAS = 5_000_000
/** The same for what is asked again and again of a vault that nobody vouches for: twice what thirty markets take. */
export const STRANGER_GAS = 2_000_000
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

/**
 * The answers to the first of the calls, to one at least; those after them were not made. Undefined where the answer is
 * not the reader's.
 */
export function decodeReads(answer: Hex, calls: number, gas = CALL_GAS): BoundedAnswer[] | undefined {
  const answers: BoundedAnswer[] = []
  const total = size(answer)
  for (let at = 0; at < total; ) {
    if (at + 5 > total || answers.length === calls) return undefined
    const how = hexToNumber(slice(answer, at, at + 1))
    const length = hexToNumber(slice(answer, at + 1, at + 5))
    if (how > 3 || length > ANSWER_BYTES || at + 5 + length > total) return undefined
    const trouble = troubleOf(how, gas)
    const data = how === 1 && length > 0 ? slice(answer, at + 5, at + 5 + length) : undefined
    answers.push(trouble ? { data, trouble } : { data })
    at += 5 + length
  }
  return answers.length > 0 ? answers : undefined
}
