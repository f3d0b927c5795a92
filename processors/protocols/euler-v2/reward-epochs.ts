import { functions as epochs } from '../../../abi/euler/TrackingRewardStreams.ts'
import { encodeCall } from '../../../abi/words.ts'
import type { DomainEvent, EventData } from '../../../db/events/vocabulary.ts'
import type { StateRead } from '../../protocol.ts'
import { asDecimals, asSymbol, asText, asWord, answered as read } from '../../samples/answers.ts'
import { FAR, TOKEN } from '../../samples/reward-streams.ts'

/** An epoch that a distributor was given rewards for, with its times as the distributor says them: RewardPeriodFunded. */
export function describeEpoch(
  { contract: distributor, logIndex }: DomainEvent,
  { vault, reward, epoch, amount }: EventData<'RewardEpochRegistered'>,
): StateRead {
  return {
    // Registrations add up: each is one of its own.
    key: `reward epoch ${distributor} ${logIndex} ${epoch}`,
    calls: [
      { to: distributor, data: encodeCall(epochs.getEpochStartTimestamp, BigInt(epoch)) },
      { to: distributor, data: encodeCall(epochs.EPOCH_DURATION) },
      ...TOKEN.map(fn => ({ to: reward, data: encodeCall(fn) })),
    ],
    events: ([start, duration, name, symbol, answer]) => {
      const startsAt = read(start, asWord)
      const seconds = read(duration, asWord)
      const decimals = read(answer, asDecimals)
      if (startsAt === undefined || seconds === undefined || decimals === undefined) return []
      if (startsAt + seconds > FAR) return []
      const token = { name: asText(name), symbol: asSymbol(symbol), decimals }
      const times = { startsAt: Number(startsAt), endsAt: Number(startsAt + seconds) }
      const data = { vault, reward, ...token, amount, ...times }
      return [{ type: 'RewardPeriodFunded', contract: vault, data }]
    },
  }
}
