import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Account,
  accountOf,
  type Figures,
  type Ledger,
  type Method,
  type Movement,
  midnightsOf,
  opposite,
} from '../../read-api/portfolio/statement.ts'

const HOUR = 3_600
const DAY = 86_400
const START = 1_735_689_600

/** A wallet in a vault: what it did, hour by hour, while the vault earned and lost and the price of its asset moved. */
interface Walk {
  movements: (Movement & { deposited: bigint; withdrawn: bigint })[]
  /** After each hour, from the one before the first movement on. */
  hours: { at: number; shares: bigint; value: bigint; price: number }[]
}

const stepOf = (least: bigint) =>
  fc.record({
    kind: fc.constantFrom('nothing', 'nothing', 'deposit', 'redeem', 'redeemAll', 'receive', 'send'),
    size: fc.bigInt({ min: least, max: 10n ** 12n }),
    part: fc.bigInt({ min: 1n, max: 999n }),
    earned: fc.bigInt({ min: -40n, max: 60n }),
    moved: fc.double({ min: 0.9, max: 1.1, noNaN: true }),
  })

const walkOf = (least: bigint): fc.Arbitrary<Walk> =>
  fc.array(stepOf(least), { minLength: 30, maxLength: 120 }).map(steps => {
    let [assets, supply, shares, price] = [10n ** 13n, 7n * 10n ** 12n, 0n, 2_000]
    const worth = (of: bigint) => (of * assets) / supply
    const movements: Walk['movements'] = []
    const hours = [{ at: START, shares, value: 0n, price }]
    for (const [i, { kind, size, part, earned, moved }] of steps.entries()) {
      const at = START + (i + 1) * HOUR
      assets += (assets * earned) / 10_000n
      price *= moved
      const none = {
        at,
        minted: 0n,
        burned: 0n,
        deposited: 0n,
        withdrawn: 0n,
        sent: 0n,
        sentWorth: 0n,
        price,
      }
      const some = kind === 'redeemAll' ? shares : (shares * part) / 1_000n
      if (kind === 'deposit') {
        const minted = (size * supply) / assets
        assets += size
        supply += minted
        shares += minted
        movements.push({ ...none, minted, deposited: size })
      } else if ((kind === 'redeem' || kind === 'redeemAll') && some > 0n) {
        const withdrawn = worth(some)
        assets -= withdrawn
        supply -= some
        shares -= some
        movements.push({ ...none, burned: some, withdrawn })
      } else if (kind === 'receive') {
        shares += size / 1_000n
        supply += size / 1_000n
        assets += worth(size / 1_000n)
        movements.push({ ...none, sent: size / 1_000n, sentWorth: worth(size / 1_000n) })
      } else if (kind === 'send' && some > 0n) {
        shares -= some
        movements.push({ ...none, sent: -some, sentWorth: -worth(some) })
      }
      hours.push({ at, shares, value: worth(shares), price })
    }
    return { movements, hours }
  })

const walk = walkOf(1n)
/** No deposit so small that it makes no share. */
const plainWalk = walkOf(10_000n)

const markAt = ({ hours }: Walk, at: number) => {
  const { value, price } = hours.findLast(hour => hour.at <= at) ?? { value: 0n, price: 2_000 }
  return { at, value, price }
}

/** Of `silent` midnights no price is known. */
function ledgerOf(of: Walk, from: number, to: number, silent: readonly number[] = []): Ledger {
  const midnightAt = (at: number) => {
    const mark = markAt(of, at)
    return silent.includes(at) ? { ...mark, price: undefined } : mark
  }
  return {
    assetDecimals: 6,
    movements: of.movements,
    opening: markAt(of, from),
    closing: markAt(of, to),
    midnights: midnightsOf({ from, to }).map(midnightAt),
  }
}

const known = (figures: Figures) => {
  for (const [name, value] of Object.entries(figures)) expect(value, name).toBeTypeOf('bigint')
  return figures as Record<keyof Figures, bigint>
}
const both = (account: Omit<Account, 'unknown'>) => [known(account.native), known(account.usd)]
const endOf = ({ hours }: Walk) => hours.at(-1)?.at ?? START
const methods = fc.constantFrom<Method>('fifo', 'average')
const cuts = fc.array(fc.integer({ min: -HOUR, max: 125 * HOUR }), { minLength: 3, maxLength: 8 })
const periodsOf = (of: readonly number[]) => {
  const sorted = [...of].sort((a, b) => a - b).map(cut => START + cut)
  return { sorted, from: sorted[0] ?? 0, to: sorted.at(-1) ?? 0 }
}

/**
 * The same in another way: each share that is there is a run with its cost per share as a fraction, nothing is rounded until
 * the end, and days are gone through one by one from the first.
 */
function oracleOf(of: Walk, { from, to }: { from: number; to: number }, method: Method) {
  let runs: { count: bigint; cost: [bigint, bigint] }[] = []
  const add = ([a, b]: [bigint, bigint], [c, d]: [bigint, bigint]): [bigint, bigint] => [a * d + c * b, b * d]
  const times = ([a, b]: [bigint, bigint], n: bigint): [bigint, bigint] => [a * n, b]
  const total = () =>
    runs.reduce((sum, run) => add(sum, times(run.cost, run.count)), [0n, 1n] as [bigint, bigint])
  let realised: [bigint, bigint] = [0n, 1n]
  for (const movement of of.movements) {
    if (movement.at > to) continue
    const came = movement.minted + (movement.sent > 0n ? movement.sent : 0n)
    const paid = movement.deposited + (movement.sent > 0n ? (movement.sentWorth ?? 0n) : 0n)
    let went = movement.burned + (movement.sent < 0n ? -movement.sent : 0n)
    const got = movement.withdrawn - (movement.sent < 0n ? (movement.sentWorth ?? 0n) : 0n)
    if (came > 0n) runs.push({ count: came, cost: [paid, came] })
    const count = runs.reduce((sum, run) => sum + run.count, 0n)
    if (method === 'average' && count > 0n) {
      const [cost, per] = total()
      runs = [{ count, cost: [cost, per * count] }]
    }
    let cost: [bigint, bigint] = [0n, 1n]
    while (went > 0n && runs[0]) {
      const taken = went < runs[0].count ? went : runs[0].count
      cost = add(cost, times(runs[0].cost, taken))
      runs[0].count -= taken
      went -= taken
      if (runs[0].count === 0n) runs.shift()
    }
    if (movement.at > from) realised = add(add(realised, [got, 1n]), times(cost, -1n))
  }
  const rounded = ([a, b]: [bigint, bigint]) => a / b
  return { realised: rounded(realised), unrealised: markAt(of, to).value - rounded(total()) }
}

/**
 * Day by day from the beginning of time: what each earned up to a moment, at the price of its end or of the moment; days whose
 * end is `silent` go with the next.
 */
function earnedUsdUntil(of: Walk, moment: number, silent: readonly number[] = []): bigint {
  let total = 0n
  for (let day = START - DAY; day < moment; ) {
    let end = Math.min(day + DAY, moment)
    while (silent.includes(end) && end < moment) end = Math.min(end + DAY, moment)
    let earned = markAt(of, end).value - markAt(of, day).value
    for (const { at, deposited, withdrawn, sentWorth } of of.movements)
      if (at > day && at <= end) earned += withdrawn - deposited - (sentWorth ?? 0n)
    const price = BigInt(
      markAt(of, end)
        .price.toExponential(14)
        .replace(/^(\d)\.(\d+)e.*$/, '$1$2'),
    )
    const exponent = Number(markAt(of, end).price.toExponential(14).split('e')[1])
    day = end
    const shift = 14 - exponent + 6 - 12
    total += shift >= 0 ? (earned * price) / 10n ** BigInt(shift) : earned * price * 10n ** BigInt(-shift)
  }
  return total
}

describe('over random walks', () => {
  it('opening, flows and gains make the closing figure to the unit, and gains are realised or not', () => {
    fc.assert(
      fc.property(walk, cuts, methods, (of, at, method) => {
        const { from, to } = periodsOf(at)
        for (const f of both(accountOf(ledgerOf(of, from, to), method))) {
          const flows = f.deposits - f.withdrawals + f.transfersIn - f.transfersOut
          expect(f.opening + flows + f.yield + f.priceEffect).toBe(f.closing)
          expect(f.opening + flows + f.gain).toBe(f.closing)
          expect(f.realised + f.unrealisedClosing - f.unrealisedOpening).toBe(f.gain)
        }
      }),
    )
  })

  it('statements of adjacent periods add up to the unit', () => {
    fc.assert(
      fc.property(walk, cuts, methods, (of, at, method) => {
        const { sorted, from, to } = periodsOf(at)
        const whole = both(accountOf(ledgerOf(of, from, to), method))
        const parts = sorted
          .slice(1)
          .map((end, i) => both(accountOf(ledgerOf(of, sorted[i] ?? 0, end), method)))
        for (const [which, figures] of whole.entries()) {
          for (const name of [
            'deposits',
            'withdrawals',
            'transfersIn',
            'transfersOut',
            'yield',
            'priceEffect',
            'realised',
          ] as const)
            expect(parts.reduce((sum, part) => sum + (part[which]?.[name] ?? 0n), 0n)).toBe(figures[name])
          for (const [i, part] of parts.entries()) {
            if (i === 0) continue
            expect(part[which]?.opening).toBe(parts[i - 1]?.[which]?.closing)
            expect(part[which]?.unrealisedOpening).toBe(parts[i - 1]?.[which]?.unrealisedClosing)
          }
        }
      }),
    )
  })

  it('gains are those of an oracle that rounds nothing, but for the units that were rounded', () => {
    fc.assert(
      fc.property(plainWalk, cuts, methods, (of, at, method) => {
        const { from, to } = periodsOf(at)
        const { realised, unrealisedClosing } = known(accountOf(ledgerOf(of, from, to), method).native)
        const oracle = oracleOf(of, { from, to }, method)
        const isNear = (a: bigint, b: bigint) => a - b <= 130n && b - a <= 130n
        expect(isNear(realised, oracle.realised)).toBe(true)
        expect(isNear(unrealisedClosing, oracle.unrealised)).toBe(true)
      }),
    )
  })

  it('what was earned in USD is what the days earned at the prices of their ends', () => {
    fc.assert(
      fc.property(walk, cuts, (of, at) => {
        const { from, to } = periodsOf(at)
        const { yield: earned } = known(accountOf(ledgerOf(of, from, to), 'fifo').usd)
        expect(earned).toBe(earnedUsdUntil(of, to) - earnedUsdUntil(of, from))
      }),
    )
  })

  it('a midnight without a price makes nothing unknown: what was earned by then counts with the next day', () => {
    const silence = fc.subarray([1, 2, 3, 4, 5].map(day => START + day * DAY))
    fc.assert(
      fc.property(walk, cuts, silence, (of, at, silent) => {
        const moments = at.map(cut => (silent.includes(START + cut) ? cut + 1 : cut))
        const { sorted, from, to } = periodsOf(moments)
        const earnedIn = (a: number, b: number) =>
          known(accountOf(ledgerOf(of, a, b, silent), 'fifo').usd).yield
        expect(earnedIn(from, to)).toBe(earnedUsdUntil(of, to, silent) - earnedUsdUntil(of, from, silent))
        const parts = sorted.slice(1).map((end, i) => earnedIn(sorted[i] ?? 0, end))
        expect(parts.reduce((all, part) => all + part, 0n)).toBe(earnedIn(from, to))
      }),
    )
  })

  it('a debt is the same turned round, to the unit', () => {
    fc.assert(
      fc.property(walk, cuts, methods, (of, at, method) => {
        const { from, to } = periodsOf(at)
        const owed = accountOf(ledgerOf(of, from, to), method)
        for (const [i, f] of both(opposite(owed)).entries()) {
          expect(f.opening + f.deposits - f.withdrawals + f.transfersIn - f.transfersOut + f.gain).toBe(
            f.closing,
          )
          expect(f.yield + f.priceEffect).toBe(f.gain)
          expect(f.realised + f.unrealisedClosing - f.unrealisedOpening).toBe(f.gain)
          expect(f.closing).toBe(-(both(owed)[i]?.closing ?? 0n))
        }
      }),
    )
  })

  it('a transfer is one wallet’s going and another’s coming: together there is none', () => {
    fc.assert(
      fc.property(walk, of => {
        const period = { from: START, to: endOf(of) }
        const other: Walk = {
          movements: of.movements.flatMap(movement =>
            movement.sent === 0n
              ? []
              : [
                  {
                    ...movement,
                    minted: 0n,
                    burned: 0n,
                    deposited: 0n,
                    withdrawn: 0n,
                    sent: -movement.sent,
                    sentWorth: -(movement.sentWorth ?? 0n),
                  },
                ],
          ),
          hours: of.hours,
        }
        const [own, others] = [of, other].map(one =>
          known(accountOf(ledgerOf(one, period.from, period.to), 'fifo').native),
        )
        expect(own?.transfersIn).toBe(others?.transfersOut)
        expect(own?.transfersOut).toBe(others?.transfersIn)
      }),
    )
  })
})
