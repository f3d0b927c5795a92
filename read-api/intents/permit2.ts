import { type Address, getAddress } from 'viem'
import { z } from 'zod'
import { hold } from './errors.ts'
import { type Call, type Journey, LONGEST_SECONDS } from './provider.ts'
import {
  addressOf,
  bytes,
  bytes32,
  type GivenTypedData,
  holdTypes,
  type TypedData,
  uint,
} from './typed-data.ts'

/** The same on every network. @see uniswap/permit2 */
export const PERMIT2: Address = '0x000000000022d473030f116ddee9f6b43ac78ba3'

export const PRIMARY_TYPE = 'PermitBatchWitnessTransferFrom'

/** @see permit2.ts of rhinestonewtf/sdk, and the Mandate of its contracts */
export const MANDATE_TYPES = {
  PermitBatchWitnessTransferFrom: [
    { name: 'permitted', type: 'TokenPermissions[]' },
    { name: 'spender', type: 'address' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
    { name: 'mandate', type: 'Mandate' },
  ],
  TokenPermissions: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Mandate: [
    { name: 'target', type: 'Target' },
    { name: 'minGas', type: 'uint128' },
    { name: 'originOps', type: 'Op' },
    { name: 'destOps', type: 'Op' },
    { name: 'q', type: 'bytes32' },
  ],
  Target: [
    { name: 'recipient', type: 'address' },
    { name: 'tokenOut', type: 'Token[]' },
    { name: 'targetChain', type: 'uint256' },
    { name: 'fillExpiry', type: 'uint256' },
  ],
  Token: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  Op: [
    { name: 'vt', type: 'bytes32' },
    { name: 'ops', type: 'Ops[]' },
  ],
  Ops: [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'data', type: 'bytes' },
  ],
}

const amounts = z.array(z.strictObject({ token: addressOf, amount: uint })).max(16)
const op = z.strictObject({
  vt: bytes32,
  ops: z.array(z.strictObject({ to: addressOf, value: uint, data: bytes })).max(16),
})
const messageShape = z.strictObject({
  permitted: amounts,
  spender: addressOf,
  nonce: uint,
  deadline: uint,
  mandate: z.strictObject({
    target: z.strictObject({ recipient: addressOf, tokenOut: amounts, targetChain: uint, fillExpiry: uint }),
    minGas: uint.refine(value => value < 2n ** 128n),
    originOps: op,
    destOps: op,
    q: bytes32,
  }),
})
type Message = z.output<typeof messageShape>

export interface Permit2Terms extends Pick<Journey, 'user' | 'from' | 'to' | 'least'> {
  /** Contracts that may take what is permitted. */
  spenders: readonly Address[]
  /** What is run on the destination, in this order. */
  calls: readonly Call[]
  /** Unix seconds. */
  now: number
}

/**
 * A batch permit with a mandate that takes no more than the amount of the one token, from the user, for one of the spenders, soon,
 * and delivers to the user what was asked for. What is not looked at moves nothing by itself: the nonce, the gas of the fill, how operations
 * are run (vt), and the settlement layer's own qualifier (q).
 *
 * @throws Mismatch
 */
export function readMandate(given: GivenTypedData, terms: Permit2Terms) {
  const { from, to, user, least, spenders, calls, now } = terms
  holdTypes(given, PRIMARY_TYPE, MANDATE_TYPES)
  const { name, version, chainId, verifyingContract, salt } = given.domain
  hold(
    name === 'Permit2' &&
      verifyingContract?.toLowerCase() === PERMIT2 &&
      version === undefined &&
      salt === undefined,
    'the contract that verifies the signature is not Permit2',
  )
  hold(chainId === from.chainId, `the permit is for chain ${chainId}, not ${from.chainId}`)
  const parsed = messageShape.safeParse(given.message)
  hold(parsed.success, 'the permit has other fields than the published ones')
  const { permitted, spender, deadline, mandate } = parsed.data
  const [allowed, ...more] = permitted
  hold(allowed !== undefined && more.length === 0, 'it permits several tokens')
  hold(allowed.token === from.token.address, 'it permits another token')
  hold(allowed.amount > 0n && allowed.amount <= from.amount, 'it permits more than the amount')
  hold(spenders.includes(spender), 'the spender is none of the published contracts')
  holdSoon(deadline, now, 'the permit')
  holdDelivery(mandate, terms)
  hold(mandate.originOps.ops.length === 0, 'it has operations on the source that were not asked for')
  const { ops } = mandate.destOps
  hold(
    ops.length === calls.length &&
      calls.every(
        ({ to: target, data }, n) =>
          ops[n]?.to === target && ops[n]?.data === data.toLowerCase() && ops[n]?.value === 0n,
      ),
    'the operations on the destination are not those that were asked for',
  )
  const received = mandate.target.tokenOut[0]?.amount ?? 0n
  hold(received >= least, `it delivers ${received} of ${to.token.symbol}, less than ${least}`)
  return {
    spent: allowed.amount,
    received,
    /** When the permit and the fill have both to be done. */
    deadline: Number(deadline < mandate.target.fillExpiry ? deadline : mandate.target.fillExpiry),
    payload: payloadOf(parsed.data, from.chainId),
    recipient: user,
  }
}

function holdDelivery({ target }: Message['mandate'], { user, to, now }: Permit2Terms): void {
  hold(target.recipient === user, 'the recipient is somebody else')
  hold(target.targetChain === BigInt(to.chainId), 'it delivers on another chain')
  const [out, ...more] = target.tokenOut
  hold(out !== undefined && more.length === 0, 'it delivers several tokens, or none')
  hold(out.token === to.token.address, 'it delivers another token')
  holdSoon(target.fillExpiry, now, 'the delivery')
}

function holdSoon(time: bigint, now: number, what: string): void {
  hold(time > BigInt(now), `${what} has expired`)
  hold(time <= BigInt(now + LONGEST_SECONDS), `${what} is good for longer than an hour`)
}

function payloadOf({ permitted, spender, nonce, deadline, mandate }: Message, chainId: number): TypedData {
  const tokens = (list: Message['permitted']) =>
    list.map(({ token, amount }) => ({ token: getAddress(token), amount: String(amount) }))
  const opOf = ({ vt, ops }: z.output<typeof op>) => ({
    vt,
    ops: ops.map(({ to, value, data }) => ({ to: getAddress(to), value: String(value), data })),
  })
  const { target, minGas, originOps, destOps, q } = mandate
  return {
    domain: { name: 'Permit2', chainId, verifyingContract: getAddress(PERMIT2) },
    types: MANDATE_TYPES,
    primaryType: PRIMARY_TYPE,
    message: {
      permitted: tokens(permitted),
      spender: getAddress(spender),
      nonce: String(nonce),
      deadline: String(deadline),
      mandate: {
        target: {
          recipient: getAddress(target.recipient),
          tokenOut: tokens(target.tokenOut),
          targetChain: String(target.targetChain),
          fillExpiry: String(target.fillExpiry),
        },
        minGas: String(minGas),
        originOps: opOf(originOps),
        destOps: opOf(destOps),
        q,
      },
    },
  }
}
