import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Settings } from '../catalogue/terms.ts'
import type { Standing } from '../catalogue/vault.ts'
import type { LendingMarket } from './market.ts'

/**
 * Who vouches for a market that anybody can open, by its own contracts: `listed` where the registry does, or a listed vault
 * whose curator gave the market a cap, or, of Euler, the governor of a listed vault that lends there; `made` where what it
 * lends and takes is known and an oracle of the registry prices it; `found` is everything else. Pools of Aave and Comets are
 * contracts that the operator named: listed.
 */
export function withStanding(
  markets: readonly LendingMarket[],
  catalogue: Catalogue,
  chain: number,
): LendingMarket[] {
  const listed = catalogue.identity.filter(
    ({ standing, network }) => standing === 'listed' && network.chainId === chain,
  )
  const known = {
    vaults: new Set(listed.map(({ state }) => state.address)),
    capped: new Set(listed.flatMap(({ state }) => marketsWithCaps(state.settings))),
  }
  return markets.map(market => ({ ...market, standing: standingIn(catalogue, market, known) }))
}

/** Ids of the markets that a vault's curator has given a cap. */
function marketsWithCaps(settings: Settings = {}): string[] {
  return Object.entries(settings).flatMap(([setting, cap]) => {
    const [, market] = /^cap:[^:]+:(.+)$/.exec(setting) ?? []
    return market && BigInt(cap ?? 0) > 0n ? [market] : []
  })
}

function standingIn(
  catalogue: Catalogue,
  market: LendingMarket,
  known: { vaults: ReadonlySet<string>; capped: ReadonlySet<string> },
): Standing {
  const { facts } = catalogue
  if (market.protocol === 'aave-v3' || market.protocol === 'compound-v3') return 'listed'
  if (facts.market(market.chainId, market.id).listed) return 'listed'
  const oracle = market.protocol === 'morpho-blue' ? market.params.oracle : market.lender.oracle
  const isPriced = oracle !== undefined && facts.contract(market.chainId, oracle).oracle !== undefined
  const isKnown = market.assets.every(({ info }) => catalogue.shown(false).isTrusted(info))
  if (market.protocol === 'morpho-blue' ? known.capped.has(market.id) : known.vaults.has(market.root))
    return 'listed'
  return isKnown && isPriced ? 'made' : 'found'
}

/** Whether a list has it. */
export const isVouchedFor = ({ standing }: LendingMarket) => standing !== 'found'

export const NOBODY_VOUCHES =
  'Nobody vouches for this market: anybody could have opened it, with tokens and an oracle of his own.'
