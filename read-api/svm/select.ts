import { toBase58 } from '../../db/base58.ts'
import { PROTOCOLS, type ProtocolSlug } from '../../db/protocols.ts'
import { SOLANA } from '../../db/streams.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { type NetworkFilter, within } from '../catalogue/filter.ts'
import { sortBy, sortOrder } from '../catalogue/filter-schema.ts'
import { byFigure, shownAmong } from '../catalogue/lists.ts'
import { isVouchedFor } from '../catalogue/vault-state.ts'
import { boolean, names, number, text } from '../http/parameters.ts'
import { type SvmVault, usdOfAssets } from './vault.ts'
import { SOLANA_CAIP } from './wire.ts'

const SORT_KEYS = ['tvl', 'apy1day', 'apy7day', 'apy30day'] as const
type SvmSortKey = (typeof SORT_KEYS)[number]

const UNKNOWN = 'Vaults of which it is not known do not pass.'
const bound = (description: string) => number().optional().openapi({ description })

/** Whether vaults count for which nobody vouches. */
export const allowUnlisted = boolean().optional().openapi({
  description:
    'Vaults of standing found, too: anybody could have made them. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
})

const SYMBOLS = 'Symbols of what the vaults take, in any case, or mints.'

/** What the list can be narrowed by. Nothing is narrowed that was not asked, but what nobody vouches for. */
export const svmFilter = {
  assetSymbol: text({ description: 'Symbol or mint of what the vaults take.', example: 'SOL' }).optional(),
  allowedAssets: names({ description: SYMBOLS, example: ['SOL'] }),
  disallowedAssets: names({ description: `${SYMBOLS} Ignored where allowedAssets is given.` }),
  allowedProtocols: names({
    description: 'Names of protocols, or their slugs.',
    example: ['spl-stake-pool'],
  }),
  disallowedProtocols: names({ description: 'Ignored where allowedProtocols is given.' }),
  allowedAssetMints: names({ description: 'Mints of what the vaults take; case matters.' }),
  disallowedAssetMints: names({ description: 'Ignored where allowedAssetMints is given.' }),
  minTvl: bound(`USD. ${UNKNOWN}`),
  maxTvl: bound(`USD. ${UNKNOWN}`),
  minApy: bound(`Fraction, of 7 days. ${UNKNOWN}`),
  maxApy: bound(`Fraction, of 7 days. ${UNKNOWN}`),
  allowUnlisted,
  sortBy: sortBy(SORT_KEYS),
  sortOrder,
}

export interface SvmFilter {
  assetSymbol?: string | undefined
  allowedAssets?: string[] | undefined
  disallowedAssets?: string[] | undefined
  allowedProtocols?: string[] | undefined
  disallowedProtocols?: string[] | undefined
  allowedAssetMints?: string[] | undefined
  disallowedAssetMints?: string[] | undefined
  minTvl?: number | undefined
  maxTvl?: number | undefined
  minApy?: number | undefined
  maxApy?: number | undefined
}

/** Whether a filter of networks means it: it is none of those that the API lists. */
export const isSolana = (name: string) =>
  [SOLANA.name, SOLANA_CAIP].some(of => of.toLowerCase() === name.toLowerCase())

export function passesSolana({ allowedNetworks, disallowedNetworks }: NetworkFilter): boolean {
  return allowedNetworks ? allowedNetworks.some(isSolana) : !disallowedNetworks?.some(isSolana)
}

type Test = (vault: SvmVault) => boolean

/** Vaults that pass; `leftOut`: those that would but for their standing. */
export function narrowed(
  vaults: readonly SvmVault[],
  query: SvmFilter,
  catalogue: Catalogue,
  withUnlisted: boolean,
): { kept: SvmVault[]; leftOut: SvmVault[] } {
  const isNamed = namedAssets(vaults, catalogue)
  const either = (
    allowed: string[] | undefined,
    not: string[] | undefined,
    of: (names: string[]) => Test,
  ) => {
    const [isAllowed, isNot] = [allowed && of(allowed), not && of(not)]
    return (vault: SvmVault) => (isAllowed ? isAllowed(vault) : !isNot?.(vault))
  }
  const assets = (of: string[]) => isOfAssets(of, isNamed)
  const tests: Test[] = [
    ...(query.assetSymbol === undefined ? [] : [assets([query.assetSymbol])]),
    either(query.allowedAssets, query.disallowedAssets, assets),
    either(query.allowedProtocols, query.disallowedProtocols, isOfProtocols),
    either(query.allowedAssetMints, query.disallowedAssetMints, isOfMints),
    vault => within(usdOfAssets(vault, vault.totalAssets), query.minTvl, query.maxTvl),
    vault => within(vault.apy['7day'], query.minApy, query.maxApy),
  ]
  const passing = vaults.filter(vault => tests.every(passes => passes(vault)))
  return shownAmong(passing, withUnlisted)
}

/** A symbol names only what vaults take that somebody vouches for, or of which the registry says something: any mint may call itself USDC. */
function namedAssets(vaults: readonly SvmVault[], { facts }: Catalogue): ReadonlySet<string> {
  return new Set([
    ...facts.assetsOf(SOLANA.id),
    ...vaults.filter(isVouchedFor).map(({ asset }) => asset.mint),
  ])
}

function isOfAssets(of: readonly string[], isNamed: ReadonlySet<string>): Test {
  const isMint = isOfMints(of)
  const symbols = new Set(of.map(name => name.toLowerCase()))
  return vault =>
    isMint(vault) || (symbols.has(vault.asset.symbol.toLowerCase()) && isNamed.has(vault.asset.mint))
}

function isOfMints(of: readonly string[]): Test {
  const wanted = new Set(of)
  return ({ asset }) => wanted.has(toBase58(asset.mint))
}

function isOfProtocols(of: readonly string[]): Test {
  const wanted = new Set(of.map(name => name.toLowerCase()))
  return ({ protocol }) => wanted.has(protocol) || wanted.has(PROTOCOLS[protocol as ProtocolSlug]?.name ?? '')
}

const FIGURES: Record<SvmSortKey, (vault: SvmVault) => number | undefined> = {
  tvl: vault => usdOfAssets(vault, vault.totalAssets),
  apy1day: ({ apy }) => apy['1day'],
  apy7day: ({ apy }) => apy['7day'],
  apy30day: ({ apy }) => apy['30day'],
}

export const sorted = (vaults: readonly SvmVault[], key: SvmSortKey, order: 'asc' | 'desc') =>
  byFigure(vaults, FIGURES[key], order)
