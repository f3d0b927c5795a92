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
} from './shapes.ts'
import { widened, z } from './zod.ts'

const identity = {
  vaultId: z.string(),
  address: Address,
  name: z.string(),
  network: NetworkShape,
  asset: AssetShape,
  isTransactional: z.boolean(),
  isAppFeatured: z.boolean(),
}

export const VaultListItem = z.strictObject(identity).openapi('Vault')

const stepsType = z.enum(['instant', 'complex'])

export const ScoreShape = z
  .strictObject({
    vaultScore: z.number(),
    vaultTvlScore: z.number(),
    protocolTvlScore: z.number(),
    holderScore: z.number(),
    networkScore: z.number(),
    assetScore: z.number(),
    totalScorePenalty: z.number(),
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
