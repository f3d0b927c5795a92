import { isNetworkName, type Network } from '../../db/networks.ts'
import { log } from '../../db/process/log.ts'
import { FEED_KIND } from '../../db/registry/feeds.ts'
import type { Protocol } from '../protocol.ts'
import type { ChainRpc } from '../source/rpc.ts'
import { createChainlink, feedsOf, type ResolvedFeed, resolveFeed } from './chainlink.ts'

/** A feed is reported on about once a day at least: an aggregator that was exchanged is missed by less than one report. */
const FEED_INTERVAL = 3_600_000

interface FeedOptions {
  network: Network
  protocols: readonly Protocol[]
  /** By kind. */
  contracts?: Record<string, readonly string[]>
}

/** The price feeds of a chain, with the aggregators that stand behind them now and stood there before. */
export async function readFeeds(
  { network, contracts }: FeedOptions,
  rpc: ChainRpc | undefined,
): Promise<ResolvedFeed[]> {
  const proxies = contracts?.[FEED_KIND] ?? feedsOf(network.name).map(({ proxy }) => proxy)
  if (!rpc || proxies.length === 0 || !isNetworkName(network.name)) return []
  const head = await rpc.head()
  const resolved = await Promise.all(proxies.map(proxy => resolveFeed(proxy.toLowerCase(), rpc.reader(head))))
  for (const [i, feed] of resolved.entries()) {
    if (!feed)
      log.warn(
        { network: network.name, feed: proxies[i] },
        'price feed does not answer: its asset has no price',
      )
  }
  return resolved.filter(feed => feed !== undefined)
}

/** The protocols, with Chainlink told of these feeds. */
export function withFeeds(
  { network, protocols }: FeedOptions,
  feeds: readonly ResolvedFeed[],
): readonly Protocol[] {
  if (feeds.length === 0 || !isNetworkName(network.name)) return protocols
  const chainlink = createChainlink(feeds, network.name)
  return protocols.map(protocol => (protocol.name === chainlink.name ? chainlink : protocol))
}

/** Looks now and then whether feeds have aggregators that were not known when the source began. */
export function watchAggregators(
  options: FeedOptions & { feedInterval?: number },
  rpc: ChainRpc | undefined,
  feeds: readonly ResolvedFeed[],
): { areMore(): boolean; stop(): void } {
  const known = new Set(feeds.flatMap(({ aggregators }) => aggregators))
  let areMore = false
  const look = async () => {
    const now = await readFeeds(options, rpc)
    areMore = now.some(({ aggregators }) => aggregators.some(aggregator => !known.has(aggregator)))
  }
  const timer = setInterval(() => {
    look().catch((error: Error) =>
      log.warn({ network: options.network.name, error: error.message }, 'could not look at price feeds'),
    )
  }, options.feedInterval ?? FEED_INTERVAL)
  timer.unref()
  return { areMore: () => areMore, stop: () => clearInterval(timer) }
}
