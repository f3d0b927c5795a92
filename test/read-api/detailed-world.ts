import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'

/** Six vaults of one dollar on one chain of a few days, each sound or corrupted in its own way. */

export const HOUR = 3_600
export const DAY = 86_400
export const START = 1_735_689_600
export const address = (byte: string) => `0x${byte.repeat(20)}`
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
export const USD = address('01')
export const REWARD = address('0a')
export const FEED = address('f1')
export const ALICE = address('a1')
export const FULL = address('1d')
export const OUTER = address('2d')
export const JUMPY = address('3d')
export const HOLLOW = address('4d')
export const STALE = address('5d')
export const MUTE = address('6d')
export const VAULTS = [FULL, OUTER, JUMPY, HOLLOW, STALE, MUTE]
export const E6 = 1_000_000n
export const E18 = 10n ** 18n
export const SUPPLY = 2_000_000n * E18

let logs = 0

export const discovered = (vault: string): DomainEvent => ({
  type: 'VaultDiscovered',
  contract: vault,
  data: {
    vault,
    protocol: 'acme',
    name: `Vault ${vault.slice(2, 4)}`,
    symbol: 'V',
    decimals: 18,
    asset: vault === OUTER ? FULL : USD,
    assetName: 'Dollar',
    assetSymbol: vault === OUTER ? 'V' : 'USDC',
    assetDecimals: vault === OUTER ? 18 : 6,
    deployedBlock: 1,
    // One is older than what is stored of its chain.
    deployedAt: vault === HOLLOW ? START - DAY : START,
  },
})

const sampled = (vault: string, price: bigint, more: { totalAssets?: bigint } = {}): DomainEvent => {
  const totalAssets = 'totalAssets' in more ? more.totalAssets : (SUPPLY * price) / E18
  return {
    type: 'StateSampled',
    contract: vault,
    data: {
      vault,
      reason: 'hourly',
      ...(totalAssets === undefined ? {} : { totalAssets }),
      totalSupply: SUPPLY,
      sharePrice: price,
      decimals: 18,
      assetDecimals: vault === OUTER ? 18 : 6,
    },
  }
}

/** What every vault's state is at an hour since the start. */
export function samplesAt(hour: number): DomainEvent[] {
  const samples = [sampled(FULL, E6), sampled(OUTER, E18)]
  samples.push(sampled(JUMPY, hour < 50 ? E6 : 11n * E6))
  samples.push(sampled(HOLLOW, E6, hour < 50 ? {} : { totalAssets: 0n }))
  if (hour < 30) samples.push(sampled(STALE, E6))
  samples.push(sampled(MUTE, E6, hour < 50 ? {} : { totalAssets: undefined }))
  return samples
}

export const log = (event: Omit<DomainEvent, 'contract'>): DomainEvent =>
  ({ ...event, contract: FULL, transactionHash: word(++logs), logIndex: logs }) as DomainEvent

/** Events of the vault itself, by hour. */
export const OWN: Record<number, DomainEvent[]> = {
  1: [
    log({ type: 'FeeChanged', data: { kind: 'performance', feeWad: 10n ** 17n } } as DomainEvent),
    log({ type: 'CapChanged', data: { kind: 'deposit', cap: 5_000_000n * E6 } } as DomainEvent),
    log({ type: 'CapChanged', data: { kind: 'supply', cap: 1n, market: 'one' } } as DomainEvent),
    log({
      type: 'ShareTransferred',
      data: { from: address('00'), to: ALICE, shares: SUPPLY },
    } as DomainEvent),
    {
      type: 'RewardStreamSampled',
      contract: STALE,
      data: {
        vault: STALE,
        reward: REWARD,
        name: 'Reward',
        symbol: 'RWD',
        decimals: 18,
        ratePerSecond: E18 / 100n,
        endsAt: START + 25 * HOUR,
      },
    },
  ],
  24: [
    log({ type: 'Paused', data: { account: ALICE } } as DomainEvent),
    { ...log({ type: 'Paused', data: { account: ALICE } } as DomainEvent), contract: HOLLOW },
  ],
  48: [log({ type: 'Unpaused', data: { account: ALICE } } as DomainEvent)],
  60: [log({ type: 'FeeChanged', data: { kind: 'performance', feeWad: 5n * 10n ** 16n } } as DomainEvent)],
}

export function blockAt(hour: number, events: DomainEvent[]): BlockEvents {
  return { block: { number: hour + 1, hash: word(hour + 1), timestamp: START + hour * HOUR }, events }
}
