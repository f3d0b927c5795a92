import { BENCHMARK_CODES, presentBenchmark, vaultsOf } from '../../../benchmarks.ts'
import { defineEndpoint } from '../../../endpoint.ts'
import { findChain } from '../../../find-vault.ts'
import { BenchmarkPoint } from '../../../schemas/benchmarks.ts'
import { choice, network } from '../../../schemas/parameters.ts'
import { z } from '../../../schemas/zod.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/benchmarks/{network}',
  summary: 'What the largest vaults of a network earn, in USD or ETH',
  description:
    'Mean APY, weighted by TVL, of the five largest vaults of at least 1,000,000 USD whose asset is USDC, USDT, DAI, USDS or USDe (usd), or ETH or WETH (eth). null where there is none.',
  params: z.object({ network: network() }),
  query: z.object({ code: choice(BENCHMARK_CODES) }),
  response: BenchmarkPoint,
  example: { params: { network: '{network}' }, query: { code: 'usd' } },
  cost: 3,
  cache: 'moment',
  handler({ params, query }, context) {
    const { chainId } = params.network
    const { blockTime } = findChain(params.network, context)
    return {
      apy: presentBenchmark(vaultsOf(context.catalogue, chainId, query.code)),
      timestamp: blockTime,
    }
  },
})
