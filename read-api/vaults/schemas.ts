import { PARTS, PENALTIES } from '../catalogue/score.ts'
import {
  Address,
  Amount,
  Apy4,
  AssetShape,
  CuratorShape,
  Flag,
  LpTokenShape,
  NetworkShape,
  ProtocolShape,
  Tvl,
} from '../http/shapes.ts'
import { widened, z } from '../http/zod.ts'

const identity = {
  vaultId: z.string(),
  address: Address,
  name: z.string(),
  network: NetworkShape,
  asset: AssetShape,
  isTransactional: z.boolean(),
  isAppFeatured: z.boolean(),
}

const standing = z.enum(['listed', 'made', 'found'])

export const VaultListItem = z.strictObject({ ...identity, standing }).openapi('Vault')

const stepsType = z.enum(['instant', 'complex'])

/** How one part of the score is made. */
function scored(part: keyof typeof PARTS, what: string): string {
  const { points, floor, ceiling } = PARTS[part]
  const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 0 })
  return `0 to ${points} points: ${points} × log(x / ${number(floor)}) / log(${number(ceiling)} / ${number(floor)}), where x is ${what}.`
}

export const ScoreShape = z
  .strictObject({
    vaultScore: z.number().openapi({
      description:
        '0 to 100: (protocolTvlScore + vaultTvlScore + holderScore + assetScore) × (1 − totalScorePenalty).',
    }),
    vaultTvlScore: z.number().openapi({ description: scored('vault', 'USD·seconds in the vault') }),
    protocolTvlScore: z
      .number()
      .openapi({ description: scored('protocol', 'USD·seconds in all vaults of the protocol') }),
    holderScore: z.number().openapi({ description: scored('holders', 'accounts that hold shares') }),
    networkScore: z.number().openapi({
      description: `${scored('network', 'USD·seconds in all vaults of the network')} For diagnosis: no part of vaultScore.`,
    }),
    assetScore: z
      .number()
      .openapi({ description: scored('asset', 'USD of this asset in all vaults of the chain, now') }),
    totalScorePenalty: z.number().openapi({
      description: `The sum of penaltyComponents, 1 at most: ${PENALTIES.critical} for each flag of critical in force, ${PENALTIES.warning} for warning, ${PENALTIES.info} for info, 0 for one with a resolution, 1 for a corrupted vault.`,
    }),
    penaltyComponents: z.array(
      z.union([
        widened(Flag, { type: z.literal('flag'), value: z.number() }),
        z.object({ type: z.string(), value: z.number() }),
      ]),
    ),
  })
  .openapi('Score')

export const FeesShape = z
  .strictObject({
    performanceFee: z.number().optional(),
    managementFee: z.number().optional(),
    withdrawalFee: z.number().optional(),
    depositFee: z.number().optional(),
  })
  .openapi('Fees')

export const DetailedVault = z
  .strictObject({
    ...identity,
    protocol: ProtocolShape,
    lendUrl: z.string(),
    description: z.string(),
    protocolVaultUrl: z.string(),
    tags: z.array(z.string().min(1)),
    holdersData: z.strictObject({
      totalCount: z.int(),
      totalBalance: Amount,
      topHolders: z.array(z.strictObject({ address: Address, lpTokenBalance: Amount })),
    }),
    apy: Apy4,
    tvl: Tvl,
    lastUpdateTimestamp: z.int(),
    creationData: z.strictObject({ deploymentTimestamp: z.int() }),
    rewards: z.array(
      z.object({
        asset: AssetShape,
        apy: z.strictObject({
          '1hour': z.number(),
          '1day': z.number(),
          '7day': z.number(),
          '30day': z.number(),
        }),
      }),
    ),
    score: ScoreShape.optional(),
    additionalIncentives: z.string().optional(),
    curator: CuratorShape.optional(),
    lpToken: LpTokenShape.optional(),
    remainingCapacity: Amount.optional(),
    maxCapacity: Amount.optional(),
    isCorrupted: z.boolean(),
    userEventsIndexed: z.boolean(),
    standing: standing.openapi({
      description:
        'listed: by the registry of curated vaults. made: by a factory that the registry names. found: by its shape alone, which anybody can give a contract; it bears a flag, and lists leave it out unless allowUnlisted.',
    }),
    childrenVaults: z
      .array(
        z.object({
          vaultId: z.string(),
          address: Address,
          asset: AssetShape,
          lpToken: LpTokenShape.optional(),
          additionalAssets: z.array(AssetShape).optional(),
        }),
      )
      .optional(),
    additionalAssets: z.array(AssetShape).optional(),
    transactionalProperties: z
      .strictObject({
        depositStepsType: stepsType,
        redeemStepsType: stepsType,
        rewardsSupported: z.boolean(),
      })
      .optional(),
    fees: FeesShape.optional(),
    warnings: z.array(z.string()),
    flags: z.array(Flag),
    apyComposite: z
      .strictObject({
        totalApy: Apy4,
        intrinsicApy: Apy4,
        asset: AssetShape,
        vault: z.strictObject({ vaultId: z.string(), address: Address }),
      })
      .optional(),
  })
  .openapi('DetailedVault')
