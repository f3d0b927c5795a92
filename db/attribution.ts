import { Attribution } from 'ox/erc8021'
import { concat, type Hex } from 'viem'
import { ConfigError } from './process/errors.ts'

/**
 * ERC-8021, schema 0: codes (ASCII, joined by commas) ∥ their length (1 byte) ∥ 00 ∥ 8021…8021 (16 bytes), at the end
 * of the calldata. Our codes are the API key's public code and then our own. Contracts ignore what follows their
 * arguments, so the call does what it did.
 */
export const ownCode = 'vaultlog'

export const codePattern = /^[a-z0-9_]{1,32}$/

/** The suffix of one API key, as hex with 0x. */
export function attributionSuffix(keyCode: string): Hex {
  if (!codePattern.test(keyCode)) {
    throw new ConfigError(
      `The public code of an API key must match ${codePattern}: ${JSON.stringify(keyCode)}`,
    )
  }
  return Attribution.toDataSuffix({ codes: [keyCode, ownCode] })
}

export const withSuffix = (data: Hex, suffix: Hex | undefined): Hex =>
  suffix ? concat([data, suffix]) : data

const marker = '80218021802180218021802180218021'

/**
 * The codes of the suffix at the end of a transaction's input, or of the innermost call that carries one (a
 * smart account's or a bundler's input holds the user's calldata somewhere inside). Undefined where there is none.
 * Strict: a length beyond the data, or codes of other letters, is no suffix.
 */
export function readAttribution(input: string): { codes: string[] } | undefined {
  const hex = input.toLowerCase().replace(/^0x/, '')
  for (let at = hex.lastIndexOf(marker); at > 0; at = hex.lastIndexOf(marker, at - 1)) {
    const codes = at % 2 === 0 ? codesBefore(hex, at) : undefined
    if (codes) return { codes }
  }
  return undefined
}

function codesBefore(hex: string, at: number): string[] | undefined {
  if (at < 4 || hex.slice(at - 2, at) !== '00') return undefined
  const length = Number.parseInt(hex.slice(at - 4, at - 2), 16)
  const start = at - 4 - length * 2
  if (length === 0 || start < 0) return undefined
  const codes = Buffer.from(hex.slice(start, at - 4), 'hex')
    .toString('latin1')
    .split(',')
  return codes.every(code => codePattern.test(code)) ? codes : undefined
}

/** The code of the API key behind a transaction of ours; undefined for others' transactions. */
export function keyCodeOf(input: string): string | undefined {
  const codes = readAttribution(input)?.codes
  const at = codes?.indexOf(ownCode) ?? -1
  return at > 0 ? codes?.[at - 1] : undefined
}
