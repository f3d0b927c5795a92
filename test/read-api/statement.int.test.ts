import { getAddress } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readMoment } from '../../read-api/moment/snapshot.ts'
import { asking } from './ask.ts'
import type { ApiHarness } from './harness.ts'
import { startApi } from './harness.ts'
import type { Modelled } from './portfolio-world.ts'
import * as p from './portfolio-world.ts'
import * as w from './world.ts'

/** Statements of account against what happened, reckoned here from the list of it. */

const OPTIMISM = 10
const BASE = 8453
const wallets = p.makePortfolioWorld(20_250_101)
const { stateAt, heldAfter } = p.bookOf(wallets)
let api: ApiHarness

/** The asset of the first vault is a dollar, and after half of the time a dollar and a quarter; of the other nobody knows. */
const DEARER = w.START + 15 * w.DAY
const priceOf = (at: number) => (at < DEARER ? 4n : 5n)

beforeAll(async () => {
  api = await startApi()
  const peg = (usd: string) => [
    { subject: `asset:${OPTIMISM}:${wallets.vaults[0]?.asset}`, kind: 'peg', value: { usd } },
  ]
  await api.recordFacts(peg('1'), w.START - w.DAY)
  await api.recordFacts(peg('1.25'), DEARER)
  await api.append(OPTIMISM, 'optimism', wallets.blocks)
  await api.catchUp()
}, 120_000)
afterAll(() => api?.stop())

const { ask, get } = asking(() => api)
const lower = (address: string) => address.toLowerCase()

const random = p.mulberry(11)
const someTime = () => w.START + Math.floor(random() * 30 * w.DAY)
const cases = [...Array(8)].map((_, i) => {
  const [from, middle, to] = [someTime(), someTime(), someTime()].sort((a, b) => a - b) as [
    number,
    number,
    number,
  ]
  return { of: p.WALLETS.slice(i % 4, (i % 4) + 1 + (i % 3)), from, middle, to }
})
const FLOWS = ['deposits', 'withdrawals', 'transfersIn', 'transfersOut'] as const
const SUMS = [...FLOWS, 'gain', 'yield', 'priceEffect', 'realised'] as const
const asked = (of: readonly string[], from: number, to: number, more = '') =>
  get(`/beta/portfolio/statement?wallets=${of.join(',')}&fromTimestamp=${from}&toTimestamp=${to}${more}`)
const dollars = (text: string) => {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  return BigInt(`${sign}${whole}${fraction.padEnd(12, '0')}`)
}

/** What the wallets did together, block by block, and the gains of the shares that went, oldest first. */
function book(model: Modelled, of: readonly string[], from: number, to: number) {
  const isOf = (wallet: string) => of.includes(wallet)
  const flows = { deposits: 0n, withdrawals: 0n, transfersIn: 0n, transfersOut: 0n }
  const usd = { ...flows }
  const all = wallets.steps.filter(({ vault, at }) => vault === model.vault && at <= to)
  const blocks = [...new Set(all.map(({ block }) => block))].map(
    block => [block, all.filter(step => step.block === block)] as const,
  )
  const lots: { shares: bigint; cost: bigint }[] = []
  let realised = 0n
  for (const [block, steps] of blocks) {
    const at = steps[0]?.at ?? 0
    const total = (which: (step: p.Step) => boolean, what: 'shares' | 'assets') =>
      steps.reduce((sum, step) => (which(step) ? sum + step[what] : sum), 0n)
    const isIn = (step: p.Step) => step.kind === 'deposit' && isOf(step.to)
    const isOut = (step: p.Step) => step.kind === 'redeem' && isOf(step.from)
    const isCome = (step: p.Step) => step.kind === 'transfer' && isOf(step.to)
    const isGone = (step: p.Step) => step.kind === 'transfer' && isOf(step.from)
    const sent = total(isCome, 'shares') - total(isGone, 'shares')
    const worth = p.worthOf(sent < 0n ? -sent : sent, stateAt(model, block), model)
    const own = {
      deposits: total(isIn, 'assets'),
      withdrawals: total(isOut, 'assets'),
      transfersIn: sent > 0n ? worth : 0n,
      transfersOut: sent < 0n ? worth : 0n,
    }
    lots.push({ shares: total(isIn, 'shares'), cost: own.deposits })
    if (sent > 0n) lots.push({ shares: sent, cost: worth })
    let going = total(isOut, 'shares') + (sent < 0n ? -sent : 0n)
    let cost = 0n
    for (const lot of lots) {
      const taken = going < lot.shares ? going : lot.shares
      const part = taken === lot.shares ? lot.cost : (lot.cost * taken) / lot.shares
      cost += part
      lot.cost -= part
      lot.shares -= taken
      going -= taken
    }
    if (at <= from) continue
    realised += own.withdrawals + own.transfersOut - cost
    for (const flow of FLOWS) {
      flows[flow] += own[flow]
      usd[flow] += (own[flow] * priceOf(at) * 10n ** 6n) / 4n
    }
  }
  const worthAt = (at: number) => {
    const state = wallets.states.get(model.vault)?.findLast(known => known.at <= at)
    const shares = of.reduce((sum, wallet) => sum + heldAfter(model, wallet, state?.block ?? 0), 0n)
    return state ? p.worthOf(shares, state, model) : 0n
  }
  return { flows, usd, realised, opening: worthAt(from), closing: worthAt(to) }
}

it.each(cases)('say what happened, to the unit: %o', async ({ of, from, to }) => {
  const body = await asked(of, from, to)
  expect(body).toMatchObject({ fromTimestamp: from, toTimestamp: to, method: 'fifo' })
  expect(body.wallets.map(lower)).toEqual(of)
  for (const [i, model] of wallets.vaults.entries()) {
    const { flows, usd, realised, opening, closing } = book(model, of, from, to)
    const found = body.data.find(({ address }: { address: string }) => lower(address) === model.vault)
    const { native } = found
    for (const flow of FLOWS) expect(BigInt(native[flow]), flow).toBe(flows[flow])
    expect([native.opening, native.closing].map(BigInt)).toEqual([opening, closing])
    const gain =
      closing - opening - flows.deposits + flows.withdrawals - flows.transfersIn + flows.transfersOut
    expect([native.gain, native.yield].map(BigInt)).toEqual([gain, gain])
    // Lots are split at other places: each may round by one.
    const off = BigInt(native.realised) - realised
    expect(off <= 300n && off >= -300n, `${native.realised} ${realised}`).toBe(true)
    expect(
      BigInt(native.realised) + BigInt(native.unrealisedClosing) - BigInt(native.unrealisedOpening),
    ).toBe(gain)
    if (i > 0) {
      expect(found.usd.closing).toBe(closing === 0n ? '0' : '')
      continue
    }
    for (const flow of FLOWS) expect(dollars(found.usd[flow]), flow).toBe(usd[flow])
    expect(dollars(found.usd.opening)).toBe((opening * priceOf(from) * 10n ** 6n) / 4n)
    expect(dollars(found.usd.closing)).toBe((closing * priceOf(to) * 10n ** 6n) / 4n)
    expect(dollars(found.usd.yield) + dollars(found.usd.priceEffect)).toBe(dollars(found.usd.gain))
    if (to < DEARER) expect(found.usd.priceEffect).toBe('0')
    expect(body.assets).toContainEqual(
      expect.objectContaining({
        asset: expect.objectContaining({ address: getAddress(model.asset) }),
        native,
      }),
    )
  }
})

it.each(cases)('of adjacent periods add up, by either method: %o', async ({ of, from, middle, to }) => {
  for (const method of ['fifo', 'average']) {
    const [first, second, whole] = await Promise.all([
      asked(of, from, middle, `&method=${method}`),
      asked(of, middle, to, `&method=${method}`),
      asked(of, from, to, `&method=${method}`),
    ])
    for (const all of whole.data) {
      const [one, two] = [first, second].map(({ data }) =>
        data.find(({ address }: { address: string }) => address === all.address),
      )
      for (const sum of SUMS) {
        const [a = '0', b = '0'] = [one?.native[sum], two?.native[sum]]
        expect(BigInt(a) + BigInt(b), sum).toBe(BigInt(all.native[sum]))
        if (lower(all.address) !== wallets.vaults[0]?.vault) continue
        expect(dollars(one?.usd[sum] ?? '0') + dollars(two?.usd[sum] ?? '0'), sum).toBe(dollars(all.usd[sum]))
      }
      if (one && two) expect(one.native.closing).toBe(two.native.opening)
    }
  }
})

it('refuse what they cannot be of', async () => {
  const path = '/beta/portfolio/statement'
  const [wallet] = p.WALLETS
  await ask(`${path}?fromTimestamp=${w.START}`, 400)
  await ask(`${path}?wallets=${wallet}`, 400)
  await ask(`${path}?wallets=0x12&fromTimestamp=${w.START}`, 400)
  await ask(`${path}?wallets=${[...Array(21)].map((_, n) => p.numbered('a5', n + 1))}&fromTimestamp=1`, 400)
  await ask(`${path}?wallets=${wallet}&fromTimestamp=${w.START}&method=lifo`, 400)
  await ask(`${path}?wallets=${wallet}&fromTimestamp=9&toTimestamp=8`, 422)
  await ask(`${path}?wallets=${wallet}&fromTimestamp=9&toTimestamp=99999999999`, 422)
  const none = await asked([p.numbered('dd', 1)], w.START, w.START + w.DAY)
  expect(none).toMatchObject({ data: [], assets: [], rewards: [], total: { usd: { closing: '0' } } })
  const elsewhere = await asked([wallet ?? ''], w.START, w.START + w.DAY, '&allowedNetworks=gnosis')
  expect(elsewhere).toMatchObject({ data: [], errors: { unsupportedNetworks: ['gnosis'] } })
})

it('of the past stay as they were, whatever comes and is retracted; rewards are told beside', async () => {
  const [wallet = ''] = p.WALLETS
  const [model] = wallets.vaults
  if (!model) throw new Error('no vault')
  const until = (at: number) => asked([wallet], w.START + w.DAY, at)
  const last = wallets.blocks.at(-1)?.block ?? { number: 0, timestamp: 0 }
  const [past, whole] = [w.START + 9 * w.DAY, w.START + 60 * w.DAY]
  const before = await Promise.all([until(past), until(whole)])
  const block = { number: last.number + 1, hash: `0x${'a'.repeat(64)}`, timestamp: last.timestamp + 2 }
  const place = { transactionHash: `0x${'7'.repeat(64)}`, logIndex: 1 }
  const shares = 5n * 10n ** 18n
  await api.append(OPTIMISM, 'optimism', [
    {
      block,
      events: [
        {
          type: 'ShareTransferred',
          contract: model.vault,
          ...place,
          data: { from: `0x${'0'.repeat(40)}`, to: wallet, shares },
        },
        {
          type: 'RewardClaimed',
          contract: p.numbered('5b', 1),
          ...place,
          logIndex: 2,
          data: { source: 'merkl', account: wallet, token: model.asset, amount: 18n },
        },
      ],
    },
  ])
  await api.catchUp()
  const [pastNow, wholeNow] = await Promise.all([until(past), until(whole)])
  expect(pastNow).toEqual(before[0])
  expect(wholeNow.data).not.toEqual(before[1].data)
  expect(wholeNow.rewards).toMatchObject([
    // 18 units of six digits at a dollar and a quarter.
    { token: getAddress(model.asset), source: 'merkl', amountNative: '18', amountUsd: '0.0000225' },
  ])
  const { rows } = await api.pool.query<{ head: number }>('SELECT head FROM stream WHERE id = $1', [OPTIMISM])
  const head = rows[0]?.head ?? 0
  await api.append(OPTIMISM, 'optimism', [
    {
      block: { ...block, hash: `0x${'b'.repeat(64)}` },
      events: [
        {
          type: 'BlockRetracted',
          contract: '',
          data: {
            blockNumber: block.number,
            blockHash: block.hash,
            fromPosition: head - 1,
            toPosition: head,
          },
        },
      ],
    },
  ])
  await api.catchUp()
  expect(await Promise.all([until(past), until(whole)])).toEqual(before)
})

it('end where all networks have got to, and name those that have not got to an end that was asked for', async () => {
  const [wallet = ''] = p.WALLETS
  const timeOf = async (chain: number) => (await readMoment(api.pool)).chains.get(chain)?.blockTime ?? 0
  const head = await timeOf(OPTIMISM)
  const claimed = {
    source: 'merkl' as const,
    account: p.numbered('ac', 1),
    token: p.numbered('5c', 1),
    amount: 1n,
  }
  const place = { contract: p.numbered('5b', 1), transactionHash: `0x${'8'.repeat(64)}`, logIndex: 1 }
  await api.append(BASE, 'base', [
    {
      block: { number: 5, hash: `0x${'c'.repeat(64)}`, timestamp: head - 7_200 },
      events: [{ type: 'RewardClaimed', ...place, data: claimed }],
    },
  ])
  await api.catchUp()
  expect(await timeOf(BASE)).toBe(head - 7_200)
  const path = `/beta/portfolio/statement?wallets=${wallet}&fromTimestamp=${w.START}`
  expect(await get(path)).toMatchObject({ toTimestamp: head - 7_201, incompleteNetworks: [] })
  const later = await get(`${path}&toTimestamp=${head - 1}`)
  expect(later).toMatchObject({ incompleteNetworks: ['base'] })
  expect(later.notIncluded).toEqual([
    'fixed-term-liquidity',
    'yield-tokens',
    'pending-requests',
    'unclaimed-rewards',
  ])
  const alone = await get(`${path}&allowedNetworks=optimism`)
  expect(alone).toMatchObject({ toTimestamp: head - 1, incompleteNetworks: [] })
})
