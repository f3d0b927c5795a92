interface ProtocolWords {
  name: string
  product?: string
  version?: string
  /** The token of its vaults counts assets: balances grow, and shares are what it keeps itself. */
  isRebasing?: true
  /** Its vaults are those of pools that the registry names: their books are nobody's own. */
  hasNamedPools?: true
  /**
   * Its factories make vaults that take deposits and pay redemptions in one transaction, and pay no rewards out
   * themselves.
   */
  isSynchronous?: true
}

/**
 * The protocols by their slugs: the one name that events, read models and code have for each. `name`, `product` and `version`
 * are what the wire says of it, where that is more than the slug.
 */
export const PROTOCOLS = {
  'aave-v3': { name: 'aave', product: 'lending', version: 'v3', isRebasing: true, hasNamedPools: true },
  /** ERC-4626 vaults around aTokens. */
  'aave-v3-stata': { name: 'aave' },
  /** Circle's bridge of USDC. */
  'cctp-v2': { name: 'cctp', product: 'bridge', version: 'v2' },
  chainlink: { name: 'chainlink' },
  'compound-v3': {
    name: 'compound',
    product: 'lending',
    version: 'v3',
    isRebasing: true,
    hasNamedPools: true,
  },
  /** Tokens that describe themselves. */
  'erc-20': { name: 'erc20' },
  /** Vaults of nobody in particular, and what all vaults have in common. */
  'erc-4626': { name: 'erc4626' },
  'euler-earn': { name: 'euler', isSynchronous: true },
  'euler-v2': { name: 'euler', product: 'evk', version: 'v2', isSynchronous: true },
  fraxlend: { name: 'fraxlend', isSynchronous: true },
  /** Vaults of concentrated liquidity. */
  ichi: { name: 'ichi' },
  /** Of Solana: shares of lent assets. */
  'jupiter-lend': { name: 'jupiter', product: 'lend' },
  /** Of Solana: vaults that lend in its markets. */
  kamino: { name: 'kamino' },
  merkl: { name: 'merkl' },
  metamorpho: { name: 'morpho', isSynchronous: true },
  'morpho-blue': { name: 'morpho', product: 'blue', version: 'v1' },
  'morpho-urd': { name: 'morpho' },
  'morpho-vault-v2': { name: 'morpho', isSynchronous: true },
  'pendle-v2': { name: 'pendle', product: 'PT', version: 'v2' },
  /** Pools of staked SOL, on Solana: SPL's own program and those of its code. */
  'spl-stake-pool': { name: 'spl-stake-pool' },
  'staked-token': { name: 'staked-token' },
  'yearn-v3': { name: 'yearn', isSynchronous: true },
} as const satisfies Record<string, ProtocolWords>

export type ProtocolSlug = keyof typeof PROTOCOLS

/** Those of which the wire names product and version: what is more than a vault. */
export type ProductSlug = {
  [Slug in ProtocolSlug]: (typeof PROTOCOLS)[Slug] extends { version: string } ? Slug : never
}[ProtocolSlug]

/** What the wire calls a protocol. A slug that is not known stands for itself. */
export const protocolName = (slug: string): string => wordsOf(slug)?.name ?? slug

/** Whether a unit of the token of such a vault is a unit of its asset, and not a share. */
export const isRebasing = (slug: string): boolean => wordsOf(slug)?.isRebasing ?? false

export const hasNamedPools = (slug: string): boolean => wordsOf(slug)?.hasNamedPools ?? false
export const isSynchronous = (slug: string): boolean => wordsOf(slug)?.isSynchronous ?? false

const wordsOf = (slug: string) => (PROTOCOLS as Record<string, ProtocolWords>)[slug]
