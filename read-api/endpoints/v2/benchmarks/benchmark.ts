import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { choice, network } from '../../../http/parameters.ts'
import { z } from '../../../http/zod.ts'
import { BenchmarkPoint } from '../../../vaults/benchmark-schemas.ts'
import { BENCHMARK_CODES, leftOutOf, presentBenchmark, vaultsOf } from '../../../vaults/benchmarks.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/benchmarks/{network}',
  summary: 'What the largest vaults of a network earn, in USD or ETH',
  description:
    'Mean APY, weighted by TVL, of the five largest vaults of at least 1,000,000 USD whose asset is USDC, USDT, DAI, USDS or USDe (usd), or ETH or WETH (eth). null where there is none, and on a network that is not indexed here.',
  params: z.object({ network: network() }),
  query: z.object({
    code: choice(BENCHMARK_CODES).openapi({ description: 'Vaults of dollars, or of ether.' }),
    allowUnlisted,
  }),
  response: BenchmarkPoint,
  example: { params: { network: '{network}' }, query: { code: 'usd' } },
  cost: 3,
  cache: 'moment',
  handler({ params, query }, context) {
    const { chainId } = params.network
    const { catalogue, shown } = context
    const chain = catalogue.chain(chainId)
    if (chain) context.touch(chainId)
    context.leaveOut(leftOutOf(shown, chainId, query.code), false)
    return {
      apy: presentBenchmark(vaultsOf(shown, chainId, query.code)),
      timestamp: chain?.blockTime ?? Math.floor(Date.now() / 1000),
    }
  },
})
