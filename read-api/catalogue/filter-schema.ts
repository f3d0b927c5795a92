import { boolean, choice, flag, names, number } from '../http/parameters.ts'

const APY_BOUND = 'Fraction, of 7 days, or of apyInterval where there is such a parameter.'

/** Whether vaults count for which nobody vouches. Where a request does not say, the installation does. */
export const allowUnlisted = boolean().optional().openapi({
  description:
    'Vaults of standing found, too: those that were found by their shape, which anybody can give a contract. Left out, and counted in x-unlisted-left-out, unless the installation shows them.',
})

/** VaultFilter of the wire: what a list of vaults can be narrowed by. Nothing is narrowed that was not asked. */
export const vaultFilter = {
  allowedNetworks: names({
    description: 'Names or CAIP-2 identifiers of networks.',
    example: ['mainnet', 'eip155:8453'],
  }),
  disallowedNetworks: names({ description: 'Ignored where allowedNetworks is given.' }),
  allowedAssets: names({
    description:
      'Symbols (of assets that listed vaults take, or the registry knows), addresses or CAIP-19 identifiers, in any case.',
    example: ['USDC'],
  }),
  disallowedAssets: names({ description: 'Ignored where allowedAssets is given.' }),
  allowedProtocols: names({ description: 'Broad protocol names or full protocol ids.' }),
  disallowedProtocols: names({ description: 'Ignored where allowedProtocols is given.' }),
  minTvl: number().optional().openapi({ description: 'USD. Vaults without a known price do not pass.' }),
  maxTvl: number().optional().openapi({ description: 'USD. Vaults without a known price do not pass.' }),
  minApy: number().optional().openapi({ description: APY_BOUND, example: 0.02 }),
  maxApy: number().optional().openapi({ description: APY_BOUND, example: 0.2 }),
  minVaultScore: number().optional().openapi({ description: 'Vaults without a score do not pass.' }),
  tags: names({ description: 'Vaults with any of these.' }),
  curators: names({ description: 'Vaults of any of these.' }),
  onlyTransactional: flag('Only vaults that transactions can be prepared for.'),
  onlyAppFeatured: flag('Only vaults that the operator features.'),
  allowCorrupted: flag('Vaults whose figures cannot be relied on, too; warnings says why.'),
  allowUnlisted,
  allowVaultsWithWarnings: boolean().optional().openapi({
    default: true,
    description: 'Given as false, leaves out vaults with a flag of warning or critical.',
  }),
}

/** The same where vaults are advised: those with warnings only for who asks for them. */
export const adviceFilter = {
  ...vaultFilter,
  allowUnlisted: flag('Vaults that no registry lists (standing made or found), too.'),
  allowVaultsWithWarnings: flag('Vaults with a flag of warning or critical, too.'),
}

/** `tvl` unless told. */
export const sortBy = <const Keys extends readonly [string, ...string[]]>(keys: Keys) =>
  choice(keys)
    .optional()
    .openapi({
      type: 'string',
      enum: [...keys],
      default: 'tvl',
      description: 'The figure that the list is sorted by; what is not known comes last.',
    })

export const sortOrder = choice(['asc', 'desc'])
  .optional()
  .transform(value => value ?? 'asc')
  .openapi({
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'asc',
    description: 'Ascending or descending; what is not known comes last in either.',
  })
