import { z } from 'zod'
import { PROTOCOLS, type ProtocolSlug } from '../protocols.ts'
import { ammVocabulary } from './amm-vocabulary.ts'
import { bridgeVocabulary } from './bridge-vocabulary.ts'
import { fixedTermVocabulary } from './fixed-term-vocabulary.ts'
import { lendingVocabulary } from './lending-vocabulary.ts'
import { address, bytes32, count, int, text, uint, unixSeconds } from './shapes.ts'
import { svmVocabulary } from './svm-vocabulary.ts'

/**
 * The vocabulary of the event store: every fact that a projection may use, in the past tense.
 *
 * Shapes are those in memory: addresses (20 bytes, or 32 in a stream of kind svm) and hashes are lower-case `0x` hex,
 * on-chain integers are bigint
 * (base units of the token they count), times are unix seconds. `event-json.ts` says how they are stored.
 * A field that the chain did not answer is absent, never zero (invariant 7).
 */

const protocolSlug = z.enum(Object.keys(PROTOCOLS) as ProtocolSlug[])

/** Which log moves the shares of a deposit or redemption: its own ERC-20 Transfer, or (sDAI) none but itself. */
const ledger = z.enum(['transfer', 'self'])

/**
 * Codes of the ERC-8021 suffix of the transaction's input, in their order. On what the transaction was made for, not on
 * what that entailed (a vault's own deposit into another); absent where there is no suffix.
 */
const codes = z.array(text).optional()

/** The index, read at the end of the block, by which the worth that a Comet's log tells was made shares. */
const supplyIndex = uint.optional()

/** Of an aToken: the index at which its log was made. Its shares are scaled units. */
const indexRay = uint.optional()

/**
 * What the scaled balance of the account changed by, in pools of v3.5 and later: it follows from the log and the scaled
 * balance at the end of the block. Absent before, where the log alone tells, and where the balance could not be read.
 */
const scaledChange = int.optional()

/** Of a Comet: what the principal that came or went was worth, as the Transfer beside the log tells; absent without one. */
const lent = uint.optional()

export const vocabulary = {
  // ---- the chain itself
  /** Appended when a stored block turns out not to be canonical: its events are positions from..to of this stream. */
  BlockRetracted: z.object({
    blockNumber: count,
    blockHash: bytes32,
    fromPosition: count,
    toPosition: count,
  }),

  // ---- vaults (ERC-4626 and kin); `contract` is the vault
  VaultCreated: z.object({
    vault: address,
    factory: address,
    /** Slug of what its factory makes. */
    protocol: text,
    asset: address.optional(),
    /** Whom the vault asks for prices, where it lends. */
    oracle: address.optional(),
  }),
  VaultDiscovered: z.object({
    vault: address,
    /** Slug of what it is: of the factory that made it, else of the module that took it for a vault. */
    protocol: text,
    name: text,
    symbol: text,
    decimals: count,
    asset: address,
    assetName: text,
    assetSymbol: text,
    assetDecimals: count,
    deployedBlock: count.optional(),
    deployedAt: unixSeconds.optional(),
    /**
     * The vault is a lending position whose balances grow: an aToken of this Aave v3 pool, with what it calls scaled
     * units for shares, or a Comet, which is its own pool, with principal.
     */
    pool: address.optional(),
    /** The vault pays rewards itself, in this token, and its logs do not say so. */
    rewardToken: address.optional(),
    /**
     * Deposits, or redemptions, are requested and claimed (ERC-7540): their shares move by transfers of other
     * transactions than the claim.
     */
    asyncDeposits: z.literal(true).optional(),
    asyncRedemptions: z.literal(true).optional(),
    /** Redemptions wait for a cooldown that has been switched on, or may be. Absent: nobody asked. */
    hasCooldown: z.boolean().optional(),
  }),
  /** The contract emitted a vault's events but does not answer as one; its logs are left alone from here on. */
  VaultRejected: z.object({ vault: address, reason: text }),
  Deposited: z.object({
    sender: address,
    owner: address,
    assets: uint,
    shares: uint,
    ledger,
    supplyIndex,
    indexRay,
    codes,
  }),
  Redeemed: z.object({
    sender: address,
    /** Absent where the log does not say. */
    receiver: address.optional(),
    owner: address,
    assets: uint,
    shares: uint,
    ledger,
    supplyIndex,
    indexRay,
    codes,
  }),
  /** assets: where an aToken's log says what the shares are worth and not how many they are. */
  ShareTransferred: z.object({
    from: address,
    to: address,
    shares: uint,
    assets: uint.optional(),
    supplyIndex,
    indexRay,
  }),
  /**
   * Contract state read at the end of the block. sharePrice is convertToAssets(10^decimals), in asset base units; finePrice
   * that of 10^(decimals + fineDigits), absent where the contract says nothing finer of so much.
   * maxDeposit: for an account that holds nothing. idleAssets: what the vault itself holds of its asset. borrowedAssets:
   * what it has lent out, where it says so (totalBorrows).
   */
  StateSampled: z.object({
    vault: address,
    reason: z.enum(['hourly', 'activity', 'discovery']),
    totalAssets: uint.optional(),
    totalSupply: uint.optional(),
    sharePrice: uint.optional(),
    finePrice: uint.optional(),
    fineDigits: count.optional(),
    maxDeposit: uint.optional(),
    idleAssets: uint.optional(),
    borrowedAssets: uint.optional(),
    decimals: count,
    assetDecimals: count,
  }),
  /**
   * Nobody held a share of the vault, it did not say what its shares were, or it used up what calls may cost: from here on it is
   * sampled less and less often. `isDear`: it used up what calls may cost, and what happens in it is no reason to ask it either.
   */
  SamplingSlowed: z.object({ vault: address, isDear: z.literal(true).optional() }),
  /** It is not so any more: it is sampled hourly. */
  SamplingResumed: z.object({ vault: address }),
  /** A vault was given rewards to pay out; what it makes of them is in RewardStreamSampled of the same block. */
  RewardAdded: z.object({ amount: uint }),
  /** A distributor pays base units of `reward` per second to the holders of `vault` together from now until `endsAt`. */
  RewardStreamConfigured: z.object({
    vault: address,
    reward: address,
    ratePerSecond: uint,
    endsAt: unixSeconds,
  }),
  /**
   * Base units of `reward` per second go to the holders of `vault` together: as the vault states it at the end of the
   * block, or as a distributor was told in it; with what the token says of itself.
   */
  RewardStreamSampled: z.object({
    vault: address,
    reward: address,
    name: text,
    symbol: text,
    decimals: count,
    ratePerSecond: uint,
    endsAt: unixSeconds,
  }),
  /** A distributor was given an amount of `reward` for the holders of `vault` in one of its epochs. */
  RewardEpochRegistered: z.object({ vault: address, reward: address, epoch: count, amount: uint }),
  /** The same with the times of the epoch and what the token says of itself. Added to what was there before. */
  RewardPeriodFunded: z.object({
    vault: address,
    reward: address,
    name: text,
    symbol: text,
    decimals: count,
    amount: uint,
    startsAt: unixSeconds,
    endsAt: unixSeconds,
  }),
  DepositRequested: z.object({
    requestId: uint,
    controller: address,
    owner: address,
    sender: address,
    assets: uint,
  }),
  RedeemRequested: z.object({
    requestId: uint,
    controller: address,
    owner: address,
    sender: address,
    shares: uint,
  }),
  RequestClaimed: z.object({
    requestId: uint,
    controller: address,
    receiver: address,
    assets: uint,
    shares: uint,
  }),
  FeeChanged: z.object({
    kind: z.enum([
      'performance',
      'management',
      'deposit',
      'withdrawal',
      'reserve',
      'protocol',
      'flashloan',
      'liquidation',
      'liquidationDiscount',
    ]),
    /** Fraction scaled by 1e18. Absent when the log names the change but not the value. */
    feeWad: uint.optional(),
    market: text.optional(),
  }),
  /** supply: of one market. allocation: bounds of a vault that overlap each other, so that their sum says nothing. */
  CapChanged: z.object({
    kind: z.enum(['supply', 'borrow', 'deposit', 'allocation', 'debtCeiling']),
    cap: uint,
    /** Decimals of `cap` where it does not count base units: 0 for whole tokens (Aave), 2 for cents (debt ceiling). */
    capDecimals: count.optional(),
    market: text.optional(),
    asset: address.optional(),
  }),
  Paused: z.object({ account: address.optional(), scope: text.optional() }),
  Unpaused: z.object({ account: address.optional(), scope: text.optional() }),

  // ---- rewards; `contract` is the distributor, or the vault that pays them itself
  /** What a distributor paid out: `amount` base units of `token`, which may be none (Merkl logs a repeated claim as 0). */
  RewardClaimed: z.object({
    source: protocolSlug,
    account: address,
    /** Who was paid, where the log says so. */
    receiver: address.optional(),
    token: address,
    amount: uint,
    codes,
  }),

  // ---- prices; `contract` is the feed
  /** answer is the price of one whole unit in the quote currency, scaled by 10^decimals. */
  PriceReported: z.object({
    source: text,
    feed: address,
    answer: int,
    decimals: count,
    roundId: uint.optional(),
    reportedAt: unixSeconds,
  }),

  // ---- lending; `market` is the market's id within its protocol (Morpho: bytes32; Aave: the reserve's address)
  MarketCreated: z.object({
    market: text,
    loanAsset: address,
    collateralAsset: address.optional(),
    oracle: address.optional(),
    irm: address.optional(),
    lltvWad: uint.optional(),
  }),
  ReserveListed: z.object({
    market: text,
    asset: address,
    aToken: address,
    stableDebtToken: address.optional(),
    variableDebtToken: address,
    rateStrategy: address.optional(),
  }),
  /** The supply token (`contract`) of a reserve came to be: which pool it belongs to; decimals are the asset's too. */
  ReserveTokenInitialized: z.object({ market: text, pool: address, decimals: count, symbol: text }),
  Supplied: z.object({
    market: text,
    sender: address,
    onBehalf: address,
    assets: uint,
    shares: uint.optional(),
    lent,
  }),
  Withdrawn: z.object({
    market: text,
    sender: address,
    onBehalf: address,
    receiver: address,
    assets: uint,
    shares: uint.optional(),
    lent,
  }),
  /** asset: where a market takes more than one kind of collateral (Compound v3). */
  CollateralSupplied: z.object({
    market: text,
    sender: address,
    onBehalf: address,
    asset: address.optional(),
    assets: uint,
  }),
  CollateralWithdrawn: z.object({
    market: text,
    sender: address,
    onBehalf: address,
    receiver: address,
    asset: address.optional(),
    assets: uint,
  }),
  CollateralTransferred: z.object({ market: text, from: address, to: address, asset: address, assets: uint }),
  CollateralEnabled: z.object({ market: text, user: address }),
  CollateralDisabled: z.object({ market: text, user: address }),
  Borrowed: z.object({
    market: text,
    sender: address,
    onBehalf: address,
    receiver: address.optional(),
    assets: uint,
    shares: uint.optional(),
    rateMode: count.optional(),
    rateRay: uint.optional(),
  }),
  Repaid: z.object({
    market: text,
    sender: address,
    onBehalf: address,
    assets: uint,
    shares: uint.optional(),
    useATokens: z.boolean().optional(),
  }),
  Liquidated: z.object({
    market: text,
    liquidator: address,
    borrower: address,
    repaidAssets: uint,
    repaidShares: uint.optional(),
    seizedAssets: uint,
    collateralMarket: text.optional(),
    badDebtAssets: uint.optional(),
    badDebtShares: uint.optional(),
  }),
  InterestAccrued: z.object({
    market: text,
    interest: uint,
    feeShares: uint.optional(),
    previousBorrowRateWad: uint.optional(),
  }),
  /** Rates per year in ray (1e27), indexes in ray. */
  RateUpdated: z.object({
    market: text,
    liquidityRateRay: uint.optional(),
    stableBorrowRateRay: uint.optional(),
    variableBorrowRateRay: uint.optional(),
    liquidityIndexRay: uint.optional(),
    variableBorrowIndexRay: uint.optional(),
  }),
  /** A scaled-balance token minted (`value` includes balanceIncrease). side: which token of the reserve. */
  ScaledMinted: z.object({
    side: z.enum(['supply', 'variableDebt', 'stableDebt']),
    caller: address,
    onBehalf: address,
    value: uint,
    balanceIncrease: uint,
    indexRay: uint,
    scaledChange,
  }),
  ScaledBurned: z.object({
    side: z.enum(['supply', 'variableDebt', 'stableDebt']),
    from: address,
    target: address.optional(),
    value: uint,
    balanceIncrease: uint,
    indexRay: uint,
    scaledChange,
  }),
  /** Aave's BalanceTransfer: scaledValue is in scaled units. */
  ScaledTransferred: z.object({ from: address, to: address, scaledValue: uint, indexRay: uint }),
  RiskParametersChanged: z.object({
    market: text,
    ltvBps: uint.optional(),
    liquidationThresholdBps: uint.optional(),
    liquidationBonusBps: uint.optional(),
    eModeCategory: count.optional(),
    label: text.optional(),
    oracle: address.optional(),
  }),
  EModeChanged: z.object({ user: address, category: count }),
  ReserveFlagChanged: z.object({ market: text, flag: text, enabled: z.boolean() }),
  OracleChanged: z.object({ market: text.optional(), oracle: address }),
  RateModelChanged: z.object({ market: text.optional(), model: address, enabled: z.boolean().optional() }),
  /** An adaptive rate model moved: the rate per second of the period that ended, and the one at target utilization from here on. */
  RateAtTargetChanged: z.object({ market: text, averageRateWad: uint, rateAtTargetWad: uint }),
  OwnerChanged: z.object({ owner: address, previous: address.optional(), role: text.optional() }),
  /** A role of a protocol's access control was given to an account or taken from it. */
  RoleChanged: z.object({ role: text, account: address, granted: z.boolean() }),
  FlashLoaned: z.object({ market: text, sender: address, assets: uint, premium: uint.optional() }),

  ...lendingVocabulary,
  ...fixedTermVocabulary,
  ...ammVocabulary,
  ...bridgeVocabulary,
  ...svmVocabulary,

  // ---- the registry of curated facts (stream 0); `contract` is absent
  /** One curated fact set or removed: subject is e.g. 'vault:1:0x…', 'feed:1:0x…', 'protocol:morpho', fact its JSON. */
  FactRecorded: z.object({ subject: text, kind: text, value: text }),
  FactRemoved: z.object({ subject: text, kind: text }),
} satisfies Record<string, z.ZodObject>

export type EventType = keyof typeof vocabulary
export type EventData<T extends EventType = EventType> = z.infer<(typeof vocabulary)[T]>

/**
 * One fact, before it has a place in a stream. protocol: slug of the protocol that told of it (db/protocols.ts), by the kind of
 * contract that logged it or the module that asked; absent on what no protocol tells, retractions and curated facts.
 * logIndex and transactionHash are absent on state reads and retractions.
 */
export type DomainEvent<T extends EventType = EventType> = {
  [K in T]: {
    type: K
    protocol?: string
    contract: string
    logIndex?: number
    transactionHash?: string
    data: EventData<K>
  }
}[T]
