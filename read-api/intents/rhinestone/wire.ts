import { z } from 'zod'
import { addressOf, typedDataShape, uint } from '../typed-data.ts'

/** Answers of the orchestrator, version 2026-04.blanc. @see orchestrator/blanc.json of rhinestonewtf/openapi */
export const API_VERSION = '2026-04.blanc'

export const intentId = z.string().regex(/^\d{1,78}$/)

const leg = z.object({ chainId: z.string(), tokenAddress: z.string(), amount: uint })
const share = z.object({ usd: z.number(), sponsored: z.boolean() })

const requirement = z.union([
  z.object({ type: z.literal('approval'), amount: uint, spender: addressOf }),
  z.object({ type: z.literal('wrap'), amount: uint }),
])

export const routeShape = z.object({
  intentId,
  expiresAt: z.number().int().nonnegative(),
  settlementLayer: z.string(),
  signData: z.object({ origin: z.array(typedDataShape).max(32) }),
  cost: z.object({
    input: z.array(leg),
    output: z.array(leg),
    fees: z.object({
      breakdown: z.object({
        gas: share,
        bridge: share,
        swap: share,
        app: share,
        protocol: share,
        sponsorSurcharge: share,
      }),
    }),
  }),
  tokenRequirements: z.record(z.string(), z.record(z.string(), requirement)).optional(),
})
export type Route = z.output<typeof routeShape>

export const quotesShape = z.object({ routes: z.array(routeShape).max(64) })
export const submittedShape = z.object({ intentId })

/** Other statuses than the published ones have been seen in the guides: they are not the end. */
export const statusShape = z.object({
  status: z.string(),
  operations: z.array(
    z.object({
      chain: z.number(),
      items: z.array(z.object({ type: z.string(), status: z.string(), txHash: z.string().optional() })),
    }),
  ),
})
