import { checksum } from '../../../amounts.ts'
import { assetBalanceOf, optionOf, readOptions } from '../../../deposit-options.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { adviceFilter } from '../../../schemas/filter.ts'
import { address, integer, list } from '../../../schemas/parameters.ts'
import { AssetBalance, DepositOption, PortfolioErrors } from '../../../schemas/portfolio.ts'
import { Address } from '../../../schemas/shapes.ts'
import { z } from '../../../schemas/zod.ts'
import { minUsdAssetValueThreshold } from '../../../select-positions.ts'
import { apyInterval } from '../../../vault-history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/best-deposit-options/{userAddress}',
  summary: 'For each asset that a wallet holds idle, the best vaults that take it',
  description:
    'Assets by value, the largest first; vaults that are featured before others, then by APY. Vaults with a flag of warning or critical are left out unless allowVaultsWithWarnings. Balances are read on chain now; a network that does not answer is named in errors.unreachableNetworks, and where none answers, the status is 503.',
  params: z.object({ userAddress: address() }),
  query: z.object({
    ...adviceFilter,
    apyInterval,
    minUsdAssetValueThreshold,
    alwaysReturnAssets: list({
      description: 'Symbols or addresses of assets that are in the answer also where the wallet has none.',
    }).optional(),
    maxVaultsPerAsset: integer({ min: 1, max: 5_000 })
      .optional()
      .transform(value => value ?? 3)
      .openapi({ type: 'integer', minimum: 1, maximum: 5_000, default: 3 }),
  }),
  response: z.strictObject({
    requestedAddress: Address,
    userBalances: z.array(
      z.strictObject({ asset: AssetBalance.optional(), depositOptions: z.array(DepositOption) }),
    ),
    errors: PortfolioErrors.optional(),
  }),
  example: { params: { userAddress: '{user}' } },
  cost: ({ body }) =>
    1 + 2 * (body?.userBalances.reduce((sum, { depositOptions }) => sum + depositOptions.length, 0) ?? 0),
  cache: 'none',
  async handler({ params, query }, context) {
    const always = new Set((query.alwaysReturnAssets ?? []).map(name => name.toLowerCase()))
    const { options, errors } = await readOptions(params.userAddress, query, context, always)
    return {
      requestedAddress: checksum(params.userAddress),
      userBalances: options.map(({ held, vaults }) => ({
        asset: assetBalanceOf(held),
        depositOptions: vaults
          .slice(0, query.maxVaultsPerAsset)
          .map(vault => optionOf(held, vault, query.apyInterval)),
      })),
      errors,
    }
  },
})
