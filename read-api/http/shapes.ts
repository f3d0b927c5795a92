import { z } from './zod.ts'

export const Address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .openapi({ description: 'Checksummed (EIP-55).', example: '0x83F20F44975D03b1b09e64809B757c47f942BEeA' })

/** An amount in base units of its token. */
export const Amount = z.string().openapi({ description: 'Base units, decimal.', example: '1000000' })

/**
 * USD as a decimal string. Where the wire has the field and no price is known it is the empty string: an unknown
 * value is not zero.
 */
export const Usd = z
  .string()
  .regex(/^(-?\d+(\.\d+)?)?$/)
  .openapi({
    description: 'US dollars, decimal. Empty where the price of the asset is not known.',
    example: '1234.5',
  })

export const NetworkShape = z
  .strictObject({
    name: z.string(),
    chainId: z.int(),
    networkCaip: z.string().regex(/^eip155:\d+$/),
  })
  .openapi('Network')

const assetFields = {
  address: Address,
  assetCaip: z.string().regex(/^eip155:\d+\/(erc20:0x[0-9a-fA-F]{40}|slip44:\d+)$/),
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
  assetLogo: z.string().optional(),
  assetPriceInUsd: z.string().optional(),
  assetGroup: z.string(),
}

export const AssetShape = z.strictObject(assetFields).openapi('Asset')

export const AssetOnNetwork = z
  .strictObject({ ...assetFields, network: NetworkShape })
  .openapi('AssetOnNetwork')

const lpTokenFields = {
  address: Address,
  tokenCaip: z.string(),
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
}

export const LpTokenShape = z.strictObject(lpTokenFields).openapi('LpToken')

export const PositionAsset = z
  .strictObject({
    ...assetFields,
    balanceNative: Amount.openapi({
      description:
        'Base units, decimal; empty where it is not known. What the wallet holds of the asset itself.',
    }),
    balanceUsd: z.string().optional(),
    unclaimedNative: Amount.optional(),
    unclaimedUsd: z.string().optional(),
    positionValueInAsset: Amount.optional(),
  })
  .openapi('PositionAsset')

export const PositionLpToken = z
  .strictObject({
    ...lpTokenFields,
    balanceNative: Amount.openapi({
      description:
        'Shares, in base units. Of an aToken its scaled units, of a Comet the principal: transactions with those take the amounts that the token itself shows, as positionValueInAsset has it.',
    }),
    balanceUsd: z.string().optional(),
    unclaimedNative: Amount.optional(),
    unclaimedUsd: z.string().optional(),
    positionValueInAsset: Amount.optional(),
    lastUpdateTimestamp: z.int().optional().openapi({
      description:
        'Unix seconds at which the share price was read that positionValueInAsset and balanceUsd are reckoned with: not later than the block that x-as-of-block names.',
    }),
    assetPriceInUsd: z.string().optional(),
  })
  .openapi('PositionLpToken')

export const ProtocolShape = z
  .strictObject({
    name: z.string(),
    displayName: z.string().optional(),
    protocolId: z.string().optional(),
    product: z.string().optional(),
    version: z.string().optional(),
    protocolUrl: z.string().optional(),
    description: z.string().optional(),
    protocolLogo: z.string().optional(),
  })
  .openapi('Protocol')

export const CuratorShape = z
  .strictObject({
    name: z.string(),
    displayName: z.string().optional(),
    description: z.string().optional(),
    websiteUrl: z.string().optional(),
  })
  .openapi('Curator')

export const Rate = z
  .strictObject({ base: z.number(), reward: z.number(), total: z.number() })
  .openapi('Rate', { description: 'Per year, as a fraction: 0.05 is 5 %. total = base + reward.' })

export const Apy4 = z
  .strictObject({ '1hour': Rate, '1day': Rate, '7day': Rate, '30day': Rate })
  .openapi('Apy')

export const Tvl = z.strictObject({ usd: Usd, native: Amount }).openapi('Tvl')

export const Severity = z.enum(['info', 'warning', 'critical'])

export const Flag = z
  .strictObject({
    content: z.string(),
    severity: Severity,
    endDate: z.int().openapi({
      description:
        'Unix seconds; 253402300799 (end of the year 9999) for a flag that stands until it is taken off.',
    }),
    resolution: z.string().optional(),
  })
  .openapi('Flag')

export const Unsupported = z
  .strictObject({
    unsupportedNetworks: z.array(z.string()),
    unsupportedAssets: z.array(z.string()),
    unsupportedProtocols: z.array(z.string()),
  })
  .openapi('Unsupported', {
    description:
      'Names in a filter that nobody knows, and networks asked for that are not indexed here. They never fail a request.',
  })

/** Where nothing is shown and something is left out. */
export const leftOutWarning = {
  warnings: z.array(z.string()).optional().openapi({
    description:
      'Only where the answer is empty and vaults are left out for which nobody vouches. x-unlisted-left-out says how many in every answer.',
  }),
}

export function pageOf<T extends z.ZodType>(item: T) {
  return z.strictObject({
    itemsOnPage: z.int(),
    nextPage: z.int().nullable(),
    data: z.array(item),
    ...leftOutWarning,
  })
}

export const ErrorBody = z
  .object({
    statusCode: z.int().optional(),
    error: z.string(),
    message: z.string(),
    errorId: z.string().optional(),
  })
  .openapi('Error')

export const PaymentRequiredBody = z
  .object({
    ...ErrorBody.shape,
    x402Version: z.int().optional(),
    resource: z.object({ url: z.string(), description: z.string().optional() }).optional(),
    accepts: z
      .array(
        z.object({
          scheme: z.string(),
          network: z.string().openapi({ description: 'CAIP-2.' }),
          asset: Address,
          amount: Amount,
          payTo: Address,
          maxTimeoutSeconds: z.int(),
        }),
      )
      .optional(),
  })
  .openapi('PaymentRequired', {
    description: 'The terms are also in the header payment-required, where clients of x402 version 2 look.',
  })
