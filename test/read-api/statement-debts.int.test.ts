import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { groupBy } from '../../db/group-by.ts'
import { asking } from './ask.ts'
import type * as b from './debts-books.ts'
import { ETH, USD } from './debts-markets.ts'
import * as d from './debts-world.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import { mulberry, numbered, WALLETS } from './portfolio-world.ts'
import * as w from './world.ts'

/** Statements of what wallets lent, owed, pledged and held, against the world in which they did, reckoned there. */

const OPTIMISM = 10
const OTHERS: [number, string][] = [
  [1, 'mainnet'],
  [137, 'polygon'],
  [8453, 'base'],
  [42161, 'arbitrum'],
]
const { blocks, places } = d.makeDebtsWorld(20_250_611)
let api: ApiHarness

beforeAll(async () => {
  api = await startApi({ showUnlisted: true })
  const peg = (asset: string, usd: string) => ({
    subject: `asset:${OPTIMISM}:${asset}`,
    kind: 'peg',
    value: { usd },
  })
  await api.recordFacts([peg(USD, '1'), peg(ETH, '2000')], w.START - w.DAY)
  await api.append(OPTIMISM, 'optimism', blocks)
  await api.catchUp()
}, 120_000)
afterAll(() => api?.stop())

const { get } = asking(() => api)
const asked = (of: readonly string[], from: number, to: number, more = '') =>
  get(`/beta/portfolio/statement?wallets=${of.join(',')}&fromTimestamp=${from}&toTimestamp=${to}${more}`)
const lower = (address: string) => address.toLowerCase()
type Figures = Record<
  (typeof SUMS)[number] | 'opening' | 'closing' | 'unrealisedOpening' | 'unrealisedClosing',
  string
>
interface Row {
  kind: string
  accounts: string[]
  protocol: { name: string }
  asset: { address: string }
  native: Figures
  usd: Figures
}
const nameOf = ({ kind, protocol, asset }: b.Place) => `${kind} ${protocol} ${asset}`
const rowOf = (body: { data: Row[] }, name: string) =>
  body.data.find(({ kind, protocol, asset }) => `${kind} ${protocol.name} ${lower(asset.address)}` === name)
/** Positions of some wallets: those of one kind in one market are one. */
const placesOf = (of: readonly string[]) =>
  [...groupBy(places, nameOf)].map(
    ([name, all]) => [name, all.filter(({ wallet }) => of.includes(wallet))] as const,
  )

const random = mulberry(3)
const someTime = () => w.START + Math.floor(random() * (d.HOURS - 1) * w.HOUR)
const cases = [...Array(8)].map((_, i) => {
  const [from = 0, middle = 0, to = 0] = [someTime(), someTime(), someTime()].sort((a, b) => a - b)
  return { of: WALLETS.slice(i % 4, (i % 4) + 1 + (i % 3)), from, middle, to }
})
const SUMS = [
  'deposits',
  'withdrawals',
  'transfersIn',
  'transfersOut',
  'gain',
  'yield',
  'priceEffect',
  'realised',
] as const

/** What a position of wallets was and what happened to it, debts below zero: what one gave to another has not moved. */
function expected(shared: readonly b.Place[], from: number, to: number) {
  const worth = (at: number) =>
    shared.reduce((all, { values }) => all + (values.findLast(value => value.at <= at)?.value ?? 0n), 0n)
  const wallets = shared.map(({ wallet }) => wallet)
  const inside = shared.flatMap(({ deeds }) => deeds).filter(({ at }) => at > from && at <= to)
  const sum = (of: (deed: b.Deed) => bigint) => inside.reduce((total, deed) => total + of(deed), 0n)
  const moved = (deed: b.Deed) => (deed.with && wallets.includes(deed.with) ? 0n : deed.moved)
  const [paidIn, paidOut] = [sum(deed => deed.in), sum(deed => deed.out)]
  const came = sum(deed => (moved(deed) > 0n ? moved(deed) : 0n))
  const went = sum(deed => (moved(deed) < 0n ? -moved(deed) : 0n))
  const isDebt = shared[0]?.kind === 'debt'
  return {
    opening: isDebt ? -worth(from) : worth(from),
    closing: isDebt ? -worth(to) : worth(to),
    deposits: isDebt ? paidOut : paidIn,
    withdrawals: isDebt ? paidIn : paidOut,
    transfersIn: isDebt ? went : came,
    transfersOut: isDebt ? came : went,
  }
}

it('had all of it happen: debts with interest that were repaid, transfers, liquidations', () => {
  expect(new Set(places.map(({ kind, protocol }) => `${kind} ${protocol}`)).size).toBe(11)
  for (const place of places.filter(({ wallet }) => wallet === WALLETS[0])) {
    expect(place.deeds.length, `${place.kind} ${place.protocol}`).toBeGreaterThan(5)
    if (place.kind === 'debt') expect(place.deeds.some(deed => deed.out > 0n)).toBe(true)
  }
  expect(places.some(({ kind, deeds }) => kind === 'debt' && deeds.some(({ moved }) => moved < 0n))).toBe(
    true,
  )
  const given = places.filter(({ deeds }) => deeds.some(deed => deed.with))
  expect(new Set(given.map(({ kind }) => kind))).toEqual(
    new Set(['supplied', 'collateral', 'fixed-term', 'amm']),
  )
})

it.each(cases)('say what happened, to the unit: %o', async ({ of, from, to }) => {
  const body = await asked(of, from, to)
  let rows = 0
  for (const [name, shared] of placesOf(of)) {
    const should = expected(shared, from, to)
    const row = rowOf(body, name)
    if (!row) {
      expect(
        Object.values(should).every(figure => figure === 0n),
        name,
      ).toBe(true)
      continue
    }
    rows++
    const { native } = row
    const found = Object.fromEntries(
      Object.keys(should).map(key => [key, BigInt(native[key as keyof Figures])]),
    )
    expect(found, name).toEqual(should)
    const flows = should.deposits - should.withdrawals + should.transfersIn - should.transfersOut
    expect(BigInt(native.gain), name).toBe(should.closing - should.opening - flows)
    expect(
      BigInt(native.realised) + BigInt(native.unrealisedClosing) - BigInt(native.unrealisedOpening),
    ).toBe(BigInt(native.gain))
    if (row.kind === 'debt' && BigInt(native.deposits) === 0n)
      expect(BigInt(native.gain)).toBeLessThanOrEqual(0n)
    expect(row.usd.closing).not.toBe('')
  }
  expect(rows).toBe(body.data.length)
  const usd = body.data.reduce((sum: number, row: Row) => sum + Number(row.usd.closing), 0)
  expect(Number(body.total.usd.closing)).toBeCloseTo(usd, 3)
})

it.each(cases)('of adjacent periods add up: %o', async ({ of, from, middle, to }) => {
  for (const method of ['fifo', 'average']) {
    const [first, second, whole] = await Promise.all([
      asked(of, from, middle, `&method=${method}`),
      asked(of, middle, to, `&method=${method}`),
      asked(of, from, to, `&method=${method}`),
    ])
    for (const [name] of placesOf(of)) {
      const [one, two, all] = [first, second, whole].map(body => rowOf(body, name))
      if (!all) continue
      for (const sum of SUMS)
        expect(BigInt(one?.native[sum] ?? 0) + BigInt(two?.native[sum] ?? 0), sum).toBe(
          BigInt(all.native[sum]),
        )
      if (one && two) expect(one.native.closing).toBe(two.native.opening)
    }
  }
})

it('read what was traded and paid of what the wallets held alone', async () => {
  const asking = vi.spyOn(api.clickhouse, 'query')
  const readsOf = async (wallet: string) => {
    asking.mockClear()
    await asked([wallet], w.START, w.START + d.HOURS * w.HOUR - 1)
    const texts = asking.mock.calls.map(([{ query }]) => query)
    return ['fixed_term_trade', 'amm_flow'].filter(table => texts.some(text => text.includes(table)))
  }
  expect(await readsOf(WALLETS[1] ?? '')).toEqual(['fixed_term_trade', 'amm_flow'])
  expect(await readsOf(`0x${'9'.repeat(40)}`)).toEqual([])
  asking.mockRestore()
})

it('ask as much as there is in them, however many networks there are', async () => {
  const stranger = `0x${'9'.repeat(40)}`
  const asking = vi.spyOn(api.clickhouse, 'query')
  /** A moment of which nothing is known yet. */
  const asksOf = async (chains: readonly [number, string][]) => {
    for (const [chain, name] of chains) {
      const block = {
        number: 1_000_000 + chain,
        hash: `0x${'7'.repeat(64)}`,
        timestamp: w.START + 400 * w.DAY,
      }
      const data = { source: 'merkl' as const, account: numbered('ac', 1), token: USD, amount: 1n }
      const place = { contract: USD, logIndex: 1, transactionHash: block.hash }
      await api.append(chain, name, [{ block, events: [{ type: 'RewardClaimed', ...place, data }] }])
    }
    await api.catchUp()
    const counts = []
    for (const of of [
      [stranger],
      [stranger, ...[1, 2, 3].map(n => numbered('cd', n))],
      WALLETS.slice(0, 1),
    ]) {
      asking.mockClear()
      const { data } = await asked(of, w.START, w.START + d.HOURS * w.HOUR - 1)
      counts.push({ asks: asking.mock.calls.length, rows: data.length })
    }
    return counts
  }
  const one = await asksOf([[OPTIMISM, 'optimism']])
  expect(one.slice(0, 2)).toEqual([
    { asks: 1, rows: 0 },
    { asks: 1, rows: 0 },
  ])
  const [, , { asks, rows } = { asks: 0, rows: 0 }] = one
  expect(rows).toBe(12)
  expect(asks).toBeLessThan(8 * rows)
  expect(await asksOf([...OTHERS, [OPTIMISM, 'optimism']])).toEqual(one)
  asking.mockRestore()
})

it('close at what the endpoints of positions say of that moment, and of the past say the same later', async () => {
  const wallet = WALLETS[0] ?? ''
  const now = api.catalogue.current().chain(OPTIMISM)?.blockTime ?? 0
  const body = await asked([wallet], w.START, now)
  const { data } = await get(`/beta/borrow/portfolio/positions/${wallet}`)
  const owed = data
    .flatMap((position: { assets: { borrowedNative: string }[] }) => position.assets)
    .reduce((sum: bigint, asset: { borrowedNative: string }) => sum + BigInt(asset.borrowedNative), 0n)
  const debts = body.data.filter(({ kind }: { kind: string }) => kind === 'debt')
  expect(owed).toBeGreaterThan(0n)
  expect(debts.reduce((sum: bigint, row: Row) => sum - BigInt(row.native.closing), 0n)).toBe(owed)
  const past = await asked([wallet], w.START, w.START + 5 * w.DAY)
  const last = blocks.at(-1)?.block ?? { number: 0, timestamp: 0 }
  const block = {
    number: last.number + 1,
    hash: `0x${'f'.repeat(64)}`,
    timestamp: last.timestamp + 900 * w.DAY,
  }
  await api.append(OPTIMISM, 'optimism', [
    {
      block,
      events: [
        {
          type: 'RewardClaimed',
          contract: USD,
          logIndex: 1,
          transactionHash: block.hash,
          data: { source: 'merkl', account: wallet, token: USD, amount: 5n },
        },
      ],
    },
  ])
  await api.catchUp()
  expect(await asked([wallet], w.START, w.START + 5 * w.DAY)).toEqual(past)
  const rewards = (await asked([wallet], w.START, block.timestamp)).rewards
  expect(rewards).toMatchObject([{ source: 'merkl', amountNative: '5', asset: { symbol: 'USDA' } }])
})
