import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asking } from './ask.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import type { Modelled } from './portfolio-world.ts'
import * as p from './portfolio-world.ts'
import * as w from './world.ts'

/** What wallets earned, and their events, against what happened, reckoned here from the list of it. */

const OPTIMISM = 10
const wallets = p.makePortfolioWorld(20_250_101)
const { flowsOf, stateAt, heldAfter } = p.bookOf(wallets)
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await api.append(OPTIMISM, 'optimism', wallets.blocks)
  await api.catchUp()
}, 120_000)
afterAll(() => api?.stop())

const { ask, get } = asking(() => api)
const lower = (address: string) => address.toLowerCase()
const END = Number.MAX_SAFE_INTEGER
const pairs = wallets.vaults.flatMap(model => p.WALLETS.map(wallet => [model, wallet] as const))

describe('total returns', () => {
  const expected = (model: Modelled, wallet: string) => {
    const { deposited, withdrawn, received } = flowsOf(model, wallet, 0, END)
    const value = p.worthOf(heldAfter(model, wallet, END), stateAt(model, END), model)
    return value + withdrawn - deposited - received
  }
  const asked = async (model: Modelled, wallet: string) => {
    const body = await get(`/v2/portfolio/total-returns/${wallet}/optimism/${model.vault}`)
    expect(lower(body.address)).toBe(model.asset)
    return BigInt(body.returnsNative)
  }

  it.each(pairs)('are those of the contract, to the unit: %o %s', async (model, wallet) => {
    expect(await asked(model, wallet)).toBe(expected(model, wallet))
  })

  it('stay when a position is closed', async () => {
    const [model] = wallets.vaults
    const closed = p.WALLETS.at(-1) ?? ''
    expect(heldAfter(model as Modelled, closed, END)).toBe(0n)
    expect(await asked(model as Modelled, closed)).not.toBe(0n)
  })

  it.each(wallets.vaults)('of all wallets are what the vault gained: $vault', async model => {
    const all = await Promise.all(p.WALLETS.map(wallet => asked(model, wallet)))
    const flows = p.WALLETS.map(wallet => flowsOf(model, wallet, 0, END))
    const gained =
      stateAt(model, END).assets +
      flows.reduce((sum, { withdrawn, deposited }) => sum + withdrawn - deposited, 0n)
    const shared = all.reduce((sum, returns) => sum + returns, 0n)
    // What the virtual shares keep, and a unit of rounding for each wallet's value.
    expect(gained - shared).toBeGreaterThanOrEqual(0n)
    expect(gained - shared).toBeLessThanOrEqual(stateAt(model, END).assets / 10n ** 8n + 10n)
  })

  it('are nothing for a wallet that was never there', async () => {
    expect(await asked(wallets.vaults[0] as Modelled, p.numbered('dd', 1))).toBe(0n)
  })
})

describe('partial returns', () => {
  const random = p.mulberry(7)
  const edges = [0, ...Array.from({ length: 6 }, () => Math.floor(random() * 30 * w.DAY))].sort(
    (a, b) => a - b,
  )
  const partial = (model: Modelled, wallet: string, from: number, to: number) =>
    get(
      `/beta/portfolio/partial-returns/${wallet}/optimism/${model.vault}?fromTimestamp=${from}&toTimestamp=${to}`,
    )

  it.each(pairs)('of windows that follow each other add up: %o %s', async (model, wallet) => {
    let sum = 0n
    for (const [i, edge] of edges.slice(0, -1).entries()) {
      const from = w.START + edge
      const to = w.START + (edges[i + 1] ?? 0)
      const body = await partial(model, wallet, from, to)
      const [first, last] = [from, to].map(at => wallets.states.get(model.vault)?.findLast(s => s.at <= at))
      if (!first || !last) throw new Error('no state')
      expect([body.fromTimestamp, body.toTimestamp]).toEqual([first.at, last.at])
      const { deposited, withdrawn, received } = flowsOf(model, wallet, first.block, last.block)
      const opening = p.worthOf(heldAfter(model, wallet, first.block), first, model)
      const closing = p.worthOf(heldAfter(model, wallet, last.block), last, model)
      expect(BigInt(body.returnsNative)).toBe(closing - opening + withdrawn - deposited - received)
      sum += BigInt(body.returnsNative)
    }
    const whole = await partial(model, wallet, w.START + (edges[0] ?? 0), w.START + (edges.at(-1) ?? 0))
    expect(BigInt(whole.returnsNative)).toBe(sum)
  })

  it('begins with the first sample where the window begins before it', async () => {
    const [model, wallet] = pairs[0] as (typeof pairs)[number]
    const body = await partial(model, wallet, 5, w.START - 5)
    expect(body).toMatchObject({ fromTimestamp: w.START, toTimestamp: w.START, returnsNative: '0' })
  })

  it('refuses a window that ends before it begins', async () => {
    const [model, wallet] = pairs[0] as (typeof pairs)[number]
    await ask(
      `/beta/portfolio/partial-returns/${wallet}/optimism/${model.vault}?fromTimestamp=9&toTimestamp=8`,
      422,
    )
    await ask(`/beta/portfolio/partial-returns/${wallet}/optimism/${model.vault}`, 400)
  })
})

describe('events of a position', () => {
  it.each(pairs)('are its deposits and withdrawals, oldest first: %o %s', async (model, wallet) => {
    const body = await get(`/v2/portfolio/events/${wallet}/optimism/${model.vault}`)
    const own = wallets.steps.filter(
      ({ vault, kind, from, to }) =>
        vault === model.vault && kind !== 'transfer' && (kind === 'deposit' ? to : from) === wallet,
    )
    expect(body.items).toBe(own.length)
    expect(
      body.data.map((event: Record<string, unknown>) => [
        event['timestamp'],
        event['blockNumber'],
        event['eventType'],
        event['assetAmountNative'],
        event['lpTokenAmount'],
      ]),
    ).toEqual(
      own.map(({ at, block, kind, assets, shares }) => [
        at,
        String(block),
        kind === 'deposit' ? 'deposit' : 'withdrawal',
        String(assets),
        String(shares),
      ]),
    )
    for (const event of body.data) {
      const state = stateAt(model, Number(event.blockNumber))
      const price = Number(p.worthOf(10n ** 18n, state, model)) / 10 ** model.assetDecimals
      expect(event.sharePrice).toBeCloseTo(price, 12)
      expect(event.transactionHash).toMatch(/^0x[0-9a-f]{64}$/)
    }
    expect(lower(body.lpToken.address)).toBe(model.vault)
    expect(lower(body.asset.address)).toBe(model.asset)
  })
})

it('a retracted block leaves nothing behind', async () => {
  const [model, wallet] = pairs[0] as (typeof pairs)[number]
  const paths = [
    `/v2/portfolio/total-returns/${wallet}/optimism/${model.vault}`,
    `/v2/portfolio/events/${wallet}/optimism/${model.vault}`,
    `/beta/portfolio/partial-returns/${wallet}/optimism/${model.vault}?fromTimestamp=${w.START + w.DAY}`,
  ]
  const answers = () => Promise.all(paths.map(get))
  const before = await answers()
  const last = wallets.blocks.at(-1)?.block
  const number = (last?.number ?? 0) + 1
  const timestamp = (last?.timestamp ?? 0) + 2
  const hash = (fill: string) => `0x${fill.repeat(64)}`
  const shares = 5n * 10n ** 18n
  const place = { contract: model.vault, transactionHash: hash('7') }
  await api.append(OPTIMISM, 'optimism', [
    {
      block: { number, hash: hash('a'), timestamp },
      events: [
        {
          type: 'ShareTransferred',
          ...place,
          logIndex: 1,
          data: { from: `0x${'0'.repeat(40)}`, to: wallet, shares },
        },
        {
          type: 'Deposited',
          ...place,
          logIndex: 2,
          data: { sender: wallet, owner: wallet, assets: 1n, shares, ledger: 'transfer' },
        },
        p.sampled(model, 10n ** 30n, 10n ** 18n, 10n ** 30n),
      ],
    },
  ])
  await api.catchUp()
  const forked = await answers()
  expect(forked[1].items).toBe(before[1].items + 1)
  expect(BigInt(forked[0].returnsNative)).toBeGreaterThan(BigInt(before[0].returnsNative))

  const { rows } = await api.pool.query<{ head: number }>('SELECT head FROM stream WHERE id = $1', [OPTIMISM])
  const head = rows[0]?.head ?? 0
  await api.append(OPTIMISM, 'optimism', [
    {
      block: { number, hash: hash('b'), timestamp },
      events: [
        {
          type: 'BlockRetracted',
          contract: '',
          data: { blockNumber: number, blockHash: hash('a'), fromPosition: head - 2, toPosition: head },
        },
      ],
    },
  ])
  await api.catchUp()
  expect(await answers()).toEqual(before)
})

it('a claim has the last share price before it, and is of nobody who never held shares', async () => {
  const [model, wallet] = pairs[0] as (typeof pairs)[number]
  const stranger = p.numbered('5a', 1)
  const last = wallets.blocks.at(-1)?.block
  const block = {
    number: (last?.number ?? 0) + 5,
    hash: `0x${'c'.repeat(64)}`,
    timestamp: (last?.timestamp ?? 0) + 60,
  }
  await api.append(OPTIMISM, 'optimism', [
    {
      block,
      events: [wallet, stranger].map((account, logIndex) => ({
        type: 'RewardClaimed',
        contract: p.numbered('5b', 1),
        transactionHash: `0x${'6'.repeat(64)}`,
        logIndex,
        data: { source: 'merkl', account, token: model.asset, amount: 9n },
      })),
    },
  ])
  await api.catchUp()
  const { data } = await get(`/v2/portfolio/events/${wallet}/optimism/${model.vault}`)
  const price = Number(p.worthOf(10n ** 18n, stateAt(model, block.number), model)) / 10 ** model.assetDecimals
  expect(data.at(-1)).toEqual({
    timestamp: block.timestamp,
    blockNumber: String(block.number),
    eventType: 'claim',
    assetAmountNative: '9',
    sharePrice: expect.closeTo(price, 12),
    lpTokenAmount: '0',
    transactionHash: `0x${'6'.repeat(64)}`,
    logIndex: 0,
    rewardToken: getAddress(model.asset),
    rewardAmountNative: '9',
  })
  const none = await get(`/v2/portfolio/events/${stranger}/optimism/${model.vault}`)
  expect(none.items).toBe(0)
})
