import { boolean, choice, list, number } from './parameters.ts'

/** VaultFilter of the wire: what a list of vaults can be narrowed by. Nothing is narrowed that was not asked. */
export const vaultFilter = {
  allowedNetworks: list({ description: 'Names or CAIP-2 identifiers.' }).optional(),
  disallowedNetworks: list({ description: 'Ignored where allowedNetworks is given.' }).optional(),
  allowedAssets: list({ description: 'Symbols, in any case.' }).optional(),
  disallowedAssets: list({ description: 'Ignored where allowedAssets is given.' }).optional(),
  allowedProtocols: list({ description: 'Broad protocol names or full protocol ids.' }).optional(),
  disallowedProtocols: list({ description: 'Ignored where allowedProtocols is given.' }).optional(),
  minTvl: number().optional().openapi({ description: 'USD. Vaults without a known price do not pass.' }),
  maxTvl: number().optional().openapi({ description: 'USD. Vaults without a known price do not pass.' }),
  minApy: number().optional().openapi({ description: 'Fraction, of 7 days unless apyInterval says.' }),
  maxApy: number().optional().openapi({ description: 'Fraction, of 7 days unless apyInterval says.' }),
  minVaultScore: number().optional().openapi({ description: 'Vaults without a score do not pass.' }),
  tags: list({ description: 'Vaults with any of these.' }).optional(),
  curators: list({ description: 'Vaults of any of these.' }).optional(),
  onlyTransactional: boolean().optional(),
  onlyAppFeatured: boolean().optional(),
  allowCorrupted: boolean().optional(),
  allowVaultsWithWarnings: boolean()
    .optional()
    .openapi({ description: 'Given as false, leaves out vaults with a flag of warning or critical.' }),
}

export const sortOrder = choice(['asc', 'desc'])
  .optional()
  .transform(value => value ?? 'asc')
  .openapi({ type: 'string', enum: ['asc', 'desc'], default: 'asc' })
