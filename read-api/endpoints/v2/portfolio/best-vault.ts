import { adviceFilter } from '../../../catalogue/filter-schema.ts'
import { compareFigures } from '../../../catalogue/orders.ts'
import { checksum } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { Address, leftOutWarning } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { assetBalanceOf, earningsOf, optionOf, readOptions } from '../../../portfolio/deposit-options.ts'
import { AssetBalance, DepositOption, PortfolioErrors } from '../../../portfolio/schemas.ts'
import { minUsdAssetValueThreshold } from '../../../portfolio/select-positions.ts'

import { apyInterval } from '../../../vaults/history.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/best-vault/{userAddress}',
  summary: 'The one deposit that would earn a wallet most',
  description:
    'Of all that the wallet holds idle and all vaults that take it, the pair that would earn most USD in a year; featured vaults go before others. asset and vault are left out where there is none. Vaults with a flag of warning or critical are left out unless allowVaultsWithWarnings. Only listed vaults unless allowUnlisted; never one that is empty, of less than 1,000 USD, younger than a week, or whose share price alone yields more than 100 % a year or nothing that is known. Balances are read on chain now, as for best-deposit-options.',
  params: z.object({ userAddress: userAddress() }),
  query: z.object({ ...adviceFilter, apyInterval, minUsdAssetValueThreshold }),
  response: z.strictObject({
    requestedAddress: Address,
    asset: AssetBalance.optional(),
    vault: DepositOption.optional(),
    errors: PortfolioErrors.optional(),
    ...leftOutWarning,
  }),
  example: { params: { userAddress: '{user}' } },
  cost: 2,
  cache: 'none',
  async handler({ params, query }, context) {
    const { options, errors, leftOut } = await readOptions(params.userAddress, query, context)
    const interval = query.apyInterval
    // Within an asset the first is the best; between assets earnings decide.
    const [best] = options
      .flatMap(({ held, vaults }) => vaults.slice(0, 1).map(vault => ({ held, vault })))
      .sort(
        (a, b) =>
          Number(b.vault.isAppFeatured) - Number(a.vault.isAppFeatured) ||
          compareFigures(
            earningsOf(a.held, a.vault, interval),
            earningsOf(b.held, b.vault, interval),
            'desc',
          ) ||
          compareFigures(a.vault.totalApy(interval), b.vault.totalApy(interval), 'desc'),
      )
    context.leaveOut(leftOut, best === undefined)
    return {
      requestedAddress: checksum(params.userAddress),
      ...(best ? { asset: assetBalanceOf(best.held), vault: optionOf(best.held, best.vault, interval) } : {}),
      errors,
    }
  },
})
