import { type Hex, hashTypedData, type TypedDataDefinition } from 'viem'
import { z } from 'zod'
import { hold } from './errors.ts'

const field = z.strictObject({ name: z.string().max(64), type: z.string().max(64) })

/** EIP-712 typed data as providers send it; any further key in it or in its domain makes it malformed. */
export const typedDataShape = z.strictObject({
  domain: z.strictObject({
    name: z.string().max(256).optional(),
    version: z.string().max(64).optional(),
    chainId: z.number().int().positive().optional(),
    verifyingContract: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/)
      .optional(),
    salt: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .optional(),
  }),
  types: z.record(z.string().max(64), z.array(field).max(32)),
  primaryType: z.string().max(64),
  message: z.record(z.string(), z.unknown()),
})
export type GivenTypedData = z.output<typeof typedDataShape>

/** What a wallet signs: numbers as decimal strings, so that it is JSON. */
export interface TypedData {
  domain: GivenTypedData['domain']
  types: Record<string, { name: string; type: string }[]>
  primaryType: string
  message: Record<string, unknown>
}

export const digestOf = (typed: TypedData): Hex => hashTypedData(typed as unknown as TypedDataDefinition)

const DOMAIN_FIELDS = {
  name: 'string',
  version: 'string',
  chainId: 'uint256',
  verifyingContract: 'address',
  salt: 'bytes32',
} as const

/**
 * The types are these, member for member; EIP712Domain may stand beside them, as the domain's own fields say it.
 * @throws Mismatch
 */
export function holdTypes(
  given: GivenTypedData,
  primaryType: string,
  types: Readonly<Record<string, readonly { name: string; type: string }[]>>,
): void {
  hold(given.primaryType === primaryType, `the primary type is ${given.primaryType}, not ${primaryType}`)
  const domain = Object.entries(DOMAIN_FIELDS)
    .filter(([name]) => given.domain[name as keyof typeof DOMAIN_FIELDS] !== undefined)
    .map(([name, type]) => ({ name, type }))
  const expected: Record<string, readonly { name: string; type: string }[]> = {
    ...types,
    EIP712Domain: domain,
  }
  for (const [name, members] of Object.entries(given.types)) {
    const wanted = expected[name]
    hold(
      wanted !== undefined && memberText(wanted) === memberText(members),
      `the type ${name.slice(0, 32)} is not the published one`,
    )
  }
  for (const name of Object.keys(types))
    hold(given.types[name] !== undefined, `the type ${name} is not among its types`)
}

const memberText = (members: readonly { name: string; type: string }[]) =>
  members.map(({ name, type }) => `${type} ${name}`).join()

const MOST = 2n ** 256n

/** A uint256 as services write it: decimal text, or a number that is exact. */
export const uint = z
  .union([z.string().regex(/^\d{1,78}$/), z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)])
  .transform(BigInt)
  .refine(value => value < MOST)

/** Lower case from here on. */
export const addressOf = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(value => value.toLowerCase() as `0x${string}`)
export const bytes = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .transform(value => value.toLowerCase() as Hex)
export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform(value => value.toLowerCase() as Hex)
