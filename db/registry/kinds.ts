import { z } from 'zod'

/**
 * What may be said of a subject, kind by kind: the schema of a fact's value. Files, the validator and the catalogue
 * read facts through these and nothing else. Amounts are decimal strings in base units, times unix seconds, fees and
 * rates fractions (0.1 is 10 %).
 */
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(value => value.toLowerCase())
const unixSeconds = z.int().nonnegative()
const fraction = z.number().min(0).max(1)
const words = z.string().min(1)
/** Empty where there is nothing to say; what the wire sends then, too. */
const link = z.union([z.literal(''), z.url({ protocol: /^https$/ })])

/** A warning about a vault, from startDate (absent: always) up to endDate (absent: until it is removed). */
export const flagFact = z.strictObject({
  content: words,
  severity: z.enum(['info', 'warning', 'critical']),
  startDate: unixSeconds.optional(),
  endDate: unixSeconds.optional(),
  /** How it ended. A flag with a resolution is still shown, but no longer lowers the score. */
  resolution: words.optional(),
})

export const feesFact = z.strictObject({
  performanceFee: fraction.optional(),
  managementFee: fraction.optional(),
  withdrawalFee: fraction.optional(),
  depositFee: fraction.optional(),
})

/** A stream of rewards to all holders: `amount` base units of a token, evenly over [startDate, endDate). */
export const rewardFact = z
  .strictObject({
    asset: z.strictObject({ address, name: z.string(), symbol: words, decimals: z.int().min(0).max(77) }),
    amount: z.string().regex(/^\d+$/),
    startDate: unixSeconds,
    endDate: unixSeconds,
    /** Who pays it out: merkl, or the protocol's own distributor. */
    distributor: words.optional(),
  })
  .refine(({ startDate, endDate }) => startDate < endDate, { error: 'endDate has to be after startDate' })

const stepsType = z.enum(['instant', 'complex'])
const transactionalFact = z.strictObject({
  depositStepsType: stepsType,
  redeemStepsType: stepsType,
  rewardsSupported: z.boolean(),
})

const profile = {
  displayName: words.optional(),
  description: words.optional(),
}

export const FACT_KINDS = {
  vault: {
    /** On the list of curated vaults: processors look at it from the start, whoever made it. */
    listed: z.strictObject({
      protocol: words,
      product: words.optional(),
      version: words.optional(),
      /** Absent: the name that the contract gives itself. */
      name: words.optional(),
      description: z.string(),
      lendUrl: link,
      protocolVaultUrl: link,
    }),
    /** An identifier besides the address, which it cannot be mistaken for. */
    vaultId: z
      .string()
      .min(1)
      .max(128)
      .regex(/^(?!0x)/i, 'an identifier must not begin as an address does'),
    tags: z.array(words),
    curator: words,
    featured: z.boolean(),
    flags: z.array(flagFact),
    /** Where the chain's own FeeChanged events do not say. */
    fees: feesFact,
    rewards: z.array(rewardFact),
    /** Incentives that are no stream of a token: points and the like, in words. */
    incentives: words,
    transactional: transactionalFact,
  },
  asset: {
    /**
     * chainId: where the feed is, if not on the asset's own chain. heartbeat: seconds within which it reports whatever the
     * price does; a day where it is not said, the longest that feeds of prices have.
     */
    feed: z.strictObject({
      feed: address,
      decimals: z.int().nonnegative().optional(),
      chainId: z.int().positive().optional(),
      heartbeat: z.int().positive().optional(),
    }),
    peg: z.union([
      z.strictObject({ usd: z.union([z.string().regex(/^\d+(\.\d+)?$/), z.number().positive()]) }),
      z.strictObject({ of: address }),
    ]),
    group: words,
    logo: words,
  },
  contract: {
    /** Left alone: neither called nor decoded, sampled or served, whatever it was taken for. `by`: absent in a file of facts. */
    ignored: z.strictObject({
      reason: words.optional(),
      by: z.enum(['command', 'CONTRACTS_FILE']).optional(),
    }),
    /** An oracle whose word may be taken: markets that ask it for the prices of known assets are vouched for. */
    oracle: z.strictObject({ description: words.optional() }),
    /** A wrapper of a yield-bearing token (SY) whose rate may be taken at its word: fixed-term markets of it are vouched for. */
    wrapper: z.strictObject({ description: words.optional() }),
    /**
     * A factory of vaults of liquidity, whose code is known: those that `deployer` had it make are vouched for. guard: through which one
     * deposits and withdraws with a minimum; absent: there is none.
     */
    ammFactory: z.strictObject({
      deployer: address,
      guard: address.optional(),
      description: words.optional(),
    }),
  },
  market: {
    /** A lending or fixed-term market, or a vault of liquidity, that anybody could have opened, and that is vouched for. */
    listed: z.strictObject({ description: words.optional() }),
  },
  protocol: {
    profile: z.strictObject({
      ...profile,
      protocolId: words.optional(),
      product: words.optional(),
      version: words.optional(),
      protocolUrl: link.optional(),
      protocolLogo: words.optional(),
    }),
  },
  curator: {
    profile: z.strictObject({ ...profile, websiteUrl: link.optional() }),
  },
} as const

export type FactFamily = keyof typeof FACT_KINDS
export type TransactionalFact = z.output<typeof transactionalFact>
export type FlagFact = z.output<typeof flagFact>
export type FeesFact = z.output<typeof feesFact>
export type RewardFact = z.output<typeof rewardFact>

/** The facts of one subject, by kind. */
export type Facts<F extends FactFamily> = {
  readonly [K in keyof (typeof FACT_KINDS)[F]]?: (typeof FACT_KINDS)[F][K] extends z.ZodType
    ? z.output<(typeof FACT_KINDS)[F][K]>
    : never
}

/** The schema of a fact's value; undefined for a kind that nobody knows. */
export function kindSchema(subject: string, kind: string): z.ZodType | undefined {
  const family = subject.split(':', 1)[0] ?? ''
  if (!Object.hasOwn(FACT_KINDS, family)) return undefined
  const kinds: Record<string, z.ZodType> = FACT_KINDS[family as FactFamily]
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}
