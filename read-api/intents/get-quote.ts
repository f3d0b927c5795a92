import type { Address, Hex } from 'viem'
import type { AssetInfo } from '../catalogue/assets.ts'
import { checksum } from '../http/amounts.ts'
import { RefusedError } from '../http/errors.ts'
import type { OnChain } from '../on-chain.ts'
import type { Token } from '../transactions/family.ts'
import { createFinisher } from '../transactions/finish.ts'
import { approvals } from '../transactions/wallet.ts'
import { bundleOf } from '../transactions/wire.ts'
import { UntrustedQuoteError } from './errors.ts'
import { allowanceOf, entryOf, exitOf, heldBy, type Position, sharesOf } from './positions.ts'
import type { IntentProvider, Journey, Offer } from './provider.ts'

export interface QuoteRequest {
  user: Address
  from: Position
  amount: bigint
  to: Position
  suffix?: Hex | undefined
}

/** Percent of the worth of what is spent that has to arrive. */
const LEAST_WORTH = 95n

/** Digits that the ratio of two prices is taken with. */
const RATIO = 10n ** 12n

/**
 * A quote of a provider for a way from one position to another, each on a chain of its own, as it may be handed out: held to what was
 * asked for, and what has to be sent before has been tried out.
 */
export async function makeQuote(
  onChain: OnChain,
  provider: IntentProvider,
  request: QuoteRequest,
  signal: AbortSignal,
) {
  const { user, from, amount, to, suffix } = request
  if (from.network.chainId === to.network.chainId)
    throw new RefusedError(
      `Both positions are on ${from.network.name}: an intent goes from one network to another, and /v2/transactions does what is done on one.`,
    )
  const { held, block } = await heldBy(onChain, from, user)
  if (held < amount)
    throw new RefusedError(
      `The wallet holds ${held} base units of ${from.token.symbol} on ${from.network.name}, less than the ${amount} asked for.`,
    )
  const exit = await exitOf(onChain, from, user, amount)
  const entry = entryOf(onChain, to, user)
  const prices = [priceOf(from.asset), priceOf(to.asset)] as const
  const arriving: Token = tokenOf(to.asset)
  const assets = exit?.assets ?? amount
  const least = (worthIn(assets, from.asset, to.asset, prices) * LEAST_WORTH) / 100n
  if (least === 0n) throw new RefusedError('The amount is too small: less than a unit would arrive.')
  const journey: Journey = {
    user,
    from: {
      network: from.network.name,
      chainId: from.network.chainId,
      token: from.token,
      amount,
      ...(exit ? { exit } : {}),
    },
    to: {
      network: to.network.name,
      chainId: to.network.chainId,
      token: arriving,
      ...(entry ? { entry } : {}),
    },
    price: prices[0],
    least,
  }
  // Before anybody is asked: what the vault refuses, or cannot be entered.
  await entry?.calls(least)
  const offer = await provider.quote(journey, signal)
  const received = to.vault ? await sharesOf(onChain, to.vault, offer.received) : offer.received
  if (!received)
    throw new UntrustedQuoteError(provider.name, 'what it delivers is not worth a share of the vault')
  return {
    offer,
    block,
    answer: {
      payloadToSign: offer.payload,
      fees: offer.fees.map(({ type, amount: fee }) => ({
        type,
        token: placed(from, from.token),
        amount: String(fee),
      })),
      totalCost: [{ ...placed(from, from.token), amount: String(offer.spent) }],
      receivedPosition: { ...placed(to, to.token), amount: String(received) },
      ...(await setUp(onChain, offer, request, suffix)),
      expirationTimestamp: offer.expiresAt,
    },
  }
}

const tokenOf = ({ address, symbol, decimals }: AssetInfo): Token => ({
  address: address as Address,
  symbol,
  decimals,
})

const placed = ({ network }: Position, { address, decimals }: Token) => ({
  address: checksum(address),
  network: network.name,
  decimals,
})

function priceOf({ price, symbol }: AssetInfo): number {
  if (price !== undefined && price > 0) return price
  throw new RefusedError(
    `The price of ${symbol} is not known here, so that nobody could tell a good quote from a bad one.`,
  )
}

/** Base units of one asset in another, by their prices. */
export function worthIn(
  amount: bigint,
  from: Pick<AssetInfo, 'decimals'>,
  to: Pick<AssetInfo, 'decimals'>,
  [spent, received]: readonly [number, number],
): bigint {
  const ratio = BigInt(Math.round((spent / received) * Number(RATIO)))
  return (amount * ratio * 10n ** BigInt(to.decimals)) / (RATIO * 10n ** BigInt(from.decimals))
}

/** What the wallet has to allow before the signature is worth anything: exactly what is spent. */
async function setUp(
  onChain: OnChain,
  { spender, spent }: Offer,
  { user, from }: QuoteRequest,
  suffix: Hex | undefined,
) {
  if (!spender) return {}
  const { allowed, block } = await allowanceOf(onChain, from, user, spender)
  if (allowed >= spent) return {}
  const finish = createFinisher(onChain.preparer.dryRun)
  const bundle = await finish({
    network: from.network.name,
    chainId: from.network.chainId,
    user,
    action: 'approve',
    block,
    tokens: [from.token],
    plan: ({ resetAllowance }) => ({
      actions: approvals(from.token.address, spender, spent, { reset: resetAllowance && allowed > 0n }),
      currentActionIndex: 0,
      gains: [],
    }),
    suffix,
  })
  return { setupTransactions: bundleOf(bundle).actions }
}
