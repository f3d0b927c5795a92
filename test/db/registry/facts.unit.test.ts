import { readdirSync, readFileSync } from 'node:fs'
import { ChainlinkEthereum } from '@aave-dao/aave-address-book'
import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { checkFacts, countFacts, listedVaults } from '../../../db/registry/check.ts'
import chainlink from '../../../db/registry/contracts/chainlink.json' with { type: 'json' }
import type { Fact } from '../../../db/registry/fact.ts'
import { factsOf } from '../../../db/registry/facts-file.ts'
import { feedFacts } from '../../../db/registry/feeds.ts'
import { FACTS, readFacts } from '../../../db/registry/registry.ts'

const VAULT = `vault:1:0x${'ab'.repeat(20)}`

describe('the registry of facts as it is', () => {
  it('is in order, and lists at least 60 vaults on at least 8 networks', async () => {
    const facts = await readFacts(FACTS)
    expect(checkFacts(facts)).toEqual([])
    const { listed } = countFacts(facts)
    expect(Object.keys(listed).length).toBeGreaterThanOrEqual(8)
    expect(Object.values(listed).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(60)
  })

  it('knows the savings vaults everybody knows', async () => {
    const facts = await readFacts(FACTS)
    expect(listedVaults(facts, 1)).toContain('0x83f20f44975d03b1b09e64809b757c47f942beea')
    expect(listedVaults(facts, 100)).toContain('0xaf204776c7245bf4147c2612bf6e5972ee483701')
  })

  it('vouches for what is wrapped in the markets that Pendle’s own package lists', async () => {
    const facts = await readFacts(FACTS)
    const vouched = new Set(facts.filter(({ kind }) => kind === 'wrapper').map(({ subject }) => subject))
    const packaged = new URL('../../../node_modules/pendle-sy/deployments/', import.meta.url)
    let markets = 0
    for (const chain of [1, 10, 56, 42161])
      for (const file of readdirSync(new URL(`${chain}-markets/`, packaged))) {
        if (!file.endsWith('.json')) continue
        const { SY } = JSON.parse(readFileSync(new URL(`${chain}-markets/${file}`, packaged), 'utf8'))
        expect(vouched, file).toContain(`contract:${chain}:${SY.toLowerCase()}`)
        markets++
      }
    expect(markets).toBeGreaterThan(100)
  })

  it('prices every asset that Chainlink prices, by the feed that processors follow', async () => {
    const facts = await readFacts(FACTS)
    const feeds = new Map(
      facts.filter(({ kind }) => kind === 'feed').map(({ subject, value }) => [subject, value]),
    )
    for (const { proxy, decimals, assets } of chainlink.networks.mainnet)
      for (const asset of assets) expect(feeds.get(`asset:1:${asset}`)).toEqual({ feed: proxy, decimals })
  })
})

describe('a file of facts', () => {
  const entry = (more: object) => ({
    source: 'here',
    vaults: [{ network: 'base', address: `0x${'AB'.repeat(20)}`, ...more }],
  })

  it('gives one fact for each thing said, addresses in lower case', () => {
    expect(factsOf('a.json', entry({ tags: ['x'], featured: true }))).toEqual([
      { subject: `vault:8453:0x${'ab'.repeat(20)}`, kind: 'tags', value: ['x'] },
      { subject: `vault:8453:0x${'ab'.repeat(20)}`, kind: 'featured', value: true },
    ])
  })

  it.each([
    ['no source', { vaults: [] }, /a\.json.*source/s],
    ['a kind nobody knows', entry({ colour: 'red' }), /colour/],
    [
      'an unknown network',
      { source: 'x', vaults: [{ network: 'atlantis', address: `0x${'ab'.repeat(20)}` }] },
      /atlantis/,
    ],
    [
      'an address with a slip in it',
      // The last digit of sDAI's address.
      {
        source: 'x',
        vaults: [{ network: 'mainnet', address: '0x83F20F44975D03b1b09e64809B757c47f942BEeB' }],
      },
      /checksum/,
    ],
    ['an identifier that looks like an address', entry({ vaultId: '0xsomething' }), /vaultId/],
    ['a bad address', { source: 'x', vaults: [{ network: 'base', address: '0x12' }] }, /address/],
    ['a fee of 150 %', entry({ fees: { performanceFee: 1.5 } }), /performanceFee/],
    ['an unknown severity', entry({ flags: [{ content: 'x', severity: 'fatal' }] }), /severity/],
    ['an empty tag', entry({ tags: [''] }), /tags/],
    [
      'a link that is no https',
      entry({ listed: { protocol: 'x', description: '', lendUrl: 'javascript:1', protocolVaultUrl: '' } }),
      /lendUrl/,
    ],
    [
      'a reward that ends before it begins',
      entry({
        rewards: [
          {
            asset: { address: `0x${'ab'.repeat(20)}`, name: '', symbol: 'R', decimals: 18 },
            amount: '1',
            startDate: 9,
            endDate: 9,
          },
        ],
      }),
      /endDate/,
    ],
  ])('is refused with %s', (_, content, message) => {
    expect(() => factsOf('a.json', content)).toThrow(message)
  })
})

describe('the check over all facts', () => {
  const listed: Fact = {
    subject: VAULT,
    kind: 'listed',
    value: { protocol: 'acme', description: '', lendUrl: '', protocolVaultUrl: '' },
  }
  const acme: Fact = { subject: 'protocol:acme', kind: 'profile', value: {} }

  it.each<[string, Fact[], RegExp | undefined]>([
    ['nothing wrong', [acme, listed], undefined],
    ['said twice', [acme, listed, listed], /twice/],
    ['protocol unheard of', [listed], /protocol acme/],
    ['curator unheard of', [{ subject: VAULT, kind: 'curator', value: 'who' }], /curator who/],
    [
      'foreign chain',
      [{ subject: `asset:31337:0x${'ab'.repeat(20)}`, kind: 'group', value: 'USD' }],
      /31337/,
    ],
    ['unknown kind', [{ subject: VAULT, kind: 'constructor', value: 1 }], /no such kind/],
    ['misshapen', [{ subject: VAULT, kind: 'featured', value: 'yes' }], /featured/],
    [
      'flag that ends first',
      [
        {
          subject: VAULT,
          kind: 'flags',
          value: [{ content: 'x', severity: 'info', startDate: 2, endDate: 1 }],
        },
      ],
      /before it begins/,
    ],
    [
      'one identifier for two vaults of a chain',
      [
        { subject: VAULT, kind: 'vaultId', value: 'house' },
        { subject: `vault:1:0x${'cd'.repeat(20)}`, kind: 'vaultId', value: 'house' },
      ],
      /house is vault:1:0xabab/,
    ],
    [
      'one identifier on two chains',
      [
        { subject: VAULT, kind: 'vaultId', value: 'house' },
        { subject: `vault:10:0x${'cd'.repeat(20)}`, kind: 'vaultId', value: 'house' },
      ],
      undefined,
    ],
    ['doubled tag', [{ subject: VAULT, kind: 'tags', value: ['a', 'a'] }], /tag twice/],
  ])('%s', (_, facts, message) => {
    const problems = checkFacts(facts)
    if (message) expect(problems.join('\n')).toMatch(message)
    else expect(problems).toEqual([])
  })
})

it('every feed is of a contract with a valid address', () => {
  for (const { value } of feedFacts())
    expect(() => getAddress((value as { feed: string }).feed)).not.toThrow()
})

describe('of Solana', () => {
  const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'
  const subject = 'asset:1399811149:0x069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001'

  it('SOL has the price of the feed that the address book names on Ethereum', () => {
    expect(feedFacts().filter(fact => fact.subject === subject)).toEqual([
      {
        subject,
        kind: 'feed',
        value: { feed: ChainlinkEthereum.SOL__USD.toLowerCase(), decimals: 8, chainId: 1 },
      },
    ])
    expect(checkFacts(feedFacts())).toEqual([])
  })

  it('a file names accounts as everybody writes them, and none of another chain', () => {
    const file = (network: string, address: string) =>
      factsOf('x.json', { source: 'here', assets: [{ network, address, logo: 'https://x.example/sol.svg' }] })
    expect(file('solana', WRAPPED_SOL)).toEqual([
      { subject, kind: 'logo', value: 'https://x.example/sol.svg' },
    ])
    expect(() => file('solana', `0x${'11'.repeat(20)}`)).toThrow(/no address of solana/)
    expect(() => file('mainnet', WRAPPED_SOL)).toThrow(/no address of mainnet/)
    expect(() => file('solana', WRAPPED_SOL.slice(1))).toThrow(/base58 of 32 bytes/)
  })
})
