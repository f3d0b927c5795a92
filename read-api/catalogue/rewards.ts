import { groupBy } from '../../db/group-by.ts'
import { DAY, HOUR, YEAR } from '../../db/units.ts'
import { toWhole } from '../http/amounts.ts'
import type { RewardStreamRow } from '../rewards/queries.ts'
import type { AssetWire } from './assets.ts'
import type { RewardStream, Window } from './vault-state.ts'

const SECONDS: Readonly<Record<Window, number>> = {
  '1hour': HOUR,
  '1day': DAY,
  '7day': 604_800,
  '30day': 2_592_000,
}

/** A stream of rewards with the token as the wire shows it and its price. */
export interface PricedReward<A = AssetWire> {
  fact: RewardStream
  asset: A
  price: number | undefined
}

export interface RewardApy<A = AssetWire> {
  asset: A
  apy: Record<Window, number>
}

export const NO_REWARD: Readonly<Record<Window, number>> = { '1hour': 0, '1day': 0, '7day': 0, '30day': 0 }

/** What all tokens together yield. */
export function rewardSum(rewards: readonly RewardApy<unknown>[]): Readonly<Record<Window, number>> {
  if (rewards.length === 0) return NO_REWARD
  const over = (window: Window) => rewards.reduce((sum, { apy }) => sum + apy[window], 0)
  return { '1hour': over('1hour'), '1day': over('1day'), '7day': over('7day'), '30day': over('30day') }
}

/** What the events of a vault's chain say is paid out, as a curated fact would say it. */
export function streamsOf({ streams }: RewardStreamRow): RewardStream[] {
  return streams.map(({ reward, name, symbol, decimals, amount, from, until, is_anybodys: isAnybodys }) => ({
    isAnybodys,
    asset: { address: reward, name, symbol, decimals },
    amount,
    startDate: from,
    endDate: until,
  }))
}

/**
 * Yield of a stream over a window that ends at `now`: what it paid out in the window, in USD, per USD in the vault and
 * year; not compounded, since rewards are not reinvested by the vault. Undefined where a price or the TVL is unknown.
 */
export function rewardApy(
  { fact, price }: Pick<PricedReward, 'fact' | 'price'>,
  tvlUsd: number | undefined,
  now: number,
): Record<Window, number> | undefined {
  if (price === undefined || tvlUsd === undefined || !(tvlUsd > 0)) return undefined
  const usdPerSecond =
    (toWhole(BigInt(fact.amount), fact.asset.decimals) * price) / (fact.endDate - fact.startDate)
  const over = (seconds: number) => {
    const paid = Math.max(0, Math.min(now, fact.endDate) - Math.max(now - seconds, fact.startDate))
    return ((usdPerSecond * paid) / seconds / tvlUsd) * YEAR
  }
  return {
    '1hour': over(SECONDS['1hour']),
    '1day': over(SECONDS['1day']),
    '7day': over(SECONDS['7day']),
    '30day': over(SECONDS['30day']),
  }
}

/** Per year. */
const NOTHING = 1e-6

/** What anybody may have registered in a token without a price, or next to nothing of one, says nothing of a vault. */
function isNoise(stream: PricedReward<unknown>, tvlUsd: number | undefined, now: number): boolean {
  if (!stream.fact.isAnybodys) return false
  if (stream.price === undefined) return true
  const apy = rewardApy(stream, tvlUsd, now)
  return apy !== undefined && Object.values(apy).every(of => of < NOTHING)
}

/**
 * The tokens that are paid out at `now`, with what they yield; `unknown` are those whose yield cannot be said. A window
 * counts all that was paid of a token in it, also by streams that have ended: they are renewed every few days.
 */
export function rewardsOf<A>(
  rewards: readonly PricedReward<A>[],
  tvlUsd: number | undefined,
  now: number,
): { known: RewardApy<A>[]; unknown: string[] } {
  const byToken = groupBy(rewards, ({ fact }) => fact.asset.address)
  const known: RewardApy<A>[] = []
  const unknown: string[] = []
  for (const all of byToken.values()) {
    const streams = all.filter(stream => !isNoise(stream, tvlUsd, now))
    const [first] = streams
    const isPaid = streams.some(({ fact }) => fact.startDate <= now && now < fact.endDate)
    if (!first || !isPaid) continue
    const apys = streams.map(stream => rewardApy(stream, tvlUsd, now))
    if (apys.some(apy => apy === undefined)) unknown.push(first.fact.asset.symbol)
    else {
      const over = (window: Window) => apys.reduce((sum, apy) => sum + (apy?.[window] ?? 0), 0)
      known.push({
        asset: first.asset,
        apy: { '1hour': over('1hour'), '1day': over('1day'), '7day': over('7day'), '30day': over('30day') },
      })
    }
  }
  return { known, unknown }
}
