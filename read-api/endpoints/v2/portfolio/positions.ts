import { compileFilter, unservedNetworks } from '../../../catalogue/filter.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { positionOf, readPositions } from '../../../positions.ts'
import { address } from '../../../schemas/parameters.ts'
import { PortfolioErrors, Position } from '../../../schemas/portfolio.ts'
import { z } from '../../../schemas/zod.ts'
import { positionsQuery, selectPositions } from '../../../select-positions.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/positions/{userAddress}',
  summary: 'Vaults of which a wallet holds shares, and what these are worth',
  description:
    'lpToken says how many shares are held and what they are worth; asset.balanceNative is what the wallet holds of the underlying asset besides, read on chain now. Where a chain does not answer it is empty, and errors.unreachableNetworks names the network.',
  params: z.object({ userAddress: address() }),
  query: positionsQuery,
  response: z.strictObject({ data: z.array(Position), errors: PortfolioErrors }),
  example: { params: { userAddress: '{user}' } },
  cost: 5,
  cache: 'none',
  async handler({ params, query }, context) {
    const filter = compileFilter(query, context.catalogue)
    const { held, unreachable: silent } = await readPositions(
      params.userAddress,
      vault => filter.matches(vault, { tvlUsd: vault.tvlUsd, apy: vault.totalApy(query.apyInterval) }),
      context,
    )
    const unreachable = [...silent, ...unservedNetworks(query, context.catalogue)].sort()
    const { shown, errors } = selectPositions(held, query, context.catalogue)
    return {
      data: shown.map(position => positionOf(position, query.apyInterval)),
      errors: { ...errors, ...(unreachable.length > 0 ? { unreachableNetworks: unreachable } : {}) },
    }
  },
})
