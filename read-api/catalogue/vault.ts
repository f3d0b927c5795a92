import type { NetworkId } from '../../db/networks.ts'
import type { Facts, FeesFact, FlagFact, TransactionalFact } from '../../db/registry/kinds.ts'
import { usdOf } from '../http/amounts.ts'
import type { AssetInfo } from './assets.ts'
import { type Corruption, claimCorruptionOf, corruptionOf, staleAfter } from './corruption.ts'
import type { PricedReward, RewardApy } from './rewards.ts'
import { rewardSum, rewardsOf } from './rewards.ts'
import type { Score, SharedPoints } from './score.ts'
import { scoreOf, UNVOUCHED } from './score.ts'
import { activeFlags, capacityOf, feesOf, stretchAround, transactionsOf } from './terms.ts'
import { type Standing, standingOf, type VaultState, type Window } from './vault-state.ts'

export interface ProtocolInfo {
  readonly name: string
  readonly displayName?: string
  readonly protocolId?: string
  readonly product?: string
  readonly version?: string
  readonly protocolUrl?: string
  readonly description?: string
  readonly protocolLogo?: string
}

export interface CuratorInfo {
  readonly name: string
  readonly displayName?: string
  readonly description?: string
  readonly websiteUrl?: string
}

export interface VaultInputs {
  index: number
  /** The chain's time at the moment, unix seconds. */
  now: number
  state: VaultState
  network: NetworkId
  facts: Facts<'vault'>
  asset: AssetInfo
  protocol: ProtocolInfo
  curator: CuratorInfo | undefined
  inner: Vault | undefined
  /** What is seen behind a found vault, in base units of its asset; undefined for others. */
  backing: bigint | undefined
  rewards: readonly PricedReward[]
  /** Transactions can be prepared on its chain. */
  transacts: boolean
  shared: SharedPoints
}

/**
 * A vault at one moment, everything derived. Immutable but for `json`, which remembers what was serialised. A class,
 * so that all have one shape: a list looks at every one of them.
 */
export class Vault {
  readonly index: number
  readonly state: VaultState
  readonly network: NetworkId
  readonly vaultId: string
  readonly standing: Standing
  readonly name: string
  readonly asset: AssetInfo
  readonly protocol: ProtocolInfo
  readonly curator: CuratorInfo | undefined
  readonly facts: Facts<'vault'>
  /** The vault whose share is this one's asset. */
  readonly inner: Vault | undefined
  /** Of a found vault no more than is seen behind it. Base units. */
  readonly totalAssets: bigint | undefined
  readonly tvlUsd: number | undefined
  /** TVL over time at today's price; undefined where there is no price. */
  readonly usdSeconds: number | undefined
  /** From the share price alone. */
  readonly apy: Readonly<Record<Window, number | undefined>>
  readonly reward: Readonly<Record<Window, number>>
  readonly rewards: readonly RewardApy[]
  /** Symbols of rewards whose yield cannot be said. */
  readonly unpricedRewards: readonly string[]
  readonly score: number | undefined
  readonly scoring: Score | undefined
  readonly shared: SharedPoints
  /** In force at the moment. */
  readonly flags: readonly FlagFact[]
  readonly fees: FeesFact | undefined
  readonly capacity: { maxCapacity?: string; remainingCapacity?: string }
  readonly isPaused: boolean
  readonly isTransactional: boolean
  readonly transactions: TransactionalFact | undefined
  readonly isAppFeatured: boolean
  /** The ledger made of its events adds up to its total supply: nothing that moved its shares went by unseen. */
  readonly userEventsIndexed: boolean
  readonly corruption: Corruption | undefined
  readonly isCorrupted: boolean
  readonly hasWarnings: boolean
  /** While the chain's time is in [from, until), nothing of this changes by time alone. */
  readonly holds: { readonly from: number; readonly until: number }
  readonly json: { detailed: string | undefined; listed: string | undefined }

  constructor(inputs: VaultInputs) {
    const { index, now, state, network, facts, asset, protocol, curator, inner, rewards, shared } = inputs
    const claimed = state.sample?.totalAssets
    const { backing } = inputs
    const totalAssets =
      claimed !== undefined && backing !== undefined && backing < claimed ? backing : claimed
    this.index = index
    this.state = state
    this.network = network
    this.vaultId = facts.vaultId ?? state.address
    this.standing = standingOf(state, facts)
    this.name = facts.listed?.name ?? state.name
    this.asset = asset
    this.protocol = protocol
    this.curator = curator
    this.facts = facts
    this.inner = inner
    this.totalAssets = totalAssets
    this.tvlUsd = totalAssets === undefined ? undefined : usdOf(totalAssets, asset.decimals, asset.price)
    // What was claimed over time is cut like what is claimed now.
    const believed = claimed ? Number(totalAssets) / Number(claimed) : 1
    this.usdSeconds =
      asset.price === undefined
        ? undefined
        : ((believed * (state.assetSeconds ?? 0)) / 10 ** asset.decimals) * asset.price
    this.apy = state.apy?.values ?? NO_APY
    const { known, unknown } = rewardsOf(rewards, this.tvlUsd, now)
    this.rewards = known
    this.unpricedRewards = unknown
    this.reward = rewardSum(known)
    this.flags = activeFlags(facts.flags, now)
    this.fees = feesOf(state.settings, facts.fees)
    this.capacity = capacityOf(state.settings, state.sample)
    this.isPaused = state.settings?.paused === '1'
    // Every vault that answers as ERC-4626 has a family of transactions, the general one if no other.
    this.isTransactional =
      facts.transactional !== undefined || (inputs.transacts && state.sample?.sharePriceRaw !== undefined)
    this.transactions = transactionsOf(state, this.standing, facts.transactional)
    this.userEventsIndexed = state.isLedgerWhole ?? true
    this.isAppFeatured = facts.featured ?? false
    this.corruption =
      corruptionOf(state, now, this.standing) ??
      (backing === undefined || this.standing !== 'found'
        ? undefined
        : claimCorruptionOf({ claimed, backing, isLedgerWhole: this.userEventsIndexed }))
    this.isCorrupted = this.corruption !== undefined
    this.hasWarnings = this.flags.some(
      ({ severity, resolution }) => severity !== 'info' && resolution === undefined,
    )
    this.shared = shared
    this.scoring =
      this.tvlUsd === undefined || this.usdSeconds === undefined
        ? undefined
        : scoreOf({
            usdSeconds: this.usdSeconds,
            holders: state.holders?.count ?? 0,
            shared,
            flags: this.standing === 'found' ? [UNVOUCHED, ...this.flags] : this.flags,
            isCorrupted: this.isCorrupted,
          })
    this.score = this.scoring?.vaultScore
    this.holds = stretchAround(
      [
        ...(facts.flags ?? []).flatMap(({ startDate, endDate }) => [startDate ?? 0, endDate ?? 0]),
        ...rewards.flatMap(({ fact: { startDate, endDate } }) => [startDate, endDate]),
        ...(state.sample ? [state.sample.at + staleAfter(this.standing) + 1] : []),
      ],
      now,
    )
    this.json = { detailed: undefined, listed: undefined }
  }

  /** What holders earn: share price and rewards. Undefined where the share price says nothing. */
  totalApy(window: Window): number | undefined {
    const base = this.apy[window]
    return base === undefined ? undefined : base + this.reward[window]
  }

  get totalApys(): Record<Window, number | undefined> {
    const of = (window: Window) => this.totalApy(window)
    return { '1hour': of('1hour'), '1day': of('1day'), '7day': of('7day'), '30day': of('30day') }
  }
}

const NO_APY = { '1hour': undefined, '1day': undefined, '7day': undefined, '30day': undefined }
