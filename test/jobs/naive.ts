import { movementOf, type Positioned } from './streams.ts'

/**
 * Second computations of the read models, in plain loops over the canonical events of one chain in order of position:
 * what the SQL is held against. Rows as JSON gives them, wide integers as decimal strings.
 */
export type Row = Record<string, unknown>

const HOUR = 3600
const DAY = 86_400
const YEAR = 31_536_000

export const sqlTime = (seconds: number) =>
  new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
const sqlDay = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10)

function base(entry: Positioned): Row {
  return {
    position: entry.position,
    block_number: entry.block.number,
    timestamp: sqlTime(entry.block.timestamp),
  }
}

export function naiveBalances(events: readonly Positioned[]): {
  balance: Row[]
  holder: Map<string, string>
  position_change: Row[]
} {
  const held = new Map<string, bigint>()
  const balance: Row[] = []
  const position_change: Row[] = []
  for (const entry of events) {
    for (const [holder, delta] of movementOf(entry.event)) {
      const vault = entry.event.contract
      const before = held.get(`${vault} ${holder}`) ?? 0n
      const after = before + delta
      held.set(`${vault} ${holder}`, after)
      balance.push({ ...base(entry), vault, holder, delta: `${delta}`, balance: `${after}` })
      if (before > 0n !== after > 0n)
        position_change.push({
          ...base(entry),
          vault,
          account: holder,
          kind: after > 0n ? 'opened' : 'closed',
        })
    }
  }
  return { balance, holder: new Map([...held].map(([key, value]) => [key, `${value}`])), position_change }
}

export function naiveFlows(events: readonly Positioned[]): {
  flow: Row[]
  daily_flow: Row[]
  attributed_flow: Row[]
} {
  const flow: Row[] = []
  const attributed_flow: Row[] = []
  const daily_flow: Row[] = []
  const days = new Map<
    string,
    { deposits: bigint; redemptions: bigint; counts: [number, number]; who: [Set<string>, Set<string>] }
  >()
  for (const entry of events) {
    const { event, block } = entry
    if (event.type !== 'Deposited' && event.type !== 'Redeemed') continue
    const kind = event.type === 'Deposited' ? 'deposit' : 'redeem'
    const { owner: account, assets, shares, sender } = event.data
    const vault = event.contract
    flow.push({
      ...base(entry),
      vault,
      account,
      kind,
      assets: `${assets}`,
      shares: `${shares}`,
      sender,
      tx_hash: event.transactionHash,
      log_index: event.logIndex,
    })
    const [code, own] = (event.data.codes ?? []).slice(-3).filter(code => code !== 'wallet' && code !== 'app')
    if (own === 'vaultlog')
      attributed_flow.push({
        ...base(entry),
        code,
        day: sqlDay(block.timestamp),
        vault,
        account,
        kind,
        assets: `${assets}`,
        shares: `${shares}`,
        tx_hash: event.transactionHash,
        log_index: event.logIndex,
      })
    const key = `${vault} ${sqlDay(block.timestamp)}`
    const day = days.get(key) ?? {
      deposits: 0n,
      redemptions: 0n,
      counts: [0, 0],
      who: [new Set(), new Set()],
    }
    days.set(key, day)
    const side = kind === 'deposit' ? 0 : 1
    if (side === 0) day.deposits += assets
    else day.redemptions += assets
    day.counts[side]++
    day.who[side].add(account)
    daily_flow.push({
      ...base(entry),
      vault,
      day: sqlDay(block.timestamp),
      account,
      kind,
      total_deposits: `${day.deposits}`,
      total_redemptions: `${day.redemptions}`,
      deposit_count: day.counts[0],
      redemption_count: day.counts[1],
      unique_depositors: day.who[0].size,
      unique_redeemers: day.who[1].size,
    })
  }
  return { flow, daily_flow, attributed_flow }
}

export function naiveClaims(events: readonly Positioned[]): Row[] {
  return events.flatMap(entry => {
    const { event } = entry
    if (event.type !== 'RewardClaimed') return []
    const { account, token, source, receiver = null, amount } = event.data
    return [
      {
        ...base(entry),
        account,
        token,
        source,
        distributor: event.contract,
        receiver,
        amount: `${amount}`,
        tx_hash: event.transactionHash,
        log_index: event.logIndex,
      },
    ]
  })
}

export interface Sample {
  entry: Positioned
  vault: string
  at: number
  /** Undefined where the contract did not answer, and where there are no shares to speak of. */
  price: number | undefined
  /** The contract said what a share is worth. */
  isTold: boolean
  assets: bigint | undefined
  supply: bigint | undefined
}

/** Of less than this many units, one is more than 0.01 %. */
const LITTLE = 10_000n

export function samplesOf(events: readonly Positioned[]): Sample[] {
  return events.flatMap(entry => {
    if (entry.event.type !== 'StateSampled') return []
    const { sharePrice, finePrice, fineDigits, decimals, assetDecimals, ...totals } = entry.event.data
    const { totalAssets: assets, totalSupply: supply } = totals
    const isEmpty =
      supply !== undefined &&
      ((supply < LITTLE && supply < 10n ** BigInt(decimals)) ||
        (assets !== undefined &&
          assets < LITTLE &&
          supply * 10n ** BigInt(assetDecimals) < LITTLE * 10n ** BigInt(decimals)))
    const told =
      finePrice === undefined
        ? Number(sharePrice) / 10 ** assetDecimals
        : Number(finePrice) / 10 ** (assetDecimals + (fineDigits ?? 0))
    const price = sharePrice === undefined || isEmpty ? undefined : told
    const { vault } = entry.event.data
    return [
      { entry, vault, at: entry.block.timestamp, price, isTold: sharePrice !== undefined, assets, supply },
    ]
  })
}

const grows = ({ price, assets }: Sample) =>
  price !== undefined && price > 0 && (assets === undefined || assets >= LITTLE)

/** APY of the window of `window` seconds that ends at `rows[end]`; rows are a vault's told hourly rows in order. */
export function naiveApy(rows: readonly Sample[], end: number, window: number): number | null {
  const last = rows[end]
  if (!last || !grows(last)) return null
  const leeway = Math.max(HOUR / 2, window / 20)
  const away = (row: Sample) => Math.abs(last.at - window - row.at)
  let begin = -1
  for (let i = 0; i < end; i++) {
    const row = rows[i] as Sample
    if (grows(row) && away(row) <= leeway && (begin < 0 || away(row) < away(rows[begin] as Sample))) begin = i
  }
  const first = rows[begin]
  if (first?.price === undefined || last.price === undefined) return null
  const steps = rows.slice(begin + 1, end + 1).map((row, i) => ({ row, before: rows[begin + i] as Sample }))
  const still = steps.every(
    ({ row, before }) =>
      row.supply !== undefined && before.supply !== undefined && row.supply === before.supply,
  )
  if (still) return finite((last.price / first.price) ** (YEAR / (last.at - first.at)) - 1)
  let total = 0
  let weights = 0
  for (const { row, before } of steps) {
    if (!grows(row) || !grows(before) || row.assets === undefined || before.assets === undefined) continue
    const seconds = row.at - before.at
    const weight = Math.min(Number(row.assets), Number(before.assets)) * seconds
    const factor = ((row.price ?? 0) / (before.price ?? 0)) ** (HOUR / seconds)
    total += Math.min(factor, 65_536) * weight
    weights += weight
  }
  return weights === 0 ? null : finite((total / weights) ** (YEAR / HOUR) - 1)
}

const finite = (value: number) => (Number.isFinite(value) ? value : null)

export const WINDOWS = { apy_1h: HOUR, apy_1d: DAY, apy_7d: 7 * DAY, apy_30d: 30 * DAY } as const

export function naiveHourly(events: readonly Positioned[]): Row[] {
  const rows: Row[] = []
  const hours = new Map<string, Set<number>>()
  const days = new Map<string, Set<string>>()
  const told = new Map<string, Sample[]>()
  for (const sample of samplesOf(events)) {
    const { vault, at } = sample
    const seen = hours.get(vault) ?? new Set()
    hours.set(vault, seen)
    const hour = at - (at % HOUR)
    if (seen.has(hour)) continue
    seen.add(hour)
    const opened = days.get(vault) ?? new Set()
    days.set(vault, opened)
    const opens_day = opened.has(sqlDay(at)) ? 0 : 1
    opened.add(sqlDay(at))
    const apys: Row = { apy_1h: null, apy_1d: null, apy_7d: null, apy_30d: null }
    if (sample.isTold) {
      const list = told.get(vault) ?? []
      told.set(vault, list)
      list.push(sample)
      for (const [name, window] of Object.entries(WINDOWS))
        apys[name] = naiveApy(list, list.length - 1, window)
    }
    rows.push({
      ...base(sample.entry),
      vault,
      hour: sqlTime(hour),
      total_assets: sample.assets === undefined ? null : `${sample.assets}`,
      total_supply: sample.supply === undefined ? null : `${sample.supply}`,
      share_price: sample.price ?? null,
      ...apys,
      opens_day,
    })
  }
  return rows
}

/** Largest 1 - P_j / max(P_i, i ≤ j). */
export function naiveDrawdown(prices: readonly number[]): number {
  let peak = 0
  let worst = 0
  for (const price of prices) {
    peak = Math.max(peak, price)
    if (peak > 0) worst = Math.max(worst, 1 - price / peak)
  }
  return worst
}

export function naiveDrawdowns(events: readonly Positioned[]): Row[] {
  const days = new Map<string, number[]>()
  return samplesOf(events).flatMap(({ entry, vault, at, price }) => {
    if (price === undefined) return []
    const key = `${vault} ${sqlDay(at)}`
    const prices = [...(days.get(key) ?? []), price]
    days.set(key, prices)
    return [
      {
        ...base(entry),
        vault,
        day: sqlDay(at),
        max_price: Math.max(...prices),
        min_price: Math.min(...prices),
        max_drawdown: naiveDrawdown(prices),
      },
    ]
  })
}
