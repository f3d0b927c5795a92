import { z } from 'zod'
import { networkByName } from '../networks.ts'
import table from './contracts/chainlink.json' with { type: 'json' }
import type { Fact } from './registry.ts'

const feed = z.object({
  proxy: z.string(),
  decimals: z.number().int().nonnegative(),
  assets: z.array(z.string()),
})

/**
 * Which Chainlink feed prices which asset, as facts: derived from contracts/chainlink.json, the list that processors
 * follow, so that the two cannot disagree.
 */
export function feedFacts(content: unknown = table): Fact[] {
  const { networks } = z.object({ networks: z.record(z.string(), z.array(feed)) }).parse(content)
  return Object.entries(networks).flatMap(([network, feeds]) => {
    const { chainId } = networkByName(network)
    return feeds.flatMap(({ proxy, decimals, assets }) =>
      assets.map(asset => ({
        subject: `asset:${chainId}:${asset}`,
        kind: 'feed',
        value: { feed: proxy, decimals },
      })),
    )
  })
}
