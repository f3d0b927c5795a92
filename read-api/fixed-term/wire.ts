import { type Address, zeroAddress } from 'viem'
import { networkOfChain } from '../../db/networks.ts'
import { PROTOCOLS, type ProtocolSlug } from '../../db/protocols.ts'
import { checksum, decimalString, usdOf, usdString } from '../http/amounts.ts'
import type { Token } from '../transactions/family.ts'
import type { FixedTermAction, FixedTermStanding } from '../transactions/fixed-term/family.ts'
import { type FixedTermMarket, NOBODY_VOUCHES, usdOfMarket } from './market.ts'

function networkOf({ chainId }: FixedTermMarket) {
  const { name = '', networkCaip = '' } = networkOfChain(chainId) ?? {}
  return { name, chainId, networkCaip }
}

export function protocolOf({ protocol }: FixedTermMarket) {
  const of: { name: string; product?: string; version?: string } = PROTOCOLS[protocol as ProtocolSlug]
  return { ...of, protocolId: protocol }
}

function lpTokenOf(market: FixedTermMarket) {
  const { name, symbol, decimals } = market.pt
  const address = checksum(market.pt.address)
  return { address, tokenCaip: `${networkOf(market).networkCaip}/erc20:${address}`, name, symbol, decimals }
}

/** What a reader of the figures has to know. */
export function warningsOf(market: FixedTermMarket): { warnings?: string[] } {
  const warnings = [
    ...(market.standing === 'found' ? [NOBODY_VOUCHES] : []),
    ...(market.hasEnded
      ? ['The market has ended: its PT is redeemed, and apy is that of the last trade.']
      : []),
    ...(market.isStateKnown
      ? []
      : ['The state of the market has not been read yet: apy is unknown and not 0.']),
    ...(market.isStateKnown && market.apy === undefined
      ? ['apy is unknown and not 0: there was never anything in the pool.']
      : []),
    ...(market.isStateKnown && market.tvl === undefined
      ? [
          'What the market is worth is unknown: the token that it wraps does not say its rate, or what is no rate.',
        ]
      : []),
    ...(market.tvl !== undefined && market.info.price === undefined
      ? [`USD values are unknown: there is no price for ${market.info.symbol}.`]
      : []),
  ]
  return warnings.length > 0 ? { warnings } : {}
}

export function fixedTermWire(market: FixedTermMarket) {
  const amount = (native: bigint | undefined) => ({
    usd: usdString(usdOfMarket(market, native)),
    native: native?.toString() ?? '',
  })
  return {
    vaultId: checksum(market.address),
    network: networkOf(market),
    name: market.pt.name,
    asset: market.info.wire,
    protocol: protocolOf(market),
    lpToken: lpTokenOf(market),
    apy: market.apy ?? 0,
    expiry: market.expiry,
    tvl: amount(market.tvl),
    liquidity: amount(market.liquidity),
    ...(market.underlyingApy === undefined ? {} : { underlyingApy: market.underlyingApy }),
    standing: market.standing,
    ...warningsOf(market),
  }
}

/** What a wallet has of the market's tokens, and what it can do. */
export function fixedTermContext(
  market: FixedTermMarket,
  user: string,
  standing: FixedTermStanding & { received: Token | undefined },
  { allowUnlisted }: { allowUnlisted: boolean },
) {
  const worth = ({ info }: FixedTermMarket, amount: bigint) => {
    const usd = usdOf(amount, info.decimals, info.price)
    return usd === undefined ? {} : { balanceUsd: decimalString(usd) }
  }
  const [inMarket, own] = [standing.tokensIn, market.info.address as Address]
  const swapIn = inMarket.includes(own) ? own : inMarket[0]
  const step = (
    name: FixedTermAction,
    spent: string,
    tokens: readonly string[],
    receives: Token | undefined,
  ) => {
    const query = new URLSearchParams({ assetAddress: checksum(spent) })
    if (allowUnlisted && name === 'swap-in') query.set('allowUnlisted', 'true')
    const path = [name, checksum(user), networkOf(market).name, checksum(market.address)]
    return {
      name,
      actions: spent === zeroAddress ? [name] : ['approve', name],
      actionsUrl: `/beta/fixed-term/transactions/${path.map(encodeURIComponent).join('/')}?${query}`,
      tokens: tokens.map(checksum),
      ...(receives ? { receives: { ...shortly(receives), address: checksum(receives.address) } } : {}),
    }
  }
  const steps = [
    ...(standing.hasEnded || !swapIn ? [] : [step('swap-in', swapIn, inMarket, market.pt as Token)]),
    ...(standing.received
      ? [step('swap-out', market.pt.address, [market.pt.address], standing.received)]
      : []),
  ]
  return {
    asset: { ...market.info.wire, balanceNative: `${standing.assets}`, ...worth(market, standing.assets) },
    lpToken: { ...lpTokenOf(market), balanceNative: `${standing.pt}` },
    expiry: market.expiry,
    actions: steps.map(({ name }) => name),
    steps,
    ...warningsOf(market),
  }
}

const shortly = ({ symbol, decimals }: Token) => ({ symbol, decimals })
