/**
 * The protocols by their slugs: the one name that events, read models and code have for each. `name`, `product` and `version`
 * are what the wire says of it, where that is more than the slug.
 */
export const PROTOCOLS = {
  'aave-v3': { name: 'aave', product: 'lending', version: 'v3' },
  /** ERC-4626 vaults around aTokens. */
  'aave-v3-stata': { name: 'aave' },
  chainlink: { name: 'chainlink' },
  'compound-v3': { name: 'compound', product: 'lending', version: 'v3' },
  /** Tokens that describe themselves. */
  'erc-20': { name: 'erc20' },
  /** Vaults of nobody in particular, and what all vaults have in common. */
  'erc-4626': { name: 'erc4626' },
  'euler-earn': { name: 'euler' },
  'euler-v2': { name: 'euler', product: 'evk', version: 'v2' },
  fraxlend: { name: 'fraxlend' },
  merkl: { name: 'merkl' },
  metamorpho: { name: 'morpho' },
  'morpho-blue': { name: 'morpho', product: 'blue', version: 'v1' },
  'morpho-urd': { name: 'morpho' },
  'morpho-vault-v2': { name: 'morpho' },
  'staked-token': { name: 'staked-token' },
  'yearn-v3': { name: 'yearn' },
} as const satisfies Record<string, { name: string; product?: string; version?: string }>

export type ProtocolSlug = keyof typeof PROTOCOLS

/** What the wire calls a protocol. A slug that is not known stands for itself. */
export const protocolName = (slug: string): string =>
  (PROTOCOLS as Record<string, { name: string }>)[slug]?.name ?? slug
