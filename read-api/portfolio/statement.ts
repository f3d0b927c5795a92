/**
 * The arithmetic of a statement of account: what was there at two moments, what came and went between them, and what was
 * earned. All sums are exact, so that opening, flows and gains make the closing figure to the unit, and statements of
 * adjacent periods add up. What is not known is undefined, and so is what would follow from it.
 */

export type Method = 'fifo' | 'average'

/** What happened to a position in one block. Amounts of the asset are base units. */
export interface Movement {
  /** Unix seconds. */
  at: number
  /** Shares made for assets that were paid in, and those burned for assets that were paid out. */
  minted: bigint
  burned: bigint
  deposited: bigint | undefined
  withdrawn: bigint | undefined
  /** Shares that came less shares that went, without assets. */
  sent: bigint
  /** What those were worth at the end of the block, below zero where they went. */
  sentWorth: bigint | undefined
  /** USD of one whole asset. */
  price: number | undefined
}

/** What the shares were worth at a moment, after all that had happened by then. */
export interface Mark {
  /** Unix seconds. */
  at: number
  value: bigint | undefined
  /** USD of one whole asset. */
  price: number | undefined
}

export interface Ledger {
  assetDecimals: number
  /** From the very first on, ascending; those after the end of the statement do not matter. */
  movements: readonly Movement[]
  opening: Mark
  closing: Mark
  /** At midnights (UTC) from the one at or before the opening, or before that, to the last before the closing, ascending. */
  midnights: readonly Mark[]
}

/** In base units of the asset, or in units of USD_DIGITS. `A` is bigint where all is known. */
export interface Figures {
  opening: bigint | undefined
  deposits: bigint | undefined
  withdrawals: bigint | undefined
  transfersIn: bigint | undefined
  transfersOut: bigint | undefined
  /** Growth of the worth that no flow explains: what was earned, and what the price did. */
  gain: bigint | undefined
  /** What the shares earned in their asset. */
  yield: bigint | undefined
  /** What the price of the asset did to what was held; of the asset itself there is none. */
  priceEffect: bigint | undefined
  closing: bigint | undefined
  /** Gains of shares that went, over what they had cost. */
  realised: bigint | undefined
  /** Of shares that were there: worth less cost, at either end. */
  unrealisedOpening: bigint | undefined
  unrealisedClosing: bigint | undefined
}

/** Why figures are not known: what it was worth at a moment, what was paid for it, or what the asset cost in USD. */
export const UNKNOWN = ['worth', 'paid', 'price'] as const
type Unknown = (typeof UNKNOWN)[number]

export interface Account {
  native: Figures
  usd: Figures
  /** Nothing where all figures are known. */
  unknown: Unknown[]
}

const DAY = 86_400

/** USD are summed as whole units of 10^-USD_DIGITS: floats would not add up. */
export const USD_DIGITS = 12
const PRICE_DIGITS = 24

type Maybe = bigint | undefined

/** Undefined where any of them is. */
export const sum = (...parts: Maybe[]): Maybe => {
  let total = 0n
  for (const part of parts) {
    if (part === undefined) return undefined
    total += part
  }
  return total
}
const minus = (a: Maybe, b: Maybe): Maybe => (a === undefined || b === undefined ? undefined : a - b)

/** Base units at a price; nothing is worth nothing at any price. */
export function usdUnits(amount: Maybe, price: number | undefined, decimals: number): Maybe {
  if (amount === 0n) return 0n
  if (amount === undefined || price === undefined || !Number.isFinite(price)) return undefined
  return (amount * scaled(price)) / 10n ** BigInt(decimals + PRICE_DIGITS - USD_DIGITS)
}

/** A float as it is written in fifteen digits, as a whole number of 10^-PRICE_DIGITS. */
function scaled(price: number): bigint {
  const [digits = '0', exponent = '0'] = price.toExponential(14).split('e')
  const [whole = '0', fraction = ''] = digits.split('.')
  const shift = PRICE_DIGITS + Number(exponent) - fraction.length
  const value = BigInt(whole + fraction)
  return shift >= 0 ? value * 10n ** BigInt(shift) : value / 10n ** BigInt(-shift)
}

/** As the wire has USD: every digit of the exact sum, the empty string where it is not known. */
export function usdText(units: Maybe): string {
  if (units === undefined) return ''
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(USD_DIGITS + 1, '0')
  const fraction = digits.slice(-USD_DIGITS).replace(/0+$/, '')
  return `${sign}${digits.slice(0, -USD_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`
}

interface Lot {
  shares: bigint
  cost: Maybe
  costUsd: Maybe
}

/** Shares with what they cost: those that came first go first, or all at their average. */
class Lots {
  private lots: Lot[] = []
  private readonly method: Method
  constructor(method: Method) {
    this.method = method
  }

  get cost(): Maybe {
    return sum(...this.lots.map(({ cost }) => cost))
  }
  get costUsd(): Maybe {
    return sum(...this.lots.map(({ costUsd }) => costUsd))
  }

  add(shares: bigint, cost: Maybe, costUsd: Maybe): void {
    if (shares === 0n && cost === 0n) return
    const [pool] = this.lots
    if (this.method === 'fifo' || !pool) this.lots.push({ shares, cost, costUsd })
    else
      this.lots = [
        { shares: pool.shares + shares, cost: sum(pool.cost, cost), costUsd: sum(pool.costUsd, costUsd) },
      ]
  }

  /** What the shares that go had cost. The last of a lot take all that is left of its cost. */
  take(shares: bigint): { cost: Maybe; costUsd: Maybe } {
    let left = shares
    let cost: Maybe = 0n
    let costUsd: Maybe = 0n
    let gone = 0
    for (const lot of this.lots) {
      if (left === 0n && lot.shares !== 0n) break
      const taken = left < lot.shares ? left : lot.shares
      const isWhole = taken === lot.shares
      const part = (of: Maybe) => (of === undefined || isWhole ? of : (of * taken) / lot.shares)
      const [own, ownUsd] = [part(lot.cost), part(lot.costUsd)]
      cost = sum(cost, own)
      costUsd = sum(costUsd, ownUsd)
      left -= taken
      if (isWhole) {
        gone++
        continue
      }
      lot.shares -= taken
      lot.cost = minus(lot.cost, own)
      lot.costUsd = minus(lot.costUsd, ownUsd)
      break
    }
    this.lots.splice(0, gone)
    return { cost, costUsd }
  }
}

/** A position between the moments of `opening`, exclusive, and `closing`, inclusive. */
export function accountOf(ledger: Ledger, method: Method): Account {
  const { movements, opening, closing, assetDecimals } = ledger
  const usd = (amount: Maybe, price: number | undefined) => usdUnits(amount, price, assetDecimals)
  const inside = movements.filter(({ at }) => at > opening.at && at <= closing.at)
  const flows = (of: (movement: Movement) => Maybe) => ({
    native: sum(...inside.map(of)),
    usd: sum(...inside.map(movement => usd(of(movement), movement.price))),
  })
  const deposits = flows(({ deposited }) => deposited)
  const withdrawals = flows(({ withdrawn }) => withdrawn)
  const transfersIn = flows(({ sent, sentWorth }) => (sent > 0n ? sentWorth : 0n))
  const transfersOut = flows(({ sent, sentWorth }) => (sent < 0n ? minus(0n, sentWorth) : 0n))
  const change = (of: 'native' | 'usd', start: Maybe, end: Maybe) =>
    minus(
      minus(end, start),
      minus(sum(deposits[of], transfersIn[of]), sum(withdrawals[of], transfersOut[of])),
    )
  const [openingUsd, closingUsd] = [usd(opening.value, opening.price), usd(closing.value, closing.price)]
  const earned = change('native', opening.value, closing.value)
  const gainUsd = change('usd', openingUsd, closingUsd)
  const earnedUsd = yieldUsd(ledger)
  const gains = gainsOf(ledger, method)
  const of = (which: 'native' | 'usd') => ({
    deposits: deposits[which],
    withdrawals: withdrawals[which],
    transfersIn: transfersIn[which],
    transfersOut: transfersOut[which],
    ...gains[which],
  })
  const account = {
    native: {
      opening: opening.value,
      closing: closing.value,
      ...of('native'),
      gain: earned,
      yield: earned,
      priceEffect: 0n,
    },
    usd: {
      opening: openingUsd,
      closing: closingUsd,
      ...of('usd'),
      gain: gainUsd,
      yield: earnedUsd,
      priceEffect: minus(gainUsd, earnedUsd),
    },
  }
  return { ...account, unknown: unknownIn(account, ledger) }
}

function unknownIn({ native, usd }: Omit<Account, 'unknown'>, { movements, closing }: Ledger): Unknown[] {
  const names = Object.keys(native) as (keyof Figures)[]
  const isNativeKnown = names.every(name => native[name] !== undefined)
  const past = movements.filter(({ at }) => at <= closing.at)
  const isPaidKnown = past.every(of => of.deposited !== undefined && of.withdrawn !== undefined)
  const isSentKnown = past.every(of => of.sentWorth !== undefined)
  const areEndsKnown = native.opening !== undefined && native.closing !== undefined
  const isPriced = names.every(
    name => name === 'priceEffect' || usd[name] !== undefined || native[name] === undefined,
  )
  return [
    ...(isNativeKnown || (isSentKnown && areEndsKnown) ? [] : (['worth'] as const)),
    ...(isPaidKnown ? [] : (['paid'] as const)),
    ...(isPriced ? [] : (['price'] as const)),
  ]
}

/**
 * What several accounts that share a position did in one block, as if they were one: what went from one of them to another has
 * not moved. That may be worth less to one than to the other by `rounding`, which is no transfer either.
 */
export function together(movements: readonly [Movement, ...Movement[]], rounding: bigint): Movement {
  const [first] = movements
  const total = (of: (movement: Movement) => bigint) => movements.reduce((all, each) => all + of(each), 0n)
  const known = (of: (movement: Movement) => Maybe) => sum(...movements.map(of))
  const sent = total(movement => movement.sent)
  const isBetween = movements.some(of => of.sent > 0n) && movements.some(of => of.sent < 0n)
  const worth = isBetween && sent === 0n ? 0n : known(movement => movement.sentWorth)
  const isRounded = isBetween && worth !== undefined && worth <= rounding && worth >= -rounding
  return {
    at: first.at,
    price: first.price,
    minted: total(movement => movement.minted),
    burned: total(movement => movement.burned),
    deposited: known(movement => movement.deposited),
    withdrawn: known(movement => movement.withdrawn),
    sent,
    sentWorth: isRounded ? 0n : worth,
  }
}

/** The account of a debt from that of what is owed: what was borrowed was paid out, and what is owed is worth less than nothing. */
export function opposite({ native, usd, unknown }: Account): Account {
  const less = (of: Maybe) => minus(0n, of)
  const turned = (of: Figures): Figures => ({
    opening: less(of.opening),
    deposits: of.withdrawals,
    withdrawals: of.deposits,
    transfersIn: of.transfersOut,
    transfersOut: of.transfersIn,
    gain: less(of.gain),
    yield: less(of.yield),
    priceEffect: less(of.priceEffect),
    closing: less(of.closing),
    realised: less(of.realised),
    unrealisedOpening: less(of.unrealisedOpening),
    unrealisedClosing: less(of.unrealisedClosing),
  })
  return { native: turned(native), usd: turned(usd), unknown }
}

/** A day at whose end no price is known counts at that of the end of a later one, so many seconds after its beginning at most. */
const LONGEST_GAP = 7 * DAY

/**
 * What was earned, each day's at the price of the day's end, and of the last at that of the closing. Days are cut where the
 * calendar has them, whatever the period, so that adjacent periods add up.
 */
function yieldUsd({ movements, opening, closing, midnights, assetDecimals }: Ledger): Maybe {
  const net = ({ deposited, withdrawn, sentWorth }: Movement) => minus(sum(deposited, sentWorth), withdrawn)
  let next = 0
  /** What came and went after one moment, up to another; asked in ascending order. */
  const between = (after: number, until: number): Maybe => {
    let total: Maybe = 0n
    while ((movements[next]?.at ?? Number.POSITIVE_INFINITY) <= after) next++
    for (let i = next; i < movements.length; i++) {
      const movement = movements[i]
      if (!movement || movement.at > until) break
      total = sum(total, net(movement))
    }
    return total
  }
  const isKnown = ({ value, price }: Mark) => value !== undefined && price !== undefined
  /** USD earned in the days that began at `start`, up to `end`. */
  const upTo = (start: Mark, end: Mark): Maybe => {
    if (start.at === end.at) return 0n
    const isLong = end.at - start.at > (isKnown(start) ? LONGEST_GAP : DAY)
    const earned = minus(minus(end.value, start.value), between(start.at, end.at))
    return usdUnits(earned, isLong ? undefined : end.price, assetDecimals)
  }
  const today = midnightBefore(opening.at)
  const begun = midnights.findLast(mark => mark.at <= today && isKnown(mark))
  let start = begun ?? midnights.find(({ at }) => at === today) ?? opening
  // The first day is not of this period as far as it lies before the opening.
  let total = minus(0n, upTo(start, opening))
  for (const end of [...midnights.filter(mark => mark.at > opening.at && isKnown(mark)), closing]) {
    total = sum(total, upTo(start, end))
    start = end
  }
  return total
}

/** The midnight (UTC) at or before a moment. */
export const midnightBefore = (at: number) => Math.floor(at / DAY) * DAY

/** The midnights that a statement may be cut at: of the days before it, too, of which the first may have to be looked for. */
export function midnightsOf({ from, to }: { from: number; to: number }): number[] {
  const first = Math.max(0, midnightBefore(from) - LONGEST_GAP)
  const count = Math.max(1, Math.ceil((to - first) / DAY))
  return Array.from({ length: count }, (_, i) => first + i * DAY)
}

type Gains = Pick<Figures, 'realised' | 'unrealisedOpening' | 'unrealisedClosing'>

/**
 * Costs are reckoned from the first movement of all, so that what a period says of its opening is what the one before said
 * of its closing. Within a block what came is taken to have come before what went.
 */
function gainsOf(
  { movements, opening, closing, assetDecimals }: Ledger,
  method: Method,
): { native: Gains; usd: Gains } {
  const lots = new Lots(method)
  const usd = (amount: Maybe, price: number | undefined) => usdUnits(amount, price, assetDecimals)
  const unrealised = (mark: Mark) => ({
    native: minus(mark.value, lots.cost),
    usd: minus(usd(mark.value, mark.price), lots.costUsd),
  })
  let start: { native: Maybe; usd: Maybe } | undefined
  let realised: { native: Maybe; usd: Maybe } = { native: 0n, usd: 0n }
  const dispose = (shares: bigint, proceeds: Maybe, price: number | undefined) => {
    if (shares === 0n && proceeds === 0n) return
    const { cost, costUsd } = lots.take(shares)
    realised = {
      native: sum(realised.native, minus(proceeds, cost)),
      usd: sum(realised.usd, minus(usd(proceeds, price), costUsd)),
    }
  }
  for (const movement of movements) {
    const { at, minted, burned, deposited, withdrawn, sent, sentWorth, price } = movement
    if (at > closing.at) break
    if (!start && at > opening.at) {
      start = unrealised(opening)
      realised = { native: 0n, usd: 0n }
    }
    lots.add(minted, deposited, usd(deposited, price))
    if (sent > 0n) lots.add(sent, sentWorth, usd(sentWorth, price))
    dispose(burned, withdrawn, price)
    if (sent < 0n) dispose(-sent, minus(0n, sentWorth), price)
  }
  if (!start) {
    start = unrealised(opening)
    realised = { native: 0n, usd: 0n }
  }
  const end = unrealised(closing)
  const of = (which: 'native' | 'usd') => ({
    realised: realised[which],
    unrealisedOpening: start[which],
    unrealisedClosing: end[which],
  })
  return { native: of('native'), usd: of('usd') }
}

/** Figure by figure; of one that is not known of all the sum is not known. */
export function totalOf(figures: readonly Figures[]): Figures {
  const total = (name: keyof Figures) => sum(...figures.map(of => of[name]))
  return {
    opening: total('opening'),
    deposits: total('deposits'),
    withdrawals: total('withdrawals'),
    transfersIn: total('transfersIn'),
    transfersOut: total('transfersOut'),
    gain: total('gain'),
    yield: total('yield'),
    priceEffect: total('priceEffect'),
    closing: total('closing'),
    realised: total('realised'),
    unrealisedOpening: total('unrealisedOpening'),
    unrealisedClosing: total('unrealisedClosing'),
  }
}
