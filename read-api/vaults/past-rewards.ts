import { DAY } from '../../db/units.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { FoundVault } from '../catalogue/find-vault.ts'
import { NO_REWARD, rewardSum, rewardsOf, streamsOf } from '../catalogue/rewards.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { Window } from '../catalogue/vault-state.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { theseRewardStreams } from '../rewards/queries.ts'
import { pricesAt } from './price-history.ts'

/** The longest window of an APY, seconds. */
const LONGEST = 30 * DAY

type RewardRates = Readonly<Record<Window, number>>

/** Whether rewards were ever paid to a vault's holders, as far as is known. */
export function everPaid({ state }: Vault, { facts }: Catalogue): boolean {
  return state.streams !== undefined || facts.rewardsAt(state.chainId, state.address, 0) !== undefined
}

/**
 * What a vault's rewards yielded at moments of the past (ascending), as its APY said then: of the streams that flowed, at
 * the price of the token and the TVL of the moment. What has no price counts for nothing, as it does now.
 */
export async function pastRewards(
  { vault, pinned }: Pick<FoundVault, 'vault' | 'pinned'>,
  moments: readonly { at: number; tvlUsd: number | undefined }[],
  context: Pick<EndpointContext, 'deps' | 'catalogue' | 'signal' | 'touch'>,
): Promise<readonly RewardRates[]> {
  const { facts } = context.catalogue
  const [first] = moments
  if (!first || !everPaid(vault, context.catalogue)) return moments.map(() => NO_REWARD)
  const { chainId, address } = vault.state
  const asked = { ...pinned, vaults: [address], since: Math.max(0, first.at - LONGEST) }
  const [row] = vault.state.streams
    ? await ask(context.deps.clickhouse, theseRewardStreams, asked, context.signal)
    : []
  const own = row ? streamsOf(row) : []
  const streams = moments.map(({ at }) =>
    [...(facts.rewardsAt(chainId, address, at) ?? []), ...own].filter(
      ({ startDate, endDate }) => startDate <= at && endDate > at - LONGEST,
    ),
  )
  const times = moments.map(({ at }) => at)
  const tokens = new Set(streams.flatMap(of => of.map(({ asset }) => asset.address)))
  const prices = new Map(
    await Promise.all(
      [...tokens].map(
        async token => [token, await pricesAt({ chainId, address: token }, times, context)] as const,
      ),
    ),
  )
  return moments.map(({ at, tvlUsd }, i) => {
    const priced = (streams[i] ?? []).map(fact => ({
      fact,
      asset: undefined,
      price: prices.get(fact.asset.address)?.[i],
    }))
    return rewardSum(rewardsOf(priced, tvlUsd, at).known)
  })
}
