import { Amount, CuratorShape, Rate, Tvl, Usd } from '../http/shapes.ts'
import { widened, z } from '../http/zod.ts'

export const SvmAddress = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
  .openapi({ description: 'Base58.', example: 'So11111111111111111111111111111111111111112' })

const assetFields = {
  address: SvmAddress.openapi({ description: 'The mint. That of wrapped SOL stands for SOL, too.' }),
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
  assetLogo: z.string().optional(),
}
const SvmAssetShape = z.strictObject(assetFields).openapi('SvmAsset')

const protocol = z
  .strictObject({
    name: z.string(),
    product: z.string().optional(),
    version: z.string().optional(),
    protocolLogo: z.string().optional(),
  })
  .openapi('SvmProtocol')
  .optional()

const lpTokenFields = {
  address: SvmAddress.openapi({ description: 'The mint.' }),
  tokenCaip: z.string().openapi({ description: 'CAIP-19.' }),
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
}

const Apy3 = z.strictObject({ '1day': Rate, '7day': Rate, '30day': Rate }).openapi('SvmApy')

const standing = z.enum(['listed', 'made', 'found']).openapi({
  description:
    'Who vouches for the vault. listed: the registry; made: its program is known, and as much lies in it as few would put in a vault of their own; found: its program is known, and anybody could have made it.',
})
const warnings = {
  warnings: z
    .array(z.string())
    .optional()
    .openapi({ description: 'What to know of the figures; absent: nothing.' }),
}

export const SvmVaultShape = z
  .strictObject({ address: SvmAddress, name: z.string(), asset: SvmAssetShape, protocol })
  .openapi('SvmVault')

export const SvmDetailed = z
  .strictObject({
    address: SvmAddress,
    name: z.string(),
    asset: SvmAssetShape,
    tvl: Tvl,
    apy: Apy3,
    protocol,
    lpToken: z
      .strictObject(lpTokenFields)
      .openapi('SvmLpToken')
      .optional()
      .openapi({ description: 'Absent where the share says nothing of itself.' }),
    curator: CuratorShape.optional(),
    standing,
    ...warnings,
  })
  .openapi('SvmDetailedVault')

export const SvmPosition = z
  .strictObject({
    address: SvmAddress,
    name: z.string(),
    asset: z
      .strictObject({
        ...assetFields,
        balanceNative: Amount.openapi({
          description:
            'What the shares are worth, in base units of the asset; empty where no price of a share was read.',
        }),
        balanceUsd: Usd,
        unclaimedNative: Amount,
        unclaimedUsd: Usd,
        positionValueInAsset: Amount.optional().openapi({
          description: 'The same as balanceNative, and never added to it.',
        }),
      })
      .openapi('SvmPositionAsset'),
    apy: Rate,
    protocol,
    ...warnings,
  })
  .openapi('SvmPosition')

export const SvmEvents = z
  .strictObject({
    data: z.array(
      z
        .strictObject({
          timestamp: z.int(),
          slot: z.string(),
          eventType: z.enum(['deposit', 'withdrawal', 'claim']),
          vaultAddress: SvmAddress,
          assetAmountNative: Amount.openapi({
            description: 'Empty where the chain does not say: stake accounts were moved, not SOL.',
          }),
          lpTokenAmount: Amount.openapi({
            description: 'Shares that the wallet got, or that left it with the fee in them.',
          }),
          signature: z.string(),
          instructionIndex: z.int().openapi({
            description:
              'Of the outer instruction: two deposits within one, through another program, share it.',
          }),
        })
        .openapi('SvmEvent'),
    ),
    items: z.int(),
  })
  .openapi('SvmEvents')

export const IdleSvm = z.strictObject({ ...assetFields, balance: Amount }).openapi('IdleSvm')

const StepShape = z
  .strictObject({
    name: z.enum(['deposit', 'redeem']),
    actions: z.array(z.string()),
    actionsUrl: z.string().openapi({ description: 'Wants amount added, in base units of its assetAddress.' }),
  })
  .openapi('SvmStep')

export const SvmContext = z
  .strictObject({
    asset: widened(SvmAssetShape, {
      balanceNative: Amount.openapi({
        description:
          'What a deposit can spend: of SOL, wrapped or not, without the fee and the rents that have to stay.',
      }),
      redeemLimit: Amount.optional().openapi({
        description: 'What can be redeemed at once, by anybody. Absent where nothing limits it.',
      }),
      minDeposit: Amount.optional().openapi({ description: 'The least that is taken.' }),
      minRedeem: Amount.optional().openapi({ description: 'The least that is paid.' }),
    }),
    lpToken: z.strictObject({ ...lpTokenFields, balanceNative: Amount }),
    unclaimed: z.array(z.strictObject({})),
    depositSteps: z.array(StepShape),
    redeemSteps: z.array(StepShape),
    ...warnings,
  })
  .openapi('SvmContext')

export const SvmBundle = z
  .strictObject({
    actions: z.array(
      z.strictObject({
        name: z.enum(['setup', 'deposit', 'redeem']).openapi({
          description:
            'setup: what has to land before the other one, where one transaction cannot hold all: accounts that are made, shares that are taken out of a farm.',
        }),
        tx: z.strictObject({
          transaction: z.base64().openapi({
            description:
              'A transaction of version 0, to be signed by the wallet and sent: a zero stands for its signature.',
          }),
          lastValidBlockHeight: z.string().openapi({
            description:
              'Beyond it the transaction cannot land any more, about a minute from now: ask again then.',
          }),
        }),
        simulation: z
          .strictObject({
            status: z.enum(['success', 'failure']),
            tokensReceived: z.record(z.string(), Amount).optional(),
            tokensSpent: z.record(z.string(), Amount).optional(),
          })
          .optional()
          .openapi({
            description: 'Amounts by symbol, or by mint where there is none; without fee and rents.',
          }),
      }),
    ),
    ...warnings,
  })
  .openapi('SvmBundle')
