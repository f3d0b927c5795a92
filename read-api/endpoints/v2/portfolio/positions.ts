import { compileFilter } from '../../../catalogue/filter.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { userAddress } from '../../../http/parameters.ts'
import { leftOutWarning } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { positionOf, readPositions } from '../../../portfolio/positions.ts'
import { PortfolioErrors, Position } from '../../../portfolio/schemas.ts'
import { positionsQuery, selectPositions } from '../../../portfolio/select-positions.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/portfolio/positions/{userAddress}',
  summary: 'Vaults of which a wallet holds shares, and what these are worth',
  description:
    'lpToken says how many shares are held and what they are worth; asset.balanceNative is what the wallet holds of the underlying asset besides, read on chain now. Where a chain does not answer it is empty, and errors.unreachableNetworks names the network.',
  params: z.object({ userAddress: userAddress() }),
  query: positionsQuery,
  response: z.strictObject({ data: z.array(Position), errors: PortfolioErrors, ...leftOutWarning }),
  example: { params: { userAddress: '{user}' } },
  cost: 5,
  cache: 'none',
  async handler({ params, query }, context) {
    const { shown: vaults } = context
    const filter = compileFilter(query, vaults)
    let leftOut = 0
    const { held, unreachable } = await readPositions(
      params.userAddress,
      vault => {
        const figures = { tvlUsd: vault.tvlUsd, apy: vault.totalApy(query.apyInterval) }
        if (filter.isLeftOut(vault, figures)) leftOut++
        return filter.matches(vault, figures)
      },
      context,
    )
    const { shown, errors } = selectPositions(held, query, vaults)
    context.leaveOut(leftOut, shown.length === 0)
    return {
      data: shown.map(position => positionOf(position, query.apyInterval)),
      errors: { ...errors, ...(unreachable.length > 0 ? { unreachableNetworks: unreachable } : {}) },
    }
  },
})
