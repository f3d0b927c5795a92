import { Address, Amount, AssetShape, NetworkShape, ProtocolShape, Tvl } from '../http/shapes.ts'
import { z } from '../http/zod.ts'

const YearlyRate = z.number().nullable().openapi({
  description: 'Per year, compounded, as a fraction: 0.05 is 5 %. Null before the first rate was recorded.',
})

const Cap = Amount.openapi({ description: 'Base units; 0: nothing more; 2^256 - 1: no cap.' })

const RiskParameters = z.strictObject({
  maxLtv: z.number(),
  liquidationThreshold: z.number(),
  liquidationPenalty: z.number(),
  borrowRateMultiplier: z.number().optional(),
})

export const MarketAsset = z
  .strictObject({
    asset: AssetShape,
    marketAssetId: z.string().openapi({ description: 'The {assetId} of borrow routes.' }),
    isCollateralEnabled: z.boolean(),
    supplyRate: YearlyRate,
    borrowRate: YearlyRate,
    utilizationRate: z.number(),
    totalSupplied: Tvl,
    totalBorrowed: Tvl,
    availableLiquidity: Tvl,
    availableToBorrow: Tvl.optional(),
    assetConfig: z.strictObject({
      isBorrowEnabled: z.boolean(),
      borrowInterestFeeRate: z.number(),
      borrowCap: Cap,
      supplyCap: Cap,
    }),
    defaultRiskParameters: RiskParameters,
    pairRiskParameters: z
      .array(z.strictObject({ collateralMarketAssetId: z.string(), ...RiskParameters.shape }))
      .optional(),
  })
  .openapi('MarketAsset')

const marketFields = {
  marketId: z.string(),
  name: z.string(),
  network: NetworkShape,
  protocol: ProtocolShape,
}

export const Market = z
  .strictObject({
    ...marketFields,
    marketRootAddress: Address,
    standing: z.enum(['listed', 'made', 'found']).openapi({
      description:
        'Who vouches for the market. listed: the registry, a listed vault whose curator gave it a cap or whose governor lends there, or the operator who named its pool; made: its assets are known and the registry vouches for its oracle; found: nobody, and anybody could have opened it.',
    }),
    warnings: z.array(z.string()).optional().openapi({ description: 'Absent: none.' }),
    assetsData: z.array(MarketAsset),
  })
  .openapi('BorrowMarket')

const PositionedAsset = z
  .strictObject({
    asset: AssetShape,
    positionId: z.string().openapi({ description: 'Unique for each underlying position.' }),
    collateralEnabled: z.boolean(),
    balanceNative: z
      .string()
      .openapi({ description: 'Supplied less borrowed, base units; may be negative.' }),
    suppliedNative: Amount,
    borrowedNative: Amount,
    balanceUsd: z.number().nullable(),
    suppliedUsd: z.number().nullable(),
    borrowedUsd: z.number().nullable(),
  })
  .openapi('BorrowPositionAsset', { description: 'USD is null where the price of the asset is not known.' })

const positionFields = {
  ...marketFields,
  userAddress: Address,
  subAccount: Address.optional().openapi({
    description:
      "The account of the wallet in Euler's connector that the position is of; absent: the wallet's own.",
  }),
  ltv: z.number().nullable().openapi({
    description:
      "Debt over collateral at the protocol's oracle's price; 0 without debt, null where that price is not known or nothing secures the debt.",
  }),
  healthFactor: z.number().nullable().openapi({
    description:
      "At the protocol's oracle's price; null without debt (ltv is 0 then), and, with a warning, where that price is not known.",
  }),
  warnings: z
    .array(z.string())
    .optional()
    .openapi({ description: 'What to know of the figures; absent: nothing.' }),
}

export const BorrowPosition = z
  .strictObject({ ...positionFields, assets: z.array(PositionedAsset) })
  .openapi('BorrowPosition')

export const BorrowAssetPosition = z
  .strictObject({ ...positionFields, asset: PositionedAsset })
  .openapi('BorrowAssetPosition')

export const BorrowEvents = z.strictObject({
  asset: AssetShape,
  items: z.int(),
  data: z.array(
    z.strictObject({
      timestamp: z.int(),
      blockNumber: z.string(),
      eventType: z.enum(['supply', 'withdraw', 'borrow', 'repay', 'liquidation']),
      assetAmountNative: Amount,
      transactionHash: z.string(),
      logIndex: z.int(),
      subAccount: Address.optional().openapi({
        description: 'The account of the wallet that it is of; absent: its own.',
      }),
    }),
  ),
})

const NumericAmount = z.strictObject({
  native: Amount,
  usd: z.number().optional().openapi({ description: 'Left out where no price is known.' }),
})

export const MarketPoint = z.strictObject({
  timestamp: z.int(),
  blockNumber: z.string(),
  supplyRate: YearlyRate,
  borrowRate: YearlyRate,
  utilizationRate: z.number(),
  totalSupplied: NumericAmount,
  totalBorrowed: NumericAmount,
  supplyIndex: z.number(),
  borrowIndex: z.number(),
})

const BorrowStep = z
  .strictObject({
    name: z.enum(['supply', 'withdraw', 'borrow', 'repay']),
    actions: z.array(z.string()),
    actionsUrl: z.string().openapi({ description: 'Wants amount or all=true added.' }),
  })
  .openapi('BorrowStep')

const CurrentStep = z.string().openapi({ description: 'Empty where the asset has no such step.' })

export const BorrowContext = z
  .strictObject({
    marketId: z.string(),
    name: z.string(),
    currentSupplyStep: CurrentStep,
    currentWithdrawStep: CurrentStep,
    currentBorrowStep: CurrentStep,
    currentRepayStep: CurrentStep,
    supplySteps: z.array(BorrowStep),
    withdrawSteps: z.array(BorrowStep),
    borrowSteps: z.array(BorrowStep),
    repaySteps: z.array(BorrowStep),
    subAccounts: z
      .array(z.strictObject({ subAccount: Address, supplied: Amount, borrowed: Amount }))
      .optional()
      .openapi({
        description:
          "What other accounts of the wallet have of the asset, as of the index; steps and limits are of the wallet's own account.",
      }),
    warnings: z.array(z.string()).optional(),
    balances: z.strictObject({ supplied: Amount, borrowed: Amount, wallet: Amount, allowance: Amount }),
    limits: z
      .strictObject({ maxWithdraw: Amount, maxBorrow: Amount, maxRepay: Amount })
      .openapi({ description: 'They leave room for the interest of an hour.' }),
  })
  .openapi('BorrowTransactionContext')
