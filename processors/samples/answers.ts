import { smallUint, uints, utf8, word, address as wordAddress, text as wordText } from '../../abi/words.ts'
import { MalformedLogError } from '../../db/process/errors.ts'
import { cleanText, LONGEST_SYMBOL, some } from '../handling/decoder.ts'

/** What an answer says; undefined where a call reverted, or answered something else than it should. */
export function answered<T>(answer: string | undefined, as: (hex: string) => T): T | undefined {
  if (answer === undefined || answer.length < 66) return undefined
  try {
    return as(answer)
  } catch (error) {
    if (error instanceof MalformedLogError) return undefined
    throw error
  }
}

export const asAddresses = (hex: string) =>
  uints(hex, 2, 160).map(of => `0x${of.toString(16).padStart(40, '0')}`)
export const asAddress = (hex: string) => some(wordAddress(hex, 2))
export const asDecimals = (hex: string) => smallUint(hex, 2, 8)
export const asWord = (hex: string) => BigInt(`0x${word(hex, 2)}`)

/** Text answered as string or, as old tokens do (MKR), as bytes32. Empty where the contract does not say. */
export function asText(answer: string | undefined, most?: number): string {
  const bytes32 = answer?.length === 66
  return cleanText(answered(answer, hex => (bytes32 ? utf8(hex) : wordText(hex, 2))) ?? '', most)
}

export const asSymbol = (answer: string | undefined) => asText(answer, LONGEST_SYMBOL)
