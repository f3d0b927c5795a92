import { Amount, ProtocolShape, Usd } from '../http/shapes.ts'
import { z } from '../http/zod.ts'
import { STAKE_KINDS } from './stake.ts'
import { UNKNOWN } from './statement.ts'

const UNITS = 'What the position counts in, which interest does not change: shares, scaled or plain amounts.'
const native = (description: string) =>
  Amount.openapi({ description: `${description} Base units of the asset; empty where it is not known.` })
const usd = (description: string) =>
  Usd.openapi({
    description: `${description} US dollars, exact to the last digit; empty where it is not known.`,
  })

const figures = (amount: typeof native) =>
  z.strictObject({
    opening: amount('Worth when the period begins; of a debt below zero.'),
    deposits: amount('Paid in; of a debt, repaid.'),
    withdrawals: amount('Paid out; of a debt, borrowed.'),
    transfersIn: amount(
      'Worth of what came without being paid for, in its block: from other wallets, or what a liquidation repaid.',
    ),
    transfersOut: amount(
      'Worth of what went without being paid out, in its block: to other wallets, or to a liquidator.',
    ),
    gain: amount('closing − opening − deposits + withdrawals − transfersIn + transfersOut.'),
    yield: amount('Of the gain, what was earned in the asset; interest on debts is below zero.'),
    priceEffect: amount('Of the gain, what the price of the asset did.'),
    closing: amount('Worth when the period ends.'),
    realised: amount('Gain of what was paid out or sent in the period, over what it had cost.'),
    unrealisedOpening: amount('Worth less cost of what was there when the period began.'),
    unrealisedClosing: amount('Worth less cost of what is there when it ends.'),
  })

const NativeFigures = figures(native).openapi('StatementAmounts')
const UsdFigures = figures(usd).openapi('StatementUsd')

const AnyAddress = z
  .string()
  .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/)
  .openapi({
    description: 'Checksummed (EIP-55); on Solana base58.',
    example: '0x83F20F44975D03b1b09e64809B757c47f942BEeA',
  })

const Network = z
  .strictObject({
    name: z.string(),
    chainId: z.int().optional().openapi({ description: 'Absent of Solana, which has none.' }),
    networkCaip: z.string().openapi({ description: 'CAIP-2.' }),
  })
  .openapi('StatementNetwork')

const assetFields = {
  address: AnyAddress,
  assetCaip: z.string().openapi({ description: 'CAIP-19.' }),
  name: z.string(),
  symbol: z.string(),
  decimals: z.int(),
  assetLogo: z.string().optional(),
  assetGroup: z.string(),
}
const Asset = z.strictObject(assetFields).openapi('StatementAsset')

/** What a statement of wallets on networks of Ethereum's kind does not look at, and one of wallets on Solana. */
export const NOT_INCLUDED = {
  evm: ['fixed-term-liquidity', 'yield-tokens', 'pending-requests', 'unclaimed-rewards'],
  svm: ['svm-before-index', 'svm-rewards', 'svm-lending'],
} as const

export const Statement = z.strictObject({
  wallets: z.array(AnyAddress),
  fromTimestamp: z.int(),
  toTimestamp: z.int(),
  method: z.enum(['fifo', 'average']),
  total: z.strictObject({ usd: UsdFigures }),
  assets: z.array(
    z
      .strictObject({
        asset: z.strictObject({ ...assetFields, network: Network }).openapi('StatementAssetOnNetwork'),
        native: NativeFigures,
        usd: UsdFigures,
      })
      .openapi('StatementOfAsset', { description: 'All positions of one asset together.' }),
  ),
  data: z.array(
    z
      .strictObject({
        kind: z.enum(['vault', ...STAKE_KINDS]).openapi({
          description:
            'vault: shares of a vault, what is supplied to Aave, Comets and Euler among them; supplied, collateral, debt: in a lending market; fixed-term: principal tokens; amm: the part of one of the two assets of a vault of liquidity.',
        }),
        vaultId: z.string().optional().openapi({
          description: 'Of vaults, fixed terms and vaults of liquidity.',
        }),
        marketId: z.string().optional().openapi({
          description: 'Of lending markets; of Euler, where a vault is in many, the address of the vault.',
        }),
        accounts: z.array(AnyAddress).openapi({
          description:
            'Whose position it ever was: those of the wallets, and accounts that they have in the protocol. All of them count together.',
        }),
        address: AnyAddress.openapi({ description: 'The contract that keeps it.' }),
        name: z.string(),
        network: Network,
        protocol: ProtocolShape,
        asset: Asset,
        shares: z.strictObject({
          opening: Amount.openapi({ description: UNITS }),
          closing: Amount.openapi({ description: UNITS }),
        }),
        native: NativeFigures,
        usd: UsdFigures,
        unknown: z.array(z.enum(UNKNOWN)).openapi({
          description:
            'Why figures are empty; nothing where none is. worth: at a moment no price of a share, or state of the market, was known yet; paid: the chain does not say what was paid for shares; price: at a moment the asset had no USD price.',
        }),
      })
      .openapi('StatementPosition'),
  ),
  rewards: z.array(
    z
      .strictObject({
        network: Network,
        token: AnyAddress,
        asset: Asset.optional(),
        source: z.string(),
        amountNative: Amount,
        amountUsd: usd('At the prices of the moments at which it was paid.'),
      })
      .openapi('StatementReward', {
        description:
          'What distributors paid out in the period, by token, of all assets and protocols. It is in no other figure, unless the token is itself a share of a vault: those are among transfersIn.',
      }),
  ),
  notIncluded: z.array(z.enum([...NOT_INCLUDED.evm, ...NOT_INCLUDED.svm])).openapi({
    description:
      'What these wallets may have beside this, and no statement tells of. fixed-term-liquidity: what it gave to the pools of fixed terms; yield-tokens: the other half of what principal tokens were split from; pending-requests: deposits and redemptions that it asked a vault for and that are not carried out; unclaimed-rewards: what distributors owe it; svm-before-index: that shares on Solana were there before they first moved since the index began, with which they come in as a transfer; svm-rewards: what farms on Solana paid; svm-lending: what it lent, owes and pledged in lending markets on Solana.',
  }),
  incompleteNetworks: z.array(z.string()).openapi({
    description:
      'Networks of which vaults, lending, fixed terms or liquidity have not been read beyond the end of the period: more may come there that belongs to it.',
  }),
})
