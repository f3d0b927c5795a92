import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { corruptionOf } from '../../../read-api/catalogue/corruption.ts'
import { rewardApy, rewardsOf } from '../../../read-api/catalogue/rewards.ts'
import {
  activeFlags,
  capacityOf,
  feesOf,
  stretchAround,
  transactionsOf,
} from '../../../read-api/catalogue/terms.ts'
import { pauseRatio } from '../../../read-api/vaults/pause-ratio.ts'

describe('what makes a vault corrupted', () => {
  const sample = {
    totalAssets: 10n,
    totalSupply: 10n,
    sharePrice: 1,
    sharePriceRaw: 1n,
    maxDeposit: undefined,
    idleAssets: undefined,
    borrowedAssets: undefined,
    blockNumber: 1,
    at: 1_000,
    position: 1,
  }
  const HOUR = 3_600

  it.each([
    ['sound', { sample }, 1_000, undefined],
    ['never sampled', {}, 1_000, 'unsampled'],
    ['no total assets', { sample: { ...sample, totalAssets: undefined } }, 1_000, 'unanswered'],
    [
      'no share price',
      { sample: { ...sample, sharePrice: undefined, sharePriceRaw: undefined } },
      1_000,
      'unanswered',
    ],
    ['more than there can be', { sample: { ...sample, totalSupply: 2n ** 255n } }, 1_000, 'beyond'],
    ['no share left', { sample: { ...sample, totalSupply: 0n, sharePrice: undefined } }, 1_000, undefined],
    [
      'assets of nobody',
      { sample: { ...sample, totalSupply: 2n, totalAssets: 10_000n, sharePrice: undefined } },
      1_000,
      'ownerless',
    ],
    ['shares without assets', { sample: { ...sample, totalAssets: 0n } }, 1_000, 'hollow'],
    ['shares worth nothing', { sample: { ...sample, sharePrice: 0 } }, 1_000, 'hollow'],
    ['empty', { sample: { ...sample, totalAssets: 0n, totalSupply: 0n, sharePrice: 0 } }, 1_000, undefined],
    ['48 hours old', { sample }, 1_000 + 48 * HOUR, undefined],
    ['a second more than 48 hours old', { sample }, 1_001 + 48 * HOUR, 'stale'],
    ['up tenfold', { sample, range: { low: 1, high: 10 } }, 1_000, undefined],
    ['up more than tenfold', { sample, range: { low: 1, high: 10.001 } }, 1_000, 'jump'],
  ])('%s', (_, state, now, expected) => {
    expect(corruptionOf(state, now, 'listed')).toBe(expected)
  })

  it('is read in turns where nobody lists it: nine days old', () => {
    expect(corruptionOf({ sample }, 1_000 + 9 * 24 * HOUR, 'made')).toBeUndefined()
    expect(corruptionOf({ sample }, 1_001 + 9 * 24 * HOUR, 'found')).toBe('stale')
  })
})

describe('fees', () => {
  it.each([
    ['nothing known', undefined, undefined, undefined],
    ['curated', undefined, { performanceFee: 0.1 }, { performanceFee: 0.1 }],
    [
      'events before curated',
      { 'fee:performance': '50000000000000000' },
      { performanceFee: 0.1 },
      { performanceFee: 0.05 },
    ],
    [
      'each its own',
      { 'fee:management': '20000000000000000' },
      { performanceFee: 0.1 },
      { performanceFee: 0.1, managementFee: 0.02 },
    ],
    ['set to zero', { 'fee:performance': '0' }, undefined, { performanceFee: 0 }],
    ['changed to what is not said', { 'fee:performance': null }, { performanceFee: 0.1 }, undefined],
    ['of the market, not the vault', { 'fee:reserve': '1' }, undefined, undefined],
  ])('%s', (_, settings, curated, expected) => {
    expect(feesOf(settings, curated)).toEqual(expected)
  })
})

describe('capacity', () => {
  const NO_LIMIT = 2n ** 256n - 1n
  const full = (maxCapacity: string, remainingCapacity: string) => ({ maxCapacity, remainingCapacity })
  it.each([
    ['no cap known', {}, 5n, undefined, {}],
    ['no cap set', { 'cap:deposit': String(NO_LIMIT) }, 5n, undefined, {}],
    ['room left', { 'cap:deposit': '8' }, 5n, undefined, full('8', '3')],
    ['full', { 'cap:deposit': '5' }, 5n, undefined, full('5', '0')],
    ['over the cap', { 'cap:deposit': '4' }, 5n, undefined, full('4', '0')],
    ['assets unknown', { 'cap:deposit': '4' }, undefined, undefined, { maxCapacity: '4' }],
    ['the vault says what it still takes', {}, 5n, 7n, full('12', '7')],
    ['the vault knows no limit', {}, 5n, NO_LIMIT, {}],
    ['a limit so far off that it is none', {}, 5n, NO_LIMIT - 5n, {}],
    ['zero, and nothing explains it', {}, 5n, 0n, {}],
    ['zero since it is paused', { paused: '1' }, 5n, 0n, { remainingCapacity: '0' }],
    ['zero since its markets are full', { 'cap:markets': '5' }, 5n, 0n, full('5', '0')],
    ['less room than the cap leaves', { 'cap:deposit': '8' }, 5n, 1n, full('8', '1')],
    ['paused below the cap', { 'cap:deposit': '8', paused: '1' }, 5n, 0n, full('8', '0')],
    ['a cap, and a vault that knows none', { 'cap:deposit': '8' }, 5n, NO_LIMIT, full('8', '3')],
    ['caps of markets, room not sampled', { 'cap:markets': '9' }, 5n, undefined, full('9', '4')],
    // Of caps of 9, 2 belong to a market that no deposit goes to.
    ['caps of markets, and the room of those in the queue', { 'cap:markets': '9' }, 5n, 2n, full('7', '2')],
    ['one market without a cap', { 'cap:markets': String(2n ** 184n) }, 5n, NO_LIMIT, {}],
  ])('%s', (_, settings: Record<string, string>, totalAssets, maxDeposit, expected) => {
    expect(capacityOf(settings, { totalAssets, maxDeposit })).toEqual(expected)
  })
})

describe('flags in force', () => {
  const flag = { content: 'x', severity: 'info' as const, startDate: 10, endDate: 20 }
  it.each([
    [9, 0],
    [10, 1],
    [19, 1],
    [20, 0],
  ])('at %i: %i', (now, count) => {
    expect(activeFlags([flag], now)).toHaveLength(count)
  })

  it('hold while none of their moments passes', () => {
    expect(stretchAround([10, 20], 9)).toEqual({ from: -Infinity, until: 10 })
    expect(stretchAround([10, 20], 10)).toEqual({ from: 10, until: 20 })
    expect(stretchAround([10, 20], 25)).toEqual({ from: 20, until: Infinity })
    fc.assert(
      fc.property(fc.array(fc.nat(100)), fc.nat(100), fc.nat(100), (moments, now, later) => {
        const { from, until } = stretchAround(moments, now)
        if (later < from || later >= until) return true
        // Inside the stretch the same moments have passed.
        return moments.every(moment => moment <= now === moment <= later)
      }),
    )
  })
})

describe('rewards', () => {
  const DAY = 86_400
  const token = { address: `0x${'ab'.repeat(20)}`, name: 'Reward', symbol: 'RWD', decimals: 18 }
  // 3,650 tokens over ten days: one a day for every thousand dollars of a vault of 365,000.
  const fact = { asset: token, amount: String(3_650n * 10n ** 18n), startDate: 0, endDate: 10 * DAY }

  it('are what was paid in the window, per dollar and year', () => {
    const apy = rewardApy({ fact, price: 2 }, 365_000, 10 * DAY)
    // 365 tokens a day at 2 USD, 365 days, over 365,000 USD: 0.73 a year.
    expect(apy?.['1hour']).toBeCloseTo(0.73, 12)
    expect(apy?.['7day']).toBeCloseTo(0.73, 12)
    // Ten days of thirty.
    expect(apy?.['30day']).toBeCloseTo(0.73 / 3, 12)
  })

  it('are unknown where price or TVL is', () => {
    expect(rewardApy({ fact, price: undefined }, 1, 5)).toBeUndefined()
    expect(rewardApy({ fact, price: 1 }, undefined, 5)).toBeUndefined()
    expect(rewardApy({ fact, price: 1 }, 0, 5)).toBeUndefined()
  })

  it('are listed while they are paid', () => {
    const wire = { address: '', assetCaip: '', name: '', symbol: 'RWD', decimals: 18, assetGroup: 'OTHER' }
    const at = (now: number, price?: number) => rewardsOf([{ fact, asset: wire, price }], 1, now)
    expect(at(-1, 1).known).toHaveLength(0)
    expect(at(0, 1).known).toHaveLength(1)
    expect(at(10 * DAY, 1).known).toHaveLength(0)
    expect(at(5).unknown).toEqual(['RWD'])
  })

  it('say nothing of a vault where anybody may have registered them in a token without a price, or next to nothing', () => {
    const wire = { address: '', assetCaip: '', name: '', symbol: 'RWD', decimals: 18, assetGroup: 'OTHER' }
    const at = (price: number | undefined, tvl: number) =>
      rewardsOf([{ fact: { ...fact, isAnybodys: true }, asset: wire, price }], tvl, 5)
    expect(at(undefined, 1)).toEqual({ known: [], unknown: [] })
    expect(at(1, 1e30)).toEqual({ known: [], unknown: [] })
    expect(at(1, 1).known).toHaveLength(1)
  })
})

describe('the pause ratio', () => {
  const on = (at: number) => ({ at, paused: true })
  const off = (at: number) => ({ at, paused: false })

  it.each([
    ['never an event', [], null],
    ['paused a quarter', [on(20), off(45)], 0.25],
    ['paused before the window', [on(-50), off(10)], 0.1],
    ['paused and over before the window', [on(-50), off(-10)], 0],
    ['paused still', [on(60)], 0.4],
    ['paused twice over', [on(10), on(20), off(30)], 0.2],
    ['only unpaused', [off(10)], 0],
    ['paused after the window', [on(200)], 0],
    ['all of it', [on(-1)], 1],
  ])('%s', (_, changes, expected) => {
    const ratio = pauseRatio(changes, 0, 100)
    if (expected === null) expect(ratio).toBeNull()
    else expect(ratio).toBeCloseTo(expected, 12)
  })

  it('is between 0 and 1, and complements what is unpaused', () => {
    const changes = fc
      .array(fc.record({ at: fc.integer({ min: -100, max: 200 }), paused: fc.boolean() }), { minLength: 1 })
      .map(list => list.sort((a, b) => a.at - b.at))
    fc.assert(
      fc.property(changes, list => {
        const ratio = pauseRatio(list, 0, 100) ?? -1
        // Reckoned second by second.
        let seconds = 0
        for (let at = 0; at < 100; at++) if (list.filter(change => change.at <= at).at(-1)?.paused) seconds++
        return Math.abs(ratio - seconds / 100) < 1e-9
      }),
    )
  })
})

describe('the kind of transactions', () => {
  const instant = {
    depositStepsType: 'instant',
    redeemStepsType: 'instant',
    rewardsSupported: false,
  } as const

  it('is what a curated fact says', () => {
    const curated = { ...instant, redeemStepsType: 'complex' } as const
    expect(transactionsOf({ protocol: 'metamorpho' }, 'made', curated)).toEqual(curated)
    expect(transactionsOf({ protocol: 'erc-4626' }, 'found', curated)).toEqual(curated)
  })

  it.each(['metamorpho', 'euler-v2', 'yearn-v3', 'fraxlend'])(
    'else follows from the factory of %s',
    protocol => {
      expect(transactionsOf({ protocol }, 'made', undefined)).toEqual(instant)
    },
  )

  it.each(['erc-4626', 'aave-v3', 'staked-token'])('and is not known of %s', protocol => {
    expect(transactionsOf({ protocol }, 'listed', undefined)).toBeUndefined()
  })

  it('follows from what the contract of a listed vault answers, and of no other', () => {
    const of = (deposits: boolean, redemptions: boolean) => ({
      protocol: 'erc-4626',
      async: { deposits, redemptions },
    })
    expect(transactionsOf(of(false, false), 'listed', undefined)).toEqual(instant)
    expect(transactionsOf(of(false, true), 'listed', undefined)).toEqual({
      ...instant,
      redeemStepsType: 'complex',
    })
    expect(transactionsOf(of(true, false), 'listed', undefined)).toEqual({
      ...instant,
      depositStepsType: 'complex',
    })
    expect(transactionsOf(of(false, false), 'found', undefined)).toBeUndefined()
  })
})
