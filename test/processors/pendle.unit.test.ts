import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Abi, encodeAbiParameters, encodeEventTopics, encodeFunctionResult } from 'viem'
import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { networkOfChain } from '../../db/networks.ts'
import table from '../../db/registry/contracts/pendle-v2.json' with { type: 'json' }
import { createDecoder } from '../../processors/handling/decode.ts'
import pendle from '../../processors/protocols/pendle-v2/index.ts'
import { readState, readTokens } from '../../processors/protocols/pendle-v2/state.ts'

const address = (digit: string) => `0x${digit.repeat(40)}` as const
const [MARKET, PT, SY, YT] = ['a', 'b', 'c', 'd'].map(address) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
]
const published = (root: string, path: string) =>
  (JSON.parse(readFileSync(`node_modules/${root}/build/artifacts/contracts/${path}`, 'utf8')) as { abi: Abi })
    .abi

test('factories, router and oracle are those that the package names, on each of our networks', () => {
  const folder = 'node_modules/@pendle/core-v2/deployments'
  const named: Record<string, string[]> = {}
  for (const file of readdirSync(folder).filter(of => of.endsWith('-core.json'))) {
    const network = networkOfChain(Number.parseInt(file, 10))
    const deployment = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Record<string, unknown>
    const factories = Object.entries(deployment).flatMap(([name, at]) =>
      /^marketFactory(V\d+)?$/.test(name) ? [String(at).toLowerCase()] : [],
    )
    if (!network || factories.length === 0) continue
    named[network.name] = factories
    expect(String(deployment['router']).toLowerCase()).toBe(table.router)
    expect(String(deployment['pyYtLpOracle']).toLowerCase()).toBe(table.oracle)
  }
  expect(Object.keys(named)).toHaveLength(10)
  expect(table.factories).toEqual(named)
})

describe('a market that a factory makes', () => {
  const FACTORY = table.factories.mainnet[0] ?? ''
  const made = (abi: Abi, data: readonly bigint[]) => ({
    address: FACTORY,
    topics: encodeEventTopics({
      abi,
      eventName: 'CreateNewMarket',
      args: { market: MARKET, PT },
    }) as string[],
    data: encodeAbiParameters(
      ['int256', 'int256', 'uint256'].slice(0, data.length).map(type => ({ type })),
      data,
    ),
    logIndex: 3,
    transactionHash: `0x${'1'.repeat(64)}`,
  })
  const generations = {
    first: made(published('pendle-sy', 'core/Market/v1/PendleMarketFactory.sol/PendleMarketFactory.json'), [
      1n,
      2n,
    ]),
    later: made(
      published('@pendle/core-v2', 'core/Market/PendleMarketFactoryV7Upg.sol/PendleMarketFactoryV7Upg.json'),
      [1n, 2n, 3n],
    ),
  }

  test.each(Object.entries(generations))('of the %s generation is watched, with its PT', (_, log) => {
    const { events, rejected } = createDecoder([pendle], 'mainnet').decodeBlock([log], {
      isWatched: (kind, contract) => kind === 'pendle-v2-factory' && contract === FACTORY,
      isInspected: () => false,
    })
    expect(rejected).toEqual([])
    expect(events).toMatchObject([
      {
        type: 'FixedTermMarketCreated',
        protocol: 'pendle-v2',
        contract: FACTORY,
        data: { market: MARKET, pt: PT },
      },
    ])
    expect(pendle.watches?.(events[0] as DomainEvent)).toEqual([
      { kind: 'pendle-v2-market', contract: MARKET },
      { kind: 'pendle-v2-pt', contract: PT },
    ])
  })

  test('of anybody else is left alone', () => {
    const log = { ...generations.later, address: address('e') }
    const { events } = createDecoder([pendle], 'mainnet').decodeBlock([log], {
      isWatched: (kind, contract) => kind === 'pendle-v2-factory' && contract === FACTORY,
      isInspected: () => false,
    })
    expect(events).toEqual([])
  })
})

describe('what an SY says of its rate', () => {
  const read = readState({ market: MARKET, pt: PT, sy: SY, yt: YT, expiry: 2_000_000_000 })
  const state = encodeFunctionResult({
    abi: published('@pendle/core-v2', 'interfaces/IPMarket.sol/IPMarket.json'),
    functionName: 'readState',
    result: {
      totalPt: 11n,
      totalSy: 22n,
      totalLp: 33n,
      treasury: SY,
      scalarRoot: 1n,
      expiry: 2n,
      lnFeeRateRoot: 3n,
      reserveFeePercent: 4n,
      lastLnImpliedRate: 55n,
    },
  })
  const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  const answers = (rate: string | undefined) => [state, word(7n), word(10n ** 18n), rate, word(9n)]

  test('is kept beside what the market says', () => {
    expect(read.events(answers(word(2n * 10n ** 18n)))).toEqual([
      {
        type: 'FixedTermStateSampled',
        contract: MARKET,
        data: {
          totalPt: 11n,
          totalSy: 22n,
          totalLp: 33n,
          lnRateWad: 55n,
          ptSupply: 7n,
          exchangeRate: 2n * 10n ** 18n,
          pyIndex: 10n ** 18n,
          oracleRateWad: 9n,
        },
      },
    ])
    expect(read.trouble?.(answers(word(2n * 10n ** 18n)))).toBeUndefined()
  })

  test.each([
    ['nothing', undefined, /does not answer/],
    ['zero', word(0n), /says 0, which is no rate/],
    ['more than any rate', word(10n ** 36n + 1n), /which is no rate/],
  ])('is not known where it says %s, and the operator is told', (_, rate, reason) => {
    const [event] = read.events(answers(rate))
    expect(event?.data).toMatchObject({ totalPt: 11n, exchangeRate: undefined })
    expect(read.trouble?.(answers(rate))).toMatchObject({
      contract: SY,
      reason: expect.stringMatching(reason),
    })
  })

  test('is asked hourly until a week after the expiry', () => {
    expect(read.hourlyUntil).toBe(2_000_000_000 + 7 * 86_400)
  })
})

test('a market that does not say its tokens or its end teaches nothing', () => {
  const read = readTokens(MARKET)
  const tokens = encodeAbiParameters(
    [{ type: 'address' }, { type: 'address' }, { type: 'address' }],
    [SY, PT, YT],
  )
  const end = `0x${(1_800_000_000).toString(16).padStart(64, '0')}`
  expect(read.events([tokens, end])).toMatchObject([
    { data: { market: MARKET, sy: SY, pt: PT, yt: YT, expiry: 1_800_000_000 } },
  ])
  expect(read.events([undefined, end])).toEqual([])
  expect(read.events([tokens, undefined])).toEqual([])
  expect(read.events([tokens, `0x${'f'.repeat(64)}`])).toEqual([])
})
