import { z } from 'zod'
import { fromBase58 } from '../base58.ts'
import { networkByName, networkIds } from '../networks.ts'
import { SOLANA } from '../streams.ts'
import table from './contracts/chainlink.json' with { type: 'json' }
import { readContractsFile } from './contracts-file.ts'
import type { Fact } from './fact.ts'

const feed = z.object({
  base: z.string(),
  proxy: z.string(),
  decimals: z.number().int().nonnegative(),
  /** It prices the chain's own coin. */
  native: z.boolean(),
  assets: z.array(z.string()),
})

const listSchema = z.object({ networks: z.record(z.string(), z.array(feed)) })

/** Stands for a chain's own coin where an address is wanted (as ERC-7528 has it). */
export const COIN_ADDRESS = '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'

/** Wrapped SOL, of which vaults on Solana are. */
const WRAPPED_SOL = `asset:${SOLANA.id}:${fromBase58('So11111111111111111111111111111111111111112')}`

/** Kind of contract under which configuration names price feeds (their proxies). */
export const FEED_KIND = 'chainlink-feed'

/** The feeds (their proxies, in lower case) that processors with this CONTRACTS_FILE follow, by chain. */
export async function listFeeds(contractsFile: string | undefined): Promise<Map<number, Set<string>>> {
  const file = contractsFile ? await readContractsFile(contractsFile) : {}
  const { networks } = listSchema.parse(table)
  return new Map(
    networkIds.map(({ name, chainId }) => {
      const proxies = file[name]?.[FEED_KIND] ?? networks[name]?.map(({ proxy }) => proxy) ?? []
      return [chainId, new Set(proxies.map(proxy => proxy.toLowerCase()))]
    }),
  )
}

/**
 * Which Chainlink feed prices which asset, as facts: derived from contracts/chainlink.json, the list that processors
 * follow, so that the two cannot disagree.
 */
export function feedFacts(content: unknown = table): Fact[] {
  const { networks } = listSchema.parse(content)
  return Object.entries(networks).flatMap(([network, feeds]) => {
    const { chainId } = networkByName(network)
    return feeds.flatMap(({ base, proxy, decimals, native, assets }) => [
      ...[...assets, ...(native ? [COIN_ADDRESS] : [])].map(asset => ({
        subject: `asset:${chainId}:${asset}`,
        kind: 'feed',
        value: { feed: proxy, decimals },
      })),
      ...(base === 'SOL'
        ? [{ subject: WRAPPED_SOL, kind: 'feed', value: { feed: proxy, decimals, chainId } }]
        : []),
    ])
  })
}
