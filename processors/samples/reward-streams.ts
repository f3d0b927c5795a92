import { functions as token } from '../../abi/erc4626/Vault.ts'
import { functions as staking } from '../../abi/staking/StakingRewards.ts'
import { encodeCall } from '../../abi/words.ts'
import type { EventData } from '../../db/events/vocabulary.ts'
import type { StateRead } from '../protocol.ts'
import { asAddress, asDecimals, asSymbol, asText, asWord, answered as read } from './answers.ts'

/** Unix seconds of the year 2106: what fits the read model, and no stream lasts longer. */
export const FAR = 2n ** 32n - 1n

/**
 * How a vault that pays rewards out itself does so at the end of a block: token, rate and end, as StakingRewards of
 * Synthetix (rewardsToken) and BaseRewardPool of Convex and Aura (rewardToken) state them. A vault that emits RewardAdded
 * and does not state these gives nothing.
 */
export function readRewardStream(vault: string): StateRead {
  const asked = [staking.rewardRate, staking.periodFinish, staking.rewardsToken, staking.rewardToken]
  const streamOf = ([rate, finish, rewardsToken, rewardToken]: readonly (string | undefined)[]) => {
    const ratePerSecond = read(rate, asWord)
    const end = read(finish, asWord)
    const reward = read(rewardsToken, asAddress) ?? read(rewardToken, asAddress)
    if (ratePerSecond === undefined || end === undefined || end > FAR || reward === undefined)
      return undefined
    return describeStream({ vault, reward, ratePerSecond, endsAt: Number(end) })
  }
  return {
    key: `reward stream of ${vault}`,
    calls: asked.map(fn => ({ to: vault, data: encodeCall(fn) })),
    follow: answers => streamOf(answers)?.calls ?? [],
    events: answers => streamOf(answers)?.events(answers.slice(asked.length)) ?? [],
  }
}

/** What a reward's token says of itself. */
export const TOKEN = [token.name, token.symbol, token.decimals]

/** A stream with what its token says of itself: RewardStreamSampled. A token without decimals gives nothing. */
export function describeStream({ vault, ...stream }: EventData<'RewardStreamConfigured'>): StateRead {
  const { reward } = stream
  return {
    key: `reward stream ${vault} ${reward}`,
    calls: TOKEN.map(fn => ({ to: reward, data: encodeCall(fn) })),
    events: ([name, symbol, answer]) => {
      const decimals = read(answer, asDecimals)
      if (decimals === undefined) return []
      return [
        {
          type: 'RewardStreamSampled',
          contract: vault,
          data: { vault, ...stream, name: asText(name), symbol: asSymbol(symbol), decimals },
        },
      ]
    },
  }
}
