import { boolean, choice, flag, names, number } from './parameters.ts'

/** VaultFilter of the wire: what a list of vaults can be narrowed by. Nothing is narrowed that was not asked. */
export const vaultFilter = {
  allowedNetworks: names({ description: 'Names or CAIP-2 identifiers.' }),
  disallowedNetworks: names({ description: 'Ignored where allowedNetworks is given.' }),
  allowedAssets: names({ description: 'Symbols, in any case.' }),
  disallowedAssets: names({ description: 'Ignored where allowedAssets is given.' }),
  allowedProtocols: names({ description: 'Broad protocol names or full protocol ids.' }),
  disallowedProtocols: names({ description: 'Ignored where allowedProtocols is given.' }),
  minTvl: number().optional().openapi({ description: 'USD. Vaults without a known price do not pass.' }),
  maxTvl: number().optional().openapi({ description: 'USD. Vaults without a known price do not pass.' }),
  minApy: number().optional().openapi({ description: 'Fraction, of 7 days unless apyInterval says.' }),
  maxApy: number().optional().openapi({ description: 'Fraction, of 7 days unless apyInterval says.' }),
  minVaultScore: number().optional().openapi({ description: 'Vaults without a score do not pass.' }),
  tags: names({ description: 'Vaults with any of these.' }),
  curators: names({ description: 'Vaults of any of these.' }),
  onlyTransactional: flag(),
  onlyAppFeatured: flag(),
  allowCorrupted: flag(),
  allowVaultsWithWarnings: boolean().optional().openapi({
    default: true,
    description: 'Given as false, leaves out vaults with a flag of warning or critical.',
  }),
}

/** The same where vaults are advised: those with warnings only for who asks for them. */
export const adviceFilter = {
  ...vaultFilter,
  allowVaultsWithWarnings: flag('Vaults with a flag of warning or critical, too.'),
}

export const sortOrder = choice(['asc', 'desc'])
  .optional()
  .transform(value => value ?? 'asc')
  .openapi({ type: 'string', enum: ['asc', 'desc'], default: 'asc' })
