import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { createDecoder } from '../../../processors/handling/decode.ts'
import { createChainlink, feedsOf, resolveFeed } from '../../../processors/prices/chainlink.ts'
import type { ContractReader } from '../../../processors/protocol.ts'

const address = (c: string) => `0x${c.repeat(40)}`
const PROXY = address('f')
const abi = parseAbi([
  'function aggregator() view returns (address)',
  'function phaseId() view returns (uint16)',
  'function phaseAggregators(uint16) view returns (address)',
  'function decimals() view returns (uint8)',
  'event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)',
])
const call = (
  functionName: 'aggregator' | 'phaseId' | 'phaseAggregators' | 'decimals',
  args: number[] = [],
) => encodeFunctionData({ abi, functionName, args: args as never })
const answer = (type: string, value: unknown) => encodeAbiParameters([{ type }], [value as never])
const chain = (answers: Record<string, string>): ContractReader => ({
  blockNumber: 1,
  troubles: new Map(),
  call: async (_, data) => answers[data],
  deployment: async () => undefined,
})

test('a feed is resolved to the aggregators of all its phases', async () => {
  const resolved = await resolveFeed(
    PROXY,
    chain({
      [call('decimals')]: answer('uint8', 8),
      [call('phaseId')]: answer('uint16', 3),
      [call('phaseAggregators', [1])]: answer('address', address('1')),
      [call('phaseAggregators', [2])]: answer('address', address('0')),
      [call('phaseAggregators', [3])]: answer('address', address('3')),
      [call('aggregator')]: answer('address', address('3')),
    }),
  )
  expect(resolved).toEqual({ proxy: PROXY, decimals: 8, aggregators: [address('1'), address('3')] })
})

test('a contract that only says its decimals is its own aggregator; one that says nothing is no feed', async () => {
  const alone = await resolveFeed(PROXY, chain({ [call('decimals')]: answer('uint8', 18) }))
  expect(alone).toEqual({ proxy: PROXY, decimals: 18, aggregators: [PROXY] })
  expect(await resolveFeed(PROXY, chain({}))).toBeUndefined()
})

test('AnswerUpdated of an aggregator is a price of its feed, negative answers included', () => {
  const protocol = createChainlink([{ proxy: PROXY, decimals: 8, aggregators: [address('1')] }], 'mainnet')
  const decoder = createDecoder([protocol], 'mainnet')
  expect(decoder.sources()).toEqual([{ kind: 'chainlink-aggregator', contract: address('1') }])
  const topics = encodeEventTopics({
    abi,
    eventName: 'AnswerUpdated',
    args: { current: -12n, roundId: 7n },
  }) as string[]
  const log = {
    address: address('1'),
    topics,
    data: answer('uint256', 1_700_000_000n),
    logIndex: 3,
    transactionHash: `0x${'1'.repeat(64)}`,
  }
  const { events } = decoder.decodeBlock([log], { isWatched: () => true, isInspected: () => true })
  expect(events.map(e => e.data)).toEqual([
    { source: 'chainlink', feed: PROXY, answer: -12n, decimals: 8, roundId: 7n, reportedAt: 1_700_000_000 },
  ])
})

test('published feeds: mainnet prices ETH and the dollars, and what is not listed has none', () => {
  const bases = feedsOf('mainnet').map(f => f.base)
  for (const base of ['ETH', 'BTC', 'USDC', 'USDT', 'DAI', 'EUR']) expect(bases).toContain(base)
  expect(feedsOf('mainnet').find(f => f.native)?.proxy).toBe('0x5f4ec3df9cbd43714fe2740f5e3616155c5b8419')
  expect(feedsOf('swellchain')).toEqual([])
})
