import {
  Address,
  Amount,
  AssetShape,
  LpTokenShape,
  NetworkShape,
  ProtocolShape,
  Tvl,
} from '../http/shapes.ts'
import { widened, z } from '../http/zod.ts'

const warnings = {
  warnings: z
    .array(z.string())
    .optional()
    .openapi({ description: 'What to know of the figures; absent: nothing.' }),
}

export const FixedTerm = z
  .strictObject({
    vaultId: Address.openapi({ description: 'The market.' }),
    network: NetworkShape,
    name: z.string().openapi({ description: 'Of the PT, as it says itself.' }),
    asset: AssetShape.openapi({ description: 'Of which a PT is worth one at the expiry.' }),
    protocol: ProtocolShape,
    lpToken: LpTokenShape.openapi({ description: 'The principal token (PT) that is bought and sold.' }),
    apy: z.number().openapi({
      description:
        'Implied by the last trade, as a fraction: what a PT bought at its rate earns per year until the expiry. 0, with a warning, while nothing was ever in the pool.',
    }),
    expiry: z.int().openapi({ description: 'Unix seconds; from then on a PT is redeemed.' }),
    tvl: Tvl.openapi({ description: 'liquidity, and what the PT outside of the pool are worth.' }),
    liquidity: Tvl.openapi({
      description: 'PT and wrapped tokens in the pool. Empty where it is not known.',
    }),
    underlyingApy: z.number().optional().openapi({
      description:
        'What the wrapped token itself earned over the last 7 days, per year, without any rewards. Absent where there is no figure of 7 days ago.',
    }),
    standing: z.enum(['listed', 'made', 'found']).openapi({
      description:
        "Who vouches for the market. listed: the registry; made: the protocol's factory made it and the registry vouches for the token that it wraps; found: nobody, and its figures are that token's word.",
    }),
    ...warnings,
  })
  .openapi('FixedTerm')

const StepShape = z
  .strictObject({
    name: z.enum(['swap-in', 'swap-out']),
    actions: z.array(z.string()),
    actionsUrl: z.string().openapi({ description: 'Wants amount or all=true added.' }),
    tokens: z.array(Address).openapi({
      description: 'What assetAddress may be. The zero address is the coin of the chain.',
    }),
    receives: z
      .strictObject({ address: Address, symbol: z.string(), decimals: z.int() })
      .optional()
      .openapi({ description: 'What comes out, which need not be the asset of the market.' }),
  })
  .openapi('FixedTermStep')

export const FixedTermContext = z
  .strictObject({
    asset: widened(AssetShape, { balanceNative: Amount, balanceUsd: z.string().optional() }),
    lpToken: widened(LpTokenShape, { balanceNative: Amount, balanceUsd: z.string().optional() }),
    expiry: z.int(),
    actions: z.array(z.enum(['swap-in', 'swap-out'])).openapi({
      description: 'What can be done now: from the expiry on nothing is bought any more.',
    }),
    steps: z.array(StepShape),
    ...warnings,
  })
  .openapi('FixedTermContext')
