import { allowUnlisted } from '../../../catalogue/filter-schema.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { pageOfAll } from '../../../http/paging.ts'
import { choice, network, paging, timestamp } from '../../../http/parameters.ts'
import { pageOf } from '../../../http/shapes.ts'
import { z } from '../../../http/zod.ts'
import { bucketRange, SECONDS_OF_DAY as DAY, readRange } from '../../../moment/time-range.ts'
import { BenchmarkPoint } from '../../../vaults/benchmark-schemas.ts'
import { BENCHMARK_CODES, leftOutOf, pastBenchmarks, vaultsOf } from '../../../vaults/benchmarks.ts'

export default defineEndpoint({
  tier: 'v2',
  method: 'get',
  path: '/historical-benchmarks/{network}',
  summary: 'What the largest vaults of a network earned, by day',
  description:
    'One item per UTC day, ascending, from the day on which the first vault of the benchmark was seen: of each vault its first sample of the day, at the price of then. null on days on which no vault was large enough.',
  params: z.object({ network: network() }),
  query: z.object({
    code: choice(BENCHMARK_CODES).openapi({ description: 'Vaults of dollars, or of ether.' }),
    allowUnlisted,
    fromTimestamp: timestamp().optional(),
    toTimestamp: timestamp().optional(),
    ...paging({ max: 20_000 }),
  }),
  response: pageOf(BenchmarkPoint),
  table: 'data',
  example: { params: { network: '{network}' }, query: { code: 'usd' } },
  cost: ({ items }) => 3 + 3 * items,
  cache: 'moment',
  async handler({ params, query }, context) {
    const chain = context.catalogue.chain(params.network.chainId)
    // No day of a network that is not indexed has a benchmark.
    if (!chain) return pageOfAll<never>([], query)
    context.touch(params.network.chainId)
    const { blockTime } = chain
    const range = bucketRange(readRange(query, context.catalogue.moment), '1day')
    const vaults = vaultsOf(context.shown, params.network.chainId, query.code)
    context.leaveOut(leftOutOf(context.shown, params.network.chainId, query.code), vaults.length === 0)
    const seen = vaults.reduce((first, { state }) => Math.min(first, state.seenAt), blockTime)
    const from = Math.max(range.from, Math.floor(seen / DAY) * DAY)
    const to = Math.min(range.to, (Math.floor(blockTime / DAY) + 1) * DAY)
    const count = vaults.length === 0 ? 0 : Math.max(0, Math.ceil((to - from) / DAY))
    const days = Array.from({ length: count }, (_, i) => from + i * DAY)
    const page = pageOfAll(days, query)
    const first = page.data[0]
    const last = page.data.at(-1)
    const found =
      first === undefined || last === undefined
        ? undefined
        : await pastBenchmarks(vaults, { from: first, to: last + DAY }, context)
    return { ...page, data: page.data.map(day => ({ apy: found?.get(day) ?? null, timestamp: day })) }
  },
})
