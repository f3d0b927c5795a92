import { Address, Amount } from '../http/shapes.ts'
import { z } from '../http/zod.ts'
import { DetailedVault } from './schemas.ts'

const selected = z.literal(true, { error: 'must be true or left out' }).optional()

export const analyticsBody = z
  .strictObject({
    select: z
      .strictObject({
        maxDrawdown: selected,
        detailedVault: selected,
        withdrawalPauseRatio: selected,
        composition: selected,
        utilizationRate: selected,
      })
      .optional(),
  })
  .openapi('AnalyticsSelection')

/** Credits per vault and section. */
const COST = {
  maxDrawdown: 3,
  detailedVault: 3,
  composition: 2,
  withdrawalPauseRatio: 1,
  utilizationRate: 1,
} as const

/** What each section costs, in words. */
export const SECTION_COSTS = Object.entries(COST)
  .map(([section, cost]) => `${section} ${cost}`)
  .join(', ')

export function itemCost({ select }: z.output<typeof analyticsBody>): number {
  return Object.entries(COST).reduce(
    (sum, [section, cost]) => sum + (select?.[section as keyof typeof COST] ? cost : 0),
    0,
  )
}

export const MaxDrawdown = z
  .strictObject({ mdd30days: z.number(), mdd90days: z.number(), mdd365days: z.number() })
  .openapi('MaxDrawdown', {
    description: 'Largest fall of the share price from a peak, as a fraction. 0 for a price that never fell.',
  })

export const AnalyticsItem = z
  .strictObject({
    vaultId: z.string(),
    network: z.string(),
    maxDrawdown: MaxDrawdown.optional(),
    detailedVault: DetailedVault.optional(),
    withdrawalPauseRatio: z
      .strictObject({ value: z.number().nullable(), from: z.int(), to: z.int() })
      .optional(),
    composition: z
      .strictObject({
        items: z.array(
          z.strictObject({
            name: z.string(),
            address: Address.optional(),
            network: z.string().optional(),
            assetSymbol: z.string().optional(),
            allocation: z.number(),
            valueNative: Amount,
            kind: z.enum(['deployed', 'idle']),
          }),
        ),
        totalAssetsNative: Amount,
      })
      .optional(),
    utilizationRate: z.strictObject({ value: z.number().nullable() }).optional(),
  })
  .openapi('AdvancedAnalytics')
