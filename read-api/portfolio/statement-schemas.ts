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
import { STAKE_KINDS } from './stake.ts'
import { type Figures, usdText } from './statement.ts'

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

/** What a statement does not look at. */
export const NOT_INCLUDED = [
  'svm',
  'fixed-term-liquidity',
  'yield-tokens',
  'pending-requests',
  'unclaimed-rewards',
] as const

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
        kind: z.enum(['vault', ...STAKE_KINDS]).openapi({
          description:
            'vault: shares of a vault, what is supplied to Aave and Comets among them; supplied, collateral, debt: in a lending market; fixed-term: principal tokens; amm: the part of one of the two assets of a vault of liquidity.',
        }),
        vaultId: z.string().optional().openapi({
          description: 'Of vaults, fixed terms and vaults of liquidity.',
        }),
        marketId: z.string().optional().openapi({
          description: 'Of lending markets; of Euler, where a vault is in many, the address of the vault.',
        }),
        account: Address.optional().openapi({
          description:
            'Whose position it is: a wallet, or an account that it has in the protocol. Absent for vaults, where all wallets count together.',
        }),
        address: Address.openapi({ description: 'The contract that keeps it.' }),
        name: z.string(),
        network: NetworkShape,
        protocol: ProtocolShape,
        asset: AssetShape,
        shares: z.strictObject({
          opening: Amount.openapi({ description: UNITS }),
          closing: Amount.openapi({ description: UNITS }),
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
  notIncluded: z.array(z.enum(NOT_INCLUDED)).openapi({
    description:
      'What a wallet may have beside this, and no statement tells of. svm: anything on Solana; fixed-term-liquidity: what it gave to the pools of fixed terms; yield-tokens: the other half of what principal tokens were split from; pending-requests: deposits and redemptions that it asked a vault for and that are not carried out; unclaimed-rewards: what distributors owe it.',
  }),
  incompleteNetworks: z.array(z.string()).openapi({
    description:
      'Networks of which vaults, lending, fixed terms or liquidity have not been read beyond the end of the period: more may come there that belongs to it.',
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
