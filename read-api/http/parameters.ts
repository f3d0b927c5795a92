import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58 } from '../../db/base58.ts'
import type { NetworkId } from '../../db/networks.ts'
import { findNetwork, networkIds } from '../../db/networks.ts'
import { z } from './zod.ts'

/** Query and path parameters arrive as text. Each of these gives a value and says in words what would be right. */

/** No pattern looks at a longer text: what is longer is refused by its length, whatever a pattern would cost. */
export const LONGEST_TEXT = 128

const digits = /^\d{1,15}$/
const decimal = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i

/** A text of its own and not one of several, no longer than `max`; nothing else is checked of one that is not. */
function bounded(max = LONGEST_TEXT) {
  return z
    .string({ error: 'must be given once' })
    .max(max, { abort: true, error: `must have ${max} characters at most` })
}

const one = bounded()

export function integer(options: { min: number; max?: number; what?: string }) {
  const { min, max = Number.MAX_SAFE_INTEGER } = options
  const right = options.what ?? `an integer from ${min}${options.max === undefined ? '' : ` to ${max}`}`
  return one
    .refine(text => digits.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be ${right}`,
    })
    .transform(Number)
    .openapi({ type: 'integer', minimum: min, ...(options.max === undefined ? {} : { maximum: max }) })
}

/** Unix seconds, up to the year 9999; milliseconds are the usual mistake and are refused. */
export function timestamp() {
  return integer({ min: 0, max: 253_402_300_799, what: 'unix time in seconds' }).openapi({
    description: 'Unix seconds.',
    example: 1_767_225_600,
  })
}

export function number({ min = Number.NEGATIVE_INFINITY }: { min?: number } = {}) {
  const isBounded = Number.isFinite(min)
  const error = isBounded ? `must be a number of at least ${min}` : 'must be a number'
  return one
    .refine(text => decimal.test(text) && Number.isFinite(Number(text)) && Number(text) >= min, { error })
    .transform(Number)
    .openapi({ type: 'number', ...(isBounded ? { minimum: min } : {}) })
}

export function boolean() {
  return one
    .refine(text => text === 'true' || text === 'false', { error: 'must be true or false' })
    .transform(text => text === 'true')
    .openapi({ type: 'boolean' })
}

/** One that may be left out, which is the same as false. */
export function flag(description: string) {
  return boolean().optional().openapi({ default: false, description })
}

export function choice<const T extends readonly [string, ...string[]]>(values: T) {
  return z
    .enum(values, {
      error: ({ input }) =>
        Array.isArray(input) ? 'must be given once' : `must be one of ${values.join(', ')}`,
    })
    .openapi({ type: 'string', enum: [...values] })
}

/** Repeated keys, a single value, or values joined by commas. Empty values are dropped. */
export function list(options: { description?: string; example?: string[] } = {}) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform(value =>
      (Array.isArray(value) ? value : [value])
        .flatMap(text => text.split(','))
        .map(text => text.trim())
        .filter(text => text !== ''),
    )
    .refine(values => values.every(value => value.length <= LONGEST_TEXT), {
      error: `must have values of ${LONGEST_TEXT} characters at most`,
    })
    .openapi({ type: 'array', items: { type: 'string' }, ...options })
}

/** A list that narrows. One without a name in it (`tags=`, of a variable that was empty) is a mistake, as an empty number is. */
export function names(options: { description: string; example?: string[] }) {
  return list()
    .refine(values => values.length > 0, {
      error: 'must name something; leave it out for no such filter',
    })
    .optional()
    .openapi({ type: 'array', items: { type: 'string' }, ...options })
}

export function text(options: { description?: string; example?: string } = {}) {
  return one
    .refine(value => value.length > 0, { error: `must have 1 to ${LONGEST_TEXT} characters` })
    .openapi({ type: 'string', minLength: 1, maxLength: LONGEST_TEXT, ...options })
}

const addressText = one.refine(value => /^0x[0-9a-f]{40}$/i.test(value), {
  error: 'must be an address: 0x and 40 hexadecimal digits',
})

/** An address in any case; lower-case from here on. */
export function address(description: string) {
  return addressText
    .transform(value => value.toLowerCase())
    .openapi({
      type: 'string',
      pattern: '^0[xX][0-9a-fA-F]{40}$',
      description: `${description} In any case.`,
      example: '0x83F20F44975D03b1b09e64809B757c47f942BEeA',
    })
}

/** Several of either kind, each once: lower-case hex of 20 bytes, or of 32 of chains of Solana's kind. */
export function wallets(description: string, most: number) {
  const hexOf = (value: string) => (/^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : fromBase58(value))
  return list()
    .transform((values, context): string[] => {
      const found = values.map(hexOf)
      const known = [...new Set(found.flatMap(hex => hex ?? []))]
      if (found.some(hex => hex === undefined))
        context.addIssue({
          code: 'custom',
          message:
            'must be addresses, joined by commas or given one by one: 0x and 40 hexadecimal digits, or of Solana base58 of 32 bytes, in which case matters',
        })
      else if (known.length === 0 || known.length > most)
        context.addIssue({ code: 'custom', message: `must be from 1 to ${most} addresses` })
      return known
    })
    .openapi({
      type: 'array',
      items: { type: 'string', pattern: '^(0[xX][0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$' },
      minItems: 1,
      maxItems: most,
      description: `${description} Hex in any case; of Solana base58.`,
      example: ['0x83F20F44975D03b1b09e64809B757c47f942BEeA'],
    })
}

/** An address of a chain of Solana's kind; lower-case hex of its 32 bytes from here on. */
export function svmAddress(description: string) {
  return one
    .transform((value, context): Key => {
      const hex = fromBase58(value)
      if (hex) return hex as Key
      context.addIssue({
        code: 'custom',
        message:
          'must be an address of Solana: base58 of 32 bytes, 32 to 44 characters, in which case matters',
      })
      return z.NEVER
    })
    .openapi({
      type: 'string',
      pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$',
      description,
      example: 'So11111111111111111111111111111111111111112',
    })
}

/** 32 bytes of hex, in any case; lower-case from here on. */
export function hash(description: string) {
  return one
    .refine(value => /^0x[0-9a-f]{64}$/i.test(value), { error: 'must be 0x and 64 hexadecimal digits' })
    .transform(value => value.toLowerCase())
    .openapi({ type: 'string', pattern: '^0[xX][0-9a-fA-F]{64}$', description })
}

/** Whole bytes of hex, `max` characters at most; lower-case from here on. */
export function bytes(description: string, max = 6_000) {
  return bounded(max)
    .refine(value => /^0x([0-9a-f]{2})+$/i.test(value), { error: 'must be bytes: 0x and hexadecimal digits' })
    .transform(value => value.toLowerCase())
    .openapi({ type: 'string', pattern: '^0[xX]([0-9a-fA-F]{2})+$', maxLength: max, description })
}

export const userAddress = () => address('The wallet.')

/** An amount in base units. */
export function baseUnits(description: string) {
  return one
    .regex(/^\d{1,78}$/, { error: 'must be an amount in base units, without a point' })
    .transform(BigInt)
    .refine(value => value < 2n ** 256n, { error: 'must be less than 2^256' })
    .openapi({ type: 'string', description, example: '1000000' })
}

/** A vault's identifier: an address in any case (lower-case from here on), or up to 128 characters of another kind. */
export function vaultId() {
  return text()
    .refine(value => !/^0x/i.test(value) || /^0x[0-9a-f]{40}$/i.test(value), {
      error: 'must be an address (0x and 40 hexadecimal digits) or a vault identifier of another kind',
    })
    .transform(value => (/^0x[0-9a-f]{40}$/i.test(value) ? value.toLowerCase() : value))
    .openapi({
      type: 'string',
      minLength: 1,
      maxLength: 128,
      description: 'The vault: its address in any case, or an identifier of another kind.',
      example: '0x83F20F44975D03b1b09e64809B757c47f942BEeA',
    })
}

const networkNames = networkIds.map(({ name }) => name)
const networkCaips = networkIds.map(({ networkCaip }) => networkCaip)

/** A network by name or CAIP-2 identifier. */
export function network() {
  return one
    .transform((value, context): NetworkId => {
      const found = findNetwork(value)
      if (found) return found
      context.addIssue({
        code: 'custom',
        message: `must be one of ${networkNames.join(', ')}, or the CAIP-2 identifier of one (eip155:1)`,
      })
      return z.NEVER
    })
    .openapi({
      type: 'string',
      enum: [...networkNames, ...networkCaips],
      description: 'Name or CAIP-2 identifier of a network, in any case.',
      example: 'mainnet',
    })
}

/** A calendar day, UTC; gives the unix seconds of its start. */
export function day() {
  return one
    .refine(value => /^\d{4}-\d{2}-\d{2}$/.test(value) && new Date(value).toJSON()?.slice(0, 10) === value, {
      error: 'must be a date as YYYY-MM-DD',
    })
    .transform(value => Date.parse(value) / 1000)
    .openapi({ type: 'string', format: 'date', example: '2026-01-31' })
}

/** page and perPage. */
export function paging(options: { perPage?: number; max?: number } = {}) {
  const { perPage = 50, max = 5_000 } = options
  return {
    page: integer({ min: 0, max: 10_000_000 })
      .optional()
      .transform(value => value ?? 0)
      .openapi({ type: 'integer', minimum: 0, default: 0, description: 'Zero-based.' }),
    perPage: integer({ min: 1, max })
      .optional()
      .transform(value => value ?? perPage)
      .openapi({
        type: 'integer',
        minimum: 1,
        maximum: max,
        default: perPage,
        description: 'Items on a page. Where an item costs credits, a smaller page costs less.',
      }),
  }
}
