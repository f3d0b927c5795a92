import { findVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { checksum, usdString } from '../../../http/amounts.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { limits, pageOfRows } from '../../../http/paging.ts'
import { paging } from '../../../http/parameters.ts'
import { Address, Amount, pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { ask } from '../../../moment/query.ts'
import { worthOf } from '../../../portfolio/positions.ts'
import { holdersPage, newestHoldersPage } from '../../../vaults/holder-queries.ts'

export default defineEndpoint({
  tier: 'alpha',
  method: 'get',
  path: '/{network}/{vaultId}/holders',
  summary: 'Holders of a vault, largest first',
  params: vaultParams,
  query: z.object(paging()),
  response: pageOf(
    z
      .strictObject({
        address: Address,
        lpTokenBalance: Amount,
        balanceUsd: z.string().optional(),
        share: z.number().openapi({ description: 'Fraction of all shares held.' }),
      })
      .openapi('Holder'),
  ).extend({ totalCount: z.int(), totalBalance: Amount }),
  example: { params: { network: '{network}', vaultId: '{vault}' }, query: { perPage: '5' } },
  cost: ({ items }) => 1 + items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const { vault, pinned } = findVault(params, context)
    const { deps, signal } = context
    const asked = { ...pinned, ...limits(query) }
    const newest = await ask(deps.clickhouse, newestHoldersPage, asked, signal)
    // Heads beyond the moment are not of it, and an empty page does not say whether there are any.
    const isOfMoment = newest[0] !== undefined && newest[0].newest <= pinned.p
    const rows = isOfMoment ? newest : await ask(deps.clickhouse, holdersPage, asked, signal)
    const { holders } = vault.state
    const total = holders?.total ?? '0'
    const whole = Number(total)
    const page = pageOfRows(rows, query)
    return {
      ...page,
      data: page.data.map(({ holder, balance }) => {
        const { valueUsd } = worthOf(vault, BigInt(balance))
        return {
          address: checksum(holder),
          lpTokenBalance: balance,
          ...(valueUsd === undefined ? {} : { balanceUsd: usdString(valueUsd) }),
          share: whole > 0 ? Number(balance) / whole : 0,
        }
      }),
      totalCount: holders?.count ?? 0,
      totalBalance: total,
    }
  },
})
