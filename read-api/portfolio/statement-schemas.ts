import {
  Address,
  Amount,
  AssetOnNetwork,
  AssetShape,
  NetworkShape,
  ProtocolShape,
  Usd,
} from '../http/shapes.ts'
import { z } from '../http/zod.ts'
import { VaultListItem } from '../vaults/schemas.ts'
import { type Figures, usdText } from './statement.ts'

const native = (description: string) =>
  Amount.openapi({ description: `${description} Base units of the asset; empty where it is not known.` })
const usd = (description: string) =>
  Usd.openapi({
    description: `${description} US dollars, exact to the last digit; empty where it is not known.`,
  })

const figures = (amount: typeof native) =>
  z.strictObject({
    opening: amount('Worth when the period begins.'),
    deposits: amount('Paid in for shares.'),
    withdrawals: amount('Paid out for shares.'),
    transfersIn: amount('Worth of shares that came from other wallets, in their blocks.'),
    transfersOut: amount('Worth of shares that went to other wallets, in their blocks.'),
    gain: amount('closing − opening − deposits + withdrawals − transfersIn + transfersOut.'),
    yield: amount('Of the gain, what the shares earned in their asset.'),
    priceEffect: amount('Of the gain, what the price of the asset did.'),
    closing: amount('Worth when the period ends.'),
    realised: amount('Gain of shares that were redeemed or sent in the period, over what they had cost.'),
    unrealisedOpening: amount('Worth less cost of the shares that were there when the period began.'),
    unrealisedClosing: amount('Worth less cost of the shares that are there when it ends.'),
  })

const NativeFigures = figures(native).openapi('StatementAmounts')
const UsdFigures = figures(usd).openapi('StatementUsd')

/** What a statement does not look at. */
export const NOT_INCLUDED = ['lending', 'fixed-term', 'amm', 'svm'] as const

export const Statement = z.strictObject({
  wallets: z.array(Address),
  fromTimestamp: z.int(),
  toTimestamp: z.int(),
  method: z.enum(['fifo', 'average']),
  total: z.strictObject({ usd: UsdFigures }),
  assets: z.array(
    z
      .strictObject({ asset: AssetOnNetwork, native: NativeFigures, usd: UsdFigures })
      .openapi('StatementAsset', { description: 'All positions of one asset together.' }),
  ),
  data: z.array(
    z
      .strictObject({
        vaultId: VaultListItem.shape.vaultId,
        address: VaultListItem.shape.address,
        name: z.string(),
        network: NetworkShape,
        protocol: ProtocolShape,
        asset: AssetShape,
        shares: z.strictObject({
          opening: Amount.openapi({ description: 'Base units of the share.' }),
          closing: Amount.openapi({ description: 'Base units of the share.' }),
        }),
        native: NativeFigures,
        usd: UsdFigures,
      })
      .openapi('StatementPosition'),
  ),
  rewards: z.array(
    z
      .strictObject({
        network: NetworkShape,
        token: Address,
        asset: AssetShape.optional(),
        source: z.string(),
        amountNative: Amount,
        amountUsd: usd('At the prices of the moments at which it was paid.'),
      })
      .openapi('StatementReward', {
        description:
          'What distributors paid out in the period, by token, of all assets and protocols. It is in no other figure, unless the token is itself a share of a vault: those are among transfersIn.',
      }),
  ),
  notIncluded: z
    .array(z.enum(NOT_INCLUDED))
    .openapi({ description: 'What a wallet may have beside this, and no statement tells of.' }),
  incompleteNetworks: z.array(z.string()).openapi({
    description:
      'Networks that have not been read beyond the end of the period: more may come there that belongs to it.',
  }),
})

const figuresWire = (of: Figures, write: (amount: bigint | undefined) => string) => ({
  opening: write(of.opening),
  deposits: write(of.deposits),
  withdrawals: write(of.withdrawals),
  transfersIn: write(of.transfersIn),
  transfersOut: write(of.transfersOut),
  gain: write(of.gain),
  yield: write(of.yield),
  priceEffect: write(of.priceEffect),
  closing: write(of.closing),
  realised: write(of.realised),
  unrealisedOpening: write(of.unrealisedOpening),
  unrealisedClosing: write(of.unrealisedClosing),
})

export const nativeWire = (of: Figures) => figuresWire(of, amount => amount?.toString() ?? '')
export const usdWire = (of: Figures) => figuresWire(of, usdText)
