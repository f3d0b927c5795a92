import { adviceFilter } from '../../../catalogue/filter-schema.ts'
import { checksum } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { integer, names, userAddress } from '../../../http/parameters.ts'
import { Address, leftOutWarning } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { assetBalanceOf, optionOf, readOptions } from '../../../portfolio/deposit-options.ts'
import { AssetBalance, DepositOption, PortfolioErrors } from '../../../portfolio/schemas.ts'
import { minUsdAssetValueThreshold } from '../../../portfolio/select-positions.ts'
import { apyInterval } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/best-deposit-options/{userAddress}',
  summary: 'For each asset that a wallet holds idle, the best vaults that take it',
  description:
    'Assets by value, the largest first; vaults that are featured before others, then by APY. Vaults with a flag of warning or critical are left out unless allowVaultsWithWarnings. Only listed vaults unless allowUnlisted; never one that is empty, of less than 1,000 USD, younger than a week, or whose share price alone yields more than 100 % a year or nothing that is known. Balances are read on chain now; a network that does not answer is named in errors.unreachableNetworks, and where none answers, the status is 503.',
  params: z.object({ userAddress: userAddress() }),
  query: z.object({
    ...adviceFilter,
    apyInterval,
    minUsdAssetValueThreshold,
    alwaysReturnAssets: names({
      description:
        'Symbols, addresses or CAIP-19 identifiers of assets that are in the answer also where the wallet has none of them, and whatever allowedAssets and disallowedAssets say.',
    }),
    maxVaultsPerAsset: integer({ min: 1, max: 5_000 })
      .optional()
      .transform(value => value ?? 3)
      .openapi({
        type: 'integer',
        minimum: 1,
        maximum: 5_000,
        default: 3,
        description: 'Vaults named of each asset; each costs credits.',
      }),
  }),
  response: z.strictObject({
    requestedAddress: Address,
    userBalances: z.array(
      z.strictObject({ asset: AssetBalance.optional(), depositOptions: z.array(DepositOption) }),
    ),
    errors: PortfolioErrors.optional(),
    ...leftOutWarning,
  }),
  example: { params: { userAddress: '{user}' } },
  costInWords: 'Costs 1 credit and 2 for each vault named.',
  cost: ({ body }) =>
    1 + 2 * (body?.userBalances.reduce((sum, { depositOptions }) => sum + depositOptions.length, 0) ?? 0),
  cache: 'none',
  async handler({ params, query }, context) {
    const always = query.alwaysReturnAssets ?? []
    const { options, errors, leftOut } = await readOptions(params.userAddress, query, context, always)
    context.leaveOut(
      leftOut,
      options.every(({ vaults }) => vaults.length === 0),
    )
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
