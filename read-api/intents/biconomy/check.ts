import { type Address, type Hex, pad } from 'viem'
import { hold } from '../errors.ts'
import { readPermit } from '../permit.ts'
import { type Journey, LONGEST_SECONDS, type Offer } from '../provider.ts'
import { type ComposedCall, composedCallsOf, isCall } from './composable.ts'
import { meeUserOpHashOf, superTransactionHashOf, userOpHashOf } from './supertransaction.ts'
import { type MeeUserOp, permitPayload, type Quote } from './wire.ts'

/** A quote is good for so long. @see https://docs.biconomy.io/supertransaction-api/endpoints/quote */
const LIFE_SECONDS = 30

/** What chains say of a wallet, its token and its accounts, and what was asked for last on the destination. */
export interface Grounds {
  separator: Hex
  nonce: bigint
  /** Accounts of the user's on the source, and on the destination. */
  accounts: { from: readonly Address[]; to: readonly Address[] }
  /** What ends the journey, for an account on the destination. */
  lastCalls(account: Address): readonly ComposedCall[]
  /** Unix seconds. */
  now: number
}

/**
 * What is signed is a permit for the user's own account, whose deadline is the hash of all user operations: they are hashed anew, run
 * by the user's own accounts on the two chains within the hour, and end with what was asked for. What is run before that is
 * the provider's route; it can lose no more than what is permitted, and what falls short of the least reverts.
 *
 * @throws Mismatch
 */
export function readQuote(given: Quote, journey: Journey, grounds: Grounds): Omit<Offer, 'answer'> {
  const { from, user, least } = journey
  const { accounts, now } = grounds
  const { fee, quote, payloadToSign } = given
  hold(given.ownerAddress === user, 'the owner is somebody else')
  hold(given.quoteType === 'permit', `it is of the type ${given.quoteType}`)
  hold(fee.token === from.token.address && fee.chainId === from.chainId, 'the fee is in another token')
  hold(fee.amount <= from.amount, 'the fee is more than the amount')
  holdPayment(quote.paymentInfo, journey, accounts.from)
  for (const op of quote.userOps) holdUserOp(op, journey, grounds)
  const leaves = quote.userOps.map(op => (op.shortEncoding ? op.userOpHash : op.meeUserOpHash))
  hold(superTransactionHashOf(leaves) === quote.hash, 'its hash is not that of its user operations')
  holdEnd(quote.userOps, journey, grounds)

  const [only, ...more] = payloadToSign
  hold(more.length === 0, 'it wants several signatures')
  const payload = permitPayload.safeParse(only)
  hold(payload.success, 'what it wants signed is of another form')
  const { signablePayload, metadata } = payload.data
  const permit = readPermit(signablePayload, {
    owner: user,
    token: from.token.address,
    chainId: from.chainId,
    separator: grounds.separator,
    nonce: grounds.nonce,
    spenders: [quote.paymentInfo.sender],
    least: from.amount,
    most: from.amount + fee.amount,
    commitment: quote.hash,
    now,
  })
  hold(
    metadata.owner === user &&
      metadata.spender === permit.spender &&
      metadata.amount === permit.value &&
      metadata.nonce === permit.nonce &&
      metadata.domainSeparator === grounds.separator &&
      metadata.name === signablePayload.domain.name &&
      metadata.version === signablePayload.domain.version,
    'what it says of the permit is not what it wants signed',
  )
  return {
    payload: permit.payload,
    reference: quote.hash,
    expiresAt: Math.min(now + LIFE_SECONDS, ...quote.userOps.map(op => op.upperBoundTimestamp)),
    fees: fee.amount > 0n ? [{ type: 'gas', amount: fee.amount }] : [],
    spent: permit.value,
    received: least,
  }
}

function holdPayment(
  info: Quote['quote']['paymentInfo'],
  { from, user }: Journey,
  accounts: readonly Address[],
): void {
  hold(accounts.includes(info.sender), 'the account that pays is not the user’s')
  hold(
    info.token === from.token.address && info.chainId === from.chainId,
    'it is paid for in another token than the fee',
  )
  hold(info.sponsored !== true, 'it is paid for by somebody else')
  hold(info.eoa === undefined || info.eoa === user, 'it is paid for by somebody else')
  hold(info.eip7702Auth === undefined, 'it wants the wallet delegated')
}

function holdUserOp(op: MeeUserOp, { from, to }: Journey, { accounts, now }: Grounds): void {
  const { userOp, chainId, lowerBoundTimestamp: lower, upperBoundTimestamp: upper } = op
  hold(chainId === from.chainId || chainId === to.chainId, `it runs something on chain ${chainId}`)
  hold(
    (chainId === from.chainId ? accounts.from : accounts.to).includes(userOp.sender),
    'it is run by an account that is not the user’s',
  )
  hold(op.eip7702Auth === undefined, 'it wants the wallet delegated')
  hold(lower <= upper && upper > now && upper <= now + LONGEST_SECONDS, 'it is not run within the hour')
  const hash = userOpHashOf(op)
  hold(
    hash === op.userOpHash && meeUserOpHashOf(hash, lower, upper) === op.meeUserOpHash,
    'the hash of a user operation is another one',
  )
}

/** Clean-ups come after what was asked for, and move only what it left. */
function holdEnd(ops: readonly MeeUserOp[], { to }: Journey, { lastCalls }: Grounds): void {
  const last = ops.filter(({ chainId, isCleanUpUserOp }) => chainId === to.chainId && !isCleanUpUserOp).at(-1)
  hold(last !== undefined, 'it runs nothing on the destination')
  const found = composedCallsOf(last.userOp.callData)
  hold(found !== undefined, 'what it runs on the destination is of another form')
  const asked = lastCalls(last.userOp.sender)
  const end = found.slice(-asked.length)
  hold(
    end.length === asked.length && end.every((call, n) => isCall(call, asked[n] as ComposedCall)),
    'what it runs on the destination does not end with what was asked for',
  )
}

export const wordOf = (value: Address | bigint | number): Hex =>
  typeof value === 'string'
    ? pad(value.toLowerCase() as Hex, { size: 32 })
    : pad(`0x${BigInt(value).toString(16)}`, { size: 32 })
