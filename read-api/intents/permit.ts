import { type Address, getAddress, type Hex, hashDomain } from 'viem'
import { z } from 'zod'
import { hold } from './errors.ts'
import { LONGEST_SECONDS } from './provider.ts'
import { addressOf, type GivenTypedData, holdTypes, type TypedData, uint } from './typed-data.ts'

const PERMIT_TYPES = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
}

const DOMAIN_TYPES = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
] as const

const messageShape = z.strictObject({
  owner: addressOf,
  spender: addressOf,
  value: uint,
  nonce: uint,
  deadline: uint,
})

export interface PermitTerms {
  owner: Address
  token: Address
  chainId: number
  /** What the token says of itself now. */
  separator: Hex
  nonce: bigint
  /** Accounts that may be the spender. */
  spenders: readonly Address[]
  /** Base units, both taken in. */
  least: bigint
  most: bigint
  /** A value of the deadline that is no time, but names what else is agreed to by the same signature. */
  commitment?: Hex
  /** Unix seconds. */
  now: number
}

/**
 * A permit of ERC-2612 by the owner, at the token, for one of the spenders, within the bounds. Its deadline is within the hour, or is
 * the commitment.
 *
 * @throws Mismatch
 */
export function readPermit(given: GivenTypedData, terms: PermitTerms) {
  const { domain } = given
  holdTypes(given, 'Permit', PERMIT_TYPES)
  hold(
    domain.verifyingContract?.toLowerCase() === terms.token,
    'the permit is of another token than what is spent',
  )
  hold(domain.chainId === terms.chainId, `the permit is for chain ${domain.chainId}, not ${terms.chainId}`)
  hold(
    separatorOf(domain) === terms.separator,
    'its domain is not the one that the token verifies signatures by',
  )
  const parsed = messageShape.safeParse(given.message)
  hold(parsed.success, 'the permit has other fields than the published ones')
  const { owner, spender, value, nonce, deadline } = parsed.data
  hold(owner === terms.owner, 'the owner is somebody else')
  hold(terms.spenders.includes(spender), 'the spender is no account of the owner')
  hold(nonce === terms.nonce, 'the nonce is not the next one of the owner')
  hold(value >= terms.least, 'it permits less than the amount')
  hold(value <= terms.most, 'it permits more than the amount and the fee')
  const isCommitment = terms.commitment !== undefined && deadline === BigInt(terms.commitment)
  hold(isCommitment || deadline > BigInt(terms.now), 'the permit has expired')
  hold(
    isCommitment || deadline <= BigInt(terms.now + LONGEST_SECONDS),
    'the permit is good for longer than an hour',
  )
  const payload: TypedData = {
    domain,
    types: PERMIT_TYPES,
    primaryType: 'Permit',
    message: {
      owner: getAddress(owner),
      spender: getAddress(spender),
      value: String(value),
      nonce: String(nonce),
      deadline: String(deadline),
    },
  }
  return { payload, spender, value, nonce }
}

function separatorOf(domain: GivenTypedData['domain']): Hex {
  return hashDomain({
    domain: domain as never,
    types: {
      EIP712Domain: DOMAIN_TYPES.filter(({ name }) => domain[name] !== undefined).map(field => ({
        ...field,
      })),
    },
  })
}
