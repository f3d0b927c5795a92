import { groupBy } from '../../db/group-by.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { pricesAt } from '../vaults/price-history.ts'
import type { Place } from './places.ts'
import type { Period } from './shares.ts'
import { ROW_LIMIT, refuseTooMany } from './stake.ts'
import { sum, usdUnits } from './statement.ts'
import { type RewardRow, rewardsIn } from './statement-queries.ts'

export interface PaidReward {
  chainId: number
  token: string
  source: string
  amount: bigint
  /** Units of USD_DIGITS; undefined where a price is not known of the moment of any of them. */
  usd: bigint | undefined
}

/** What distributors paid the wallets in a period, by token and source. */
export async function readRewards(
  { places, from, to }: Period & { places: readonly Place[] },
  context: EndpointContext,
): Promise<PaidReward[]> {
  const { deps, catalogue, signal } = context
  const found = await Promise.all(
    places
      .filter(place => place.has('rewards'))
      .map(async place => {
        const { chain } = place
        const p = catalogue.chain(chain)?.position ?? 0
        const asked = { chain, p, accounts: place.accountsIn('rewards'), from, to, limit: ROW_LIMIT }
        const rows = await ask(deps.clickhouse, rewardsIn, asked, signal)
        refuseTooMany(rows.length)
        const paid = groupBy(rows, ({ token, source }) => `${token} ${source}`)
        return Promise.all([...paid.values()].map(of => rewardOf(chain, of, context)))
      }),
  )
  return found.flat(2)
}

/** Of one token and source. */
async function rewardOf(
  chainId: number,
  paid: readonly RewardRow[],
  context: EndpointContext,
): Promise<PaidReward[]> {
  const [first] = paid
  if (!first) return []
  const { token, source } = first
  const asset = context.catalogue.asset(chainId, token)
  const times = paid.map(({ at }) => at)
  const prices = asset && (await pricesAt(asset, times, context))
  const amounts = paid.map(({ amount }) => BigInt(amount))
  return [
    {
      chainId,
      token,
      source,
      amount: amounts.reduce((all, amount) => all + amount, 0n),
      usd: sum(...amounts.map((amount, i) => asset && usdUnits(amount, prices?.[i], asset.decimals))),
    },
  ]
}
