import { marketsWithCaps } from '../catalogue/backing.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import { familyOf } from '../load-protocols.ts'
import type { Vouchers } from './family.ts'
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

function standingIn(catalogue: Catalogue, market: LendingMarket, known: Vouchers): Standing {
  const { facts } = catalogue
  const vouching = familyOf(market).vouching?.(market, known)
  if (!vouching || vouching.isListed || facts.market(market.chainId, market.id).listed) return 'listed'
  const { oracle } = vouching
  const isPriced = oracle !== undefined && facts.contract(market.chainId, oracle).oracle !== undefined
  const isKnown = market.assets.every(({ info }) => catalogue.shown(false).isTrusted(info))
  return isKnown && isPriced ? 'made' : 'found'
}

export const NOBODY_VOUCHES =
  'Nobody vouches for this market: anybody could have opened it, with tokens and an oracle of his own.'
