import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { advanceCatalogue } from '../../read-api/catalogue/build.ts'
import { Catalogue } from '../../read-api/catalogue/catalogue.ts'
import { FactBook } from '../../read-api/catalogue/facts.ts'
import { inOrder } from '../../read-api/catalogue/orders.ts'
import { RawState } from '../../read-api/catalogue/raw.ts'
import type { Vault } from '../../read-api/catalogue/vault.ts'
import { detailedJson, detailedOf } from '../../read-api/catalogue/wire.ts'
import { EMPTY_MOMENT } from '../../read-api/moment/snapshot.ts'
import { DetailedVault } from '../../read-api/vaults/schemas.ts'

const address = (n: number) => `0x${n.toString(16).padStart(40, '1')}`
const ASSETS = [address(0xa0), address(0xa1), address(0xa2)]

type Step =
  | { kind: 'vault'; vault: number; asset: number }
  | { kind: 'sample'; vault: number; assets: bigint | null; price: number | null }
  | { kind: 'apy'; vault: number; day: number | null }
  | { kind: 'forget'; vault: number }
  | { kind: 'feed'; price: number }

const vault = fc.integer({ min: 0, max: 9 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('vault' as const), vault, asset: fc.integer({ min: 0, max: 5 }) }),
  fc.record({
    kind: fc.constant('sample' as const),
    vault,
    assets: fc.option(fc.bigInt({ min: 0n, max: 5n })),
    price: fc.option(fc.integer({ min: 1, max: 3 })),
  }),
  fc.record({ kind: fc.constant('apy' as const), vault, day: fc.option(fc.integer({ min: -2, max: 2 })) }),
  fc.record({ kind: fc.constant('forget' as const), vault }),
  fc.record({ kind: fc.constant('feed' as const), price: fc.integer({ min: 1, max: 4 }) }),
)

const facts = new FactBook().with([
  {
    subject: `asset:1:${ASSETS[0]}`,
    kind: 'feed',
    value: `{"feed":"${address(0xf)}"}`,
    removed: 0,
    recorded_at: 1,
  },
  { subject: `asset:1:${ASSETS[1]}`, kind: 'peg', value: '{"usd":"2"}', removed: 0, recorded_at: 1 },
])

function apply(raw: RawState, step: Step, at: number): void {
  if (step.kind === 'feed') {
    raw.putFeed(1, { feed: address(0xf), price: step.price, priced_at: at })
    return
  }
  const name = address(step.vault)
  if (step.kind === 'forget') {
    raw.forget(1, name)
    return
  }
  if (step.kind === 'apy') {
    raw.putApy(1, {
      vault: name,
      hour: at,
      apy_1h: step.day,
      apy_1d: step.day,
      apy_7d: null,
      apy_30d: null,
      asset_seconds: step.day === null ? null : at * 1e6,
    })
    return
  }
  if (step.kind === 'sample') {
    const total = step.assets === null ? null : String(step.assets)
    raw.putSample(1, {
      vault: name,
      total_assets: total,
      total_supply: total,
      share_price_raw: null,
      fine_price: null,
      fine_digits: 0,
      share_price: step.price,
      max_deposit: null,
      idle_assets: null,
      borrowed_assets: null,
      block_number: at,
      sampled_at: at,
      position: at,
    })
    return
  }
  // The asset of a vault never changes: some are assets, some the share of the vault before.
  const asset = step.vault % 2 === 1 ? address(step.vault - 1) : (ASSETS[step.vault % 3] as string)
  raw.putVault(1, {
    vault: name,
    protocol: 'p',
    name: `Vault ${step.vault}`,
    symbol: 'v',
    decimals: 0,
    asset,
    asset_name: 'a',
    asset_symbol: 'A',
    asset_decimals: 0,
    deployed_at: null,
    async_deposits: null,
    async_redemptions: null,
    seen_at: 1,
  })
}

const moment = {
  ...EMPTY_MOMENT,
  chains: new Map([[1, { position: 1, blockNumber: 1, blockTime: 1 }]]),
  registryPosition: 1,
  replays: 0,
}

/** Everything a reader can see, without the places vaults happen to have inside. */
function seen(catalogue: Catalogue) {
  const names = (vaults: readonly Vault[]) => vaults.map(({ state }) => state.address)
  return {
    vaults: catalogue.identity.map(detailedOf),
    byTvl: names(inOrder(catalogue.order('tvl'), 'asc')),
    byApy: names(inOrder(catalogue.order('apy1day'), 'desc')),
    found: catalogue.identity.map(({ state }) => catalogue.find(1, state.address)?.name),
  }
}

it('prices a chain’s own coin though no vault holds its wrapped form', () => {
  const price = (subject: string) => {
    const raw = new RawState()
    raw.putFeed(1, { feed: address(0xf), price: 2_500, priced_at: 1 })
    const value = `{"feed":"${address(0xf)}"}`
    const book = new FactBook().with([{ subject, kind: 'feed', value, removed: 0, recorded_at: 1 }])
    return advanceCatalogue(Catalogue.empty(), raw, book, moment).coinPrice(1)
  }
  expect(price(`asset:1:0x${'e'.repeat(40)}`)).toBe(2_500)
  // WETH9 of mainnet.
  expect(price('asset:1:0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2')).toBe(2_500)
  expect(price(`asset:1:${ASSETS[0]}`)).toBeUndefined()
})

it('is the same catalogue however many advances led to it', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 6 }), { maxLength: 12 }), batches => {
      const raw = new RawState()
      let moving = Catalogue.empty()
      let at = 0
      for (const batch of batches) {
        for (const one of batch) apply(raw, one, ++at)
        const held = seen(moving)
        const next = advanceCatalogue(moving, raw, facts, moment)
        expect(seen(moving)).toEqual(held)
        moving = next
      }
      const whole = new RawState()
      at = 0
      for (const one of batches.flat()) apply(whole, one, ++at)
      expect(seen(moving)).toEqual(seen(advanceCatalogue(Catalogue.empty(), whole, facts, moment)))
    }),
    { numRuns: 300 },
  )
})

it.each([
  [0.05, true],
  [1e160, false],
])('a yield of %d a year, compounded with its like, is left out where no number holds it', (day, is) => {
  const raw = new RawState()
  for (const n of [0, 1]) {
    apply(raw, { kind: 'vault', vault: n, asset: 0 }, 1)
    apply(raw, { kind: 'sample', vault: n, assets: 5n, price: 1 }, 1)
    apply(raw, { kind: 'apy', vault: n, day }, 1)
  }
  const outer = advanceCatalogue(Catalogue.empty(), raw, facts, moment).find(1, address(1))
  if (!outer) return expect.unreachable()
  const { apyComposite } = DetailedVault.parse(JSON.parse(detailedJson(outer)))
  expect(apyComposite !== undefined).toBe(is)
  if (is) expect(apyComposite?.totalApy['1day'].total).toBeCloseTo(1.05 ** 2 - 1, 12)
})

it.each([
  ['the innermost', (n: number) => n],
  ['the outermost', (n: number) => 4_999 - n],
  ['none in particular', (n: number) => (n * 2_741) % 5_000],
])('stands five thousand vaults of which each is the asset of the next, discovered %s first', (_, nth) => {
  const raw = new RawState()
  const nested = (n: number) => `0x${(0x5000_0000 + n).toString(16).padStart(40, '0')}`
  for (let i = 0; i < 5_000; i++) {
    const n = nth(i)
    raw.putVault(1, {
      vault: nested(n),
      protocol: 'p',
      name: `Nested ${n}`,
      symbol: 'n',
      decimals: 0,
      asset: n === 0 ? (ASSETS[1] as string) : nested(n - 1),
      asset_name: 'a',
      asset_symbol: 'A',
      asset_decimals: 0,
      deployed_at: null,
      async_deposits: null,
      async_redemptions: null,
      seen_at: 1,
    })
  }
  const first = advanceCatalogue(Catalogue.empty(), raw, facts, moment)
  raw.putSample(1, {
    vault: nested(0),
    total_assets: '1',
    total_supply: '1',
    share_price_raw: null,
    fine_price: null,
    fine_digits: 0,
    share_price: 1,
    max_deposit: null,
    idle_assets: null,
    borrowed_assets: null,
    block_number: 1,
    sampled_at: 1,
    position: 1,
  })
  const next = advanceCatalogue(first, raw, facts, moment)
  expect(next.size).toBe(5_000)
  const innerOf = (n: number) => next.find(1, nested(n))?.inner?.name
  expect([0, 1, 8].map(innerOf)).toEqual([undefined, 'Nested 0', 'Nested 7'])
  expect([9, 10, 4_999].map(innerOf)).toEqual([undefined, undefined, undefined])
})

it('derives vaults that are each other’s asset', () => {
  const raw = new RawState()
  const put = (vault: string, asset: string) =>
    raw.putVault(1, {
      vault,
      protocol: 'p',
      name: vault,
      symbol: 'v',
      decimals: 0,
      asset,
      asset_name: 'a',
      asset_symbol: 'A',
      asset_decimals: 0,
      deployed_at: null,
      async_deposits: null,
      async_redemptions: null,
      seen_at: 1,
    })
  put(address(0xb0), address(0xb1))
  put(address(0xb1), address(0xb0))
  put(address(0xb2), address(0xb2))
  const { identity } = advanceCatalogue(Catalogue.empty(), raw, facts, moment)
  expect(identity.map(({ inner }) => inner)).toEqual([undefined, undefined, undefined])
})

describe('what a vault says that nobody vouches for', () => {
  const [listed, made, found] = [address(0xc0), address(0xc1), address(0xc2)]
  const vouching = facts.with([
    {
      subject: `vault:1:${listed}`,
      kind: 'listed',
      value: '{"protocol":"p","description":"","lendUrl":"","protocolVaultUrl":""}',
      removed: 0,
      recorded_at: 1,
    },
  ])

  const inPool = (amount: bigint): [string, bigint][] => [['', amount]]
  /** Three vaults of an asset of two dollars: each says that it has 100, and holds 40. The settings are the listed one's. */
  function told(
    elsewhere: { shares: [string, bigint][]; lent: [string, bigint][] } | undefined,
    { holders = '100', settings = {}, book = vouching } = {},
  ) {
    const raw = new RawState()
    raw.setMade(1, new Set([made]))
    for (const vault of [listed, made, found]) {
      const asset = { asset: ASSETS[1] as string, asset_name: 'a', asset_symbol: 'A', asset_decimals: 0 }
      const known = {
        protocol: 'p',
        name: vault,
        symbol: 'v',
        decimals: 0,
        deployed_at: null,
        async_deposits: null,
        async_redemptions: null,
        seen_at: 1,
      }
      raw.putVault(1, { vault, ...asset, ...known })
      raw.putSample(1, {
        vault,
        total_assets: '100',
        total_supply: '100',
        share_price_raw: '1',
        fine_price: null,
        fine_digits: 0,
        share_price: 1,
        max_deposit: null,
        idle_assets: '40',
        borrowed_assets: null,
        block_number: 1,
        sampled_at: 1,
        position: 1,
      })
      raw.putHolders(1, vault, { vault, holders: 1, total: holders, top: [], newest: 1 })
    }
    if (elsewhere) for (const vault of [made, found]) raw.putElsewhere(1, vault, elsewhere)
    raw.putSettings(1, { vault: listed, settings })
    const catalogue = advanceCatalogue(Catalogue.empty(), raw, book, moment)
    return [listed, made, found].map(vault => catalogue.find(1, vault))
  }

  it('is believed as far as it is seen', () => {
    expect(told(undefined).map(vault => vault && [vault.standing, vault.tvlUsd, vault.corruption])).toEqual([
      ['listed', 200, undefined],
      // Anybody can have a known factory make a vault, whose books then say what he likes; they are audited, and no corruption.
      ['made', 80, undefined],
      ['found', 80, 'unbacked'],
    ])
    const last = (...of: Parameters<typeof told>) => told(...of)[2]
    const shares: [string, bigint][] = [[listed, 30n]]
    expect(last({ shares, lent: inPool(20n) })?.tvlUsd).toBe(180)
    expect(last({ shares, lent: inPool(30n) })?.corruption).toBeUndefined()
    expect(last({ shares, lent: inPool(3000n) })?.tvlUsd).toBe(200)
    // Its own shares are no backing.
    expect(last({ shares: [[found, 60n]], lent: [] })?.corruption).toBe('unbacked')
  })

  it('is not believed of what it has lent in a market of its own, which a flash loan fills', () => {
    const market = `0x${'e'.repeat(64)}`
    const lent: [string, bigint][] = [[market, 60n]]
    const tvl = (of: Parameters<typeof told>[1]) =>
      told({ shares: [], lent }, of).map(vault => [vault?.tvlUsd, vault?.corruption])
    const believed = [
      [200, undefined],
      [200, undefined],
      [200, undefined],
    ]
    const cut = [
      [200, undefined],
      [80, undefined],
      [80, 'unbacked'],
    ]
    expect(tvl({})).toEqual(cut)
    expect(tvl({ settings: { [`cap:supply:${market}`]: '0' } })).toEqual(cut)
    expect(tvl({ settings: { [`cap:supply:${market}`]: '1' } })).toEqual(believed)
    const fact = { subject: `market:1:${market}`, kind: 'listed', value: '{}', removed: 0, recorded_at: 1 }
    expect(tvl({ book: vouching.with([fact]) })).toEqual(believed)
  })

  it('has to be in its events', () => {
    expect(
      told({ shares: [], lent: inPool(60n) }, { holders: '99' }).map(vault => vault?.corruption),
    ).toEqual([undefined, undefined, 'unledgered'])
  })

  it('is not held against a supply that was read before its shares moved', () => {
    const raw = new RawState()
    const asset = { asset: ASSETS[1] as string, asset_name: 'a', asset_symbol: 'A', asset_decimals: 0 }
    const known = { protocol: 'p', name: 'v', symbol: 'v', decimals: 0, deployed_at: null, seen_at: 1 }
    raw.putVault(1, { vault: listed, ...asset, ...known, async_deposits: null, async_redemptions: null })
    const isWhole = () =>
      advanceCatalogue(Catalogue.empty(), raw, vouching, moment).find(1, listed)?.userEventsIndexed
    const sampled = (position: number, total_supply: string) =>
      raw.putSample(1, {
        vault: listed,
        total_assets: '100',
        total_supply,
        share_price_raw: '1',
        fine_price: null,
        fine_digits: 0,
        share_price: 1,
        max_deposit: null,
        idle_assets: null,
        borrowed_assets: null,
        block_number: position,
        sampled_at: position,
        position,
      })
    const moved = (newest: number, total: string) =>
      raw.putHolders(1, listed, { vault: listed, holders: 1, total, top: [], newest })
    moved(5, '100')
    sampled(6, '100')
    expect(isWhole()).toBe(true)
    moved(7, '130')
    expect(isWhole()).toBe(true)
    sampled(8, '131')
    expect(isWhole()).toBe(false)
    // What was seen stays until both are known of one moment again.
    moved(9, '131')
    expect(isWhole()).toBe(false)
    sampled(10, '131')
    expect(isWhole()).toBe(true)
  })

  it('is no price for a share', () => {
    const raw = new RawState()
    for (const [n, inner] of [listed, found].entries()) {
      for (const [vault, asset] of [
        [inner, ASSETS[1] as string],
        [address(0xd0 + n), inner],
      ] as const) {
        const of = { asset, asset_name: 'a', asset_symbol: 'A', asset_decimals: 0 }
        raw.putVault(1, {
          vault,
          ...of,
          protocol: 'p',
          name: vault,
          symbol: 'v',
          decimals: 0,
          deployed_at: null,
          async_deposits: null,
          async_redemptions: null,
          seen_at: 1,
        })
      }
      raw.putSample(1, {
        vault: inner,
        total_assets: '5',
        total_supply: '5',
        share_price_raw: null,
        fine_price: null,
        fine_digits: 0,
        share_price: 3,
        max_deposit: null,
        idle_assets: null,
        borrowed_assets: null,
        block_number: 1,
        sampled_at: 1,
        position: 1,
      })
    }
    const catalogue = advanceCatalogue(Catalogue.empty(), raw, vouching, moment)
    expect([0, 1].map(n => catalogue.find(1, address(0xd0 + n))?.asset.price)).toEqual([6, undefined])
  })
})
