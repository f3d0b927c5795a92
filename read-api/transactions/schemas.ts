import { networkIds } from '../../db/networks.ts'
import { Address, Amount, AssetShape, LpTokenShape, ProtocolShape } from '../http/shapes.ts'
import { widened, z } from '../http/zod.ts'

export const StepNameShape = z.enum([
  'deposit',
  'redeem',
  'request-redeem',
  'request-deposit',
  'claim-redeem',
  'claim-deposit',
  'claim-rewards',
  'start-redeem-cooldown',
])

const warnings = {
  warnings: z.array(z.string()).optional().openapi({ description: 'Where nobody vouches for the vault.' }),
}

const Hex = z.string().regex(/^0x[0-9a-f]*$/)

const SimulationShape = z
  .strictObject({
    url: z.string().openapi({
      description: 'Page that shows the simulation. Empty: it is a call on the node, which no page shows.',
    }),
    status: z.enum(['success', 'failure', 'internal server error']),
    tokensReceived: z.record(z.string(), Amount).optional(),
    tokensSpent: z.record(z.string(), Amount).optional(),
  })
  .openapi('Simulation', {
    description: 'Amounts by symbol, in base units; native is the coin of the chain.',
  })

export const BundleShape = z
  .strictObject({
    currentActionIndex: z.int().openapi({ description: 'The first action that is still to be done.' }),
    actions: z.array(
      z.strictObject({
        name: z.string(),
        tx: z.strictObject({
          to: Address,
          chainId: z.int(),
          data: Hex.optional(),
          value: z.string().optional().openapi({ description: 'Wei.' }),
        }),
        simulation: SimulationShape.optional(),
      }),
    ),
    isSimulated: z
      .literal(false)
      .optional()
      .openapi({ description: 'There where the node of the chain could not try the transactions out.' }),
    ...warnings,
  })
  .openapi('Bundle')

const StepShape = z
  .strictObject({ name: StepNameShape, actions: z.array(z.string()), actionsUrl: z.string() })
  .openapi('Step')

const RequestShape = z
  .strictObject({
    status: z.enum(['pending', 'ready']),
    assetAmount: Amount.optional(),
    lpTokenAmount: Amount.optional(),
    requestTimestamp: z.int().optional(),
    estimatedResolution: z.int().optional(),
    withdrawalStart: z.int().optional(),
    withdrawalEnd: z.int().optional(),
  })
  .openapi('Request')

const ContextAssetShape = widened(AssetShape, {
  balanceNative: Amount,
  balanceUsd: z.string().optional(),
  unclaimedNative: Amount.optional(),
  unclaimedUsd: z.string().optional(),
  positionValueInAsset: Amount.optional(),
  depositLimit: Amount.optional(),
}).openapi('ContextAsset')

export const ContextShape = z
  .strictObject({
    currentDepositStep: StepNameShape,
    depositSteps: z.array(StepShape),
    currentRedeemStep: StepNameShape,
    redeemSteps: z.array(StepShape),
    lpToken: widened(LpTokenShape, {
      balanceNative: Amount.openapi({
        description:
          'Base units, decimal, as the token itself shows them: of an aToken or a Comet what the position is worth now.',
      }),
      balanceUsd: z.string().optional(),
    }),
    asset: ContextAssetShape,
    additionalAssets: z.array(ContextAssetShape),
    childrenPositions: z.array(z.strictObject({})),
    vaultSpecificData: z.record(z.string(), z.unknown()).optional(),
    pendingRequests: z
      .strictObject({ deposits: z.array(RequestShape), redeems: z.array(RequestShape) })
      .optional(),
    rewards: z
      .strictObject({
        claimable: z.array(
          z.strictObject({ amount: Amount, asset: widened(AssetShape, { network: z.string() }) }),
        ),
        currentStep: StepNameShape,
        steps: z.array(StepShape),
      })
      .optional(),
    ...warnings,
  })
  .openapi('TransactionContext')

/** One key for each network, `shape` under each. */
function byNetwork<T extends z.ZodType>(shape: T) {
  return z.strictObject(Object.fromEntries(networkIds.map(({ name }) => [name, shape])) as Record<string, T>)
}

/** Claims that one request may name. */
export const MOST_CLAIMS = 200

export const RewardsContextShape = z
  .strictObject({
    claimable: byNetwork(
      z.array(
        z.strictObject({
          claimId: z.string(),
          asset: widened(AssetShape, {
            claimableAmount: Amount,
            claimableAmountInUsd: z.string().optional(),
          }),
          sources: z.array(z.strictObject({ protocol: ProtocolShape })),
          actionUrl: z.string(),
        }),
      ),
    ),
    actionUrl: z.string().openapi({ description: 'Claims everything in the list (the first 200).' }),
    errors: z
      .strictObject({ unavailableSources: z.array(z.string()) })
      .optional()
      .openapi({ description: 'Sources that did not answer; what they hold is not in the list.' }),
  })
  .openapi('RewardsContext')

export const RewardsClaimShape = byNetwork(BundleShape).openapi('RewardsClaim')
