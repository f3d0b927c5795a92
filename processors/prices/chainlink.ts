import { z } from 'zod'
import * as Aggregator from '../../abi/chainlink/Aggregator.ts'
import { functions as proxyFunctions } from '../../abi/chainlink/AggregatorProxy.ts'
import { encodeCall, smallUint, address as wordAddress } from '../../abi/words.ts'
import { address } from '../../db/events/shapes.ts'
import { isNetworkName, type NetworkName } from '../../db/networks.ts'
import { MalformedLogError } from '../../db/process/errors.ts'
import table from '../../db/registry/contracts/chainlink.json' with { type: 'json' }
import { on, some } from '../handling/decoder.ts'
import { byNetwork } from '../knowledge/address-tables.ts'
import { type ContractReader, defineProtocol, type Protocol } from '../protocol.ts'

const feed = z.object({
  base: z.string(),
  quote: z.string(),
  proxy: address,
  decimals: z.number().int().nonnegative(),
  /** Whether it prices the network's native asset. */
  native: z.boolean(),
  /** Tokens that stand at this price. */
  assets: z.array(address),
})

/** A Chainlink feed as published: the proxy's address stays, the aggregators behind it change. */
export type Feed = z.infer<typeof feed>

/** A feed and every aggregator that its proxy names, with the decimals it answers itself. */
export interface ResolvedFeed {
  proxy: string
  decimals: number
  aggregators: readonly string[]
}

const feeds = byNetwork(
  z.object({ source: z.string(), networks: z.record(z.string(), z.array(feed)) }).parse(table).networks,
)

/** The feeds known on a network; none where no list could be confirmed. */
export function feedsOf(network: string): readonly Feed[] {
  return isNetworkName(network) ? (feeds[network] ?? []) : []
}

export const AGGREGATOR_KIND = 'chainlink-aggregator'

/** The protocol for these feeds. `network`: where their aggregators are; without it they have to be watched by name. */
export function createChainlink(resolved: readonly ResolvedFeed[], network?: NetworkName): Protocol {
  const byAggregator = new Map(
    resolved.flatMap(({ aggregators, proxy, decimals }) =>
      aggregators.map(a => [a, { proxy, decimals }] as const),
    ),
  )
  return defineProtocol({
    name: 'chainlink',
    sources: [
      {
        kind: AGGREGATOR_KIND,
        at: network ? { [network]: [...byAggregator.keys()] } : 'discovered',
        decoders: [
          on(Aggregator.AnswerUpdated, 'PriceReported', (a, log) => {
            const known = byAggregator.get(log.address)
            if (!known) throw new MalformedLogError(`no feed is known whose aggregator is ${log.address}`)
            return {
              source: 'chainlink',
              feed: known.proxy,
              answer: a.current,
              decimals: known.decimals,
              roundId: a.roundId,
              reportedAt: asTime(a.updatedAt),
            }
          }),
        ],
      },
    ],
  })
}

function asTime(seconds: bigint): number {
  if (seconds > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedLogError(`${seconds} is no time`)
  return Number(seconds)
}

/** Ids of aggregators' phases are 16 bits; no feed has gone through more than a few dozen. */
const MAX_PHASES = 64

/**
 * Asks a proxy for its aggregators, of all its phases and the present one. A contract that is an aggregator itself
 * (no aggregator() to ask) stands for itself. Undefined where it does not even say its decimals.
 */
export async function resolveFeed(proxy: string, reader: ContractReader): Promise<ResolvedFeed | undefined> {
  const ask = async <T>(fn: Parameters<typeof encodeCall>[0], as: (hex: string) => T, ...args: bigint[]) => {
    const answer = await reader.call(proxy, encodeCall(fn, ...args))
    if (answer === undefined || answer.length < 66) return undefined
    try {
      return as(answer)
    } catch (error) {
      if (error instanceof MalformedLogError) return undefined
      throw error
    }
  }
  const asAddress = (hex: string) => some(wordAddress(hex, 2))
  const decimals = await ask(Aggregator.functions.decimals, hex => smallUint(hex, 2, 8))
  if (decimals === undefined) return undefined
  const current = await ask(proxyFunctions.aggregator, asAddress)
  const phases = (await ask(proxyFunctions.phaseId, hex => smallUint(hex, 2, 16))) ?? 0
  const earlier = await Promise.all(
    Array.from({ length: Math.min(phases, MAX_PHASES) }, (_, i) =>
      ask(proxyFunctions.phaseAggregators, asAddress, BigInt(i + 1)),
    ),
  )
  const aggregators = new Set([...earlier, current].filter(a => a !== undefined))
  return { proxy, decimals, aggregators: aggregators.size > 0 ? [...aggregators] : [proxy] }
}
