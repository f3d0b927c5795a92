import * as AdaptiveCurveIrm from '../../../abi/morpho-blue/AdaptiveCurveIrm.ts'
import { functions as Irm } from '../../../abi/morpho-blue/Irm.ts'
import * as Morpho from '../../../abi/morpho-blue/Morpho.ts'
import { functions as oracle } from '../../../abi/morpho-blue/Oracle.ts'
import { encodeCall, uint } from '../../../abi/words.ts'
import type { EventData } from '../../../db/events/vocabulary.ts'
import adaptiveModels from '../../../db/registry/contracts/morpho-adaptive-irm.json' with { type: 'json' }
import morphoBlue from '../../../db/registry/contracts/morpho-blue.json' with { type: 'json' }
import { ZERO_ADDRESS } from '../../../db/units.ts'
import { on, some } from '../../handling/decoder.ts'
import { addressesByNetwork } from '../../knowledge/address-tables.ts'
import { defineProtocol, type StateRead } from '../../protocol.ts'
import { answered } from '../../samples/answers.ts'

type Created = EventData<'MarketCreated'>

/** What a market's oracle says one unit of collateral is worth in the loan asset. It may revert: then that is what is known. */
function readPrice(morpho: string, market: string, address: string): StateRead {
  return {
    key: `morpho price ${market}`,
    calls: [{ to: address, data: encodeCall(oracle.price) }],
    events: ([answer]) => {
      const price = answered(answer, hex => uint(hex, 2, 256))
      return [{ type: 'OraclePriceSampled', contract: morpho, data: { market, oracle: address, price } }]
    },
  }
}

/** Models whose own logs say all of the rate. */
const ADAPTIVE = new Set(Object.values(adaptiveModels.networks).flat())

/** The rate per second that holds from here on, as the market's model has it. */
function readRate(
  morpho: string,
  { market, loanAsset, collateralAsset, oracle, irm, lltvWad }: Created,
): StateRead {
  const parameters = [
    loanAsset,
    collateralAsset ?? ZERO_ADDRESS,
    oracle ?? ZERO_ADDRESS,
    irm ?? ZERO_ADDRESS,
    lltvWad ?? 0n,
  ]
  return {
    key: `morpho rate ${market}`,
    calls: [{ to: morpho, data: encodeCall(Morpho.functions.market, market) }],
    follow: ([state]) => {
      const words = answered(state, hex => Array.from({ length: 6 }, (_, i) => uint(hex, 2 + 64 * i, 128)))
      return words && irm ? [{ to: irm, data: encodeCall(Irm.borrowRateView, ...parameters, ...words) }] : []
    },
    events: ([, rate]) => {
      const rateWad = answered(rate, hex => uint(hex, 2, 256))
      return rateWad === undefined
        ? []
        : [{ type: 'BorrowRateSampled', contract: morpho, data: { market, rateWad } }]
    },
  }
}

/**
 * Morpho Blue: one contract a network holds all markets; a market is its bytes32 id. The events are declared in
 * EventsLib, so that the ABI of the contract alone (Morpho.sol, solc 0.8.19) has none of them. The price of a market's
 * oracle is no log either: it is read after blocks in which the market moved, and hourly; so is the rate, where the market's
 * model is not the adaptive one.
 */
export default defineProtocol({
  name: 'morpho-blue',
  sources: [
    {
      kind: 'morpho-blue',
      at: addressesByNetwork(morphoBlue),
      decoders: [
        on(Morpho.CreateMarket, 'MarketCreated', ({ id, marketParams: p }) => ({
          market: id,
          loanAsset: p.loanToken,
          collateralAsset: some(p.collateralToken),
          oracle: some(p.oracle),
          irm: some(p.irm),
          lltvWad: p.lltv,
        })),
        on(Morpho.Supply, 'Supplied', a => ({
          market: a.id,
          sender: a.caller,
          onBehalf: a.onBehalf,
          assets: a.assets,
          shares: a.shares,
        })),
        on(Morpho.Withdraw, 'Withdrawn', a => ({
          market: a.id,
          sender: a.caller,
          onBehalf: a.onBehalf,
          receiver: a.receiver,
          assets: a.assets,
          shares: a.shares,
        })),
        on(Morpho.Borrow, 'Borrowed', a => ({
          market: a.id,
          sender: a.caller,
          onBehalf: a.onBehalf,
          receiver: a.receiver,
          assets: a.assets,
          shares: a.shares,
        })),
        on(Morpho.Repay, 'Repaid', a => ({
          market: a.id,
          sender: a.caller,
          onBehalf: a.onBehalf,
          assets: a.assets,
          shares: a.shares,
        })),
        on(Morpho.SupplyCollateral, 'CollateralSupplied', a => ({
          market: a.id,
          sender: a.caller,
          onBehalf: a.onBehalf,
          assets: a.assets,
        })),
        on(Morpho.WithdrawCollateral, 'CollateralWithdrawn', a => ({
          market: a.id,
          sender: a.caller,
          onBehalf: a.onBehalf,
          receiver: a.receiver,
          assets: a.assets,
        })),
        on(Morpho.Liquidate, 'Liquidated', a => ({
          market: a.id,
          liquidator: a.caller,
          borrower: a.borrower,
          repaidAssets: a.repaidAssets,
          repaidShares: a.repaidShares,
          seizedAssets: a.seizedAssets,
          badDebtAssets: a.badDebtAssets,
          badDebtShares: a.badDebtShares,
        })),
        on(Morpho.AccrueInterest, 'InterestAccrued', a => ({
          market: a.id,
          interest: a.interest,
          feeShares: a.feeShares,
          previousBorrowRateWad: a.prevBorrowRate,
        })),
        on(Morpho.FlashLoan, 'FlashLoaned', a => ({ market: a.token, sender: a.caller, assets: a.assets })),
        on(Morpho.SetFee, 'FeeChanged', a => ({ kind: 'protocol', feeWad: a.newFee, market: a.id })),
        on(Morpho.EnableIrm, 'RateModelChanged', a => ({ model: a.irm, enabled: true })),
        on(Morpho.SetOwner, 'OwnerChanged', a => ({ owner: a.newOwner })),
        on(Morpho.SetFeeRecipient, 'OwnerChanged', a => ({ owner: a.newFeeRecipient, role: 'feeRecipient' })),
      ],
    },
    {
      kind: 'morpho-adaptive-irm',
      at: 'discovered',
      decoders: [
        on(AdaptiveCurveIrm.BorrowRateUpdate, 'RateAtTargetChanged', a => ({
          market: a.id,
          averageRateWad: a.avgBorrowRate,
          rateAtTargetWad: a.rateAtTarget,
        })),
      ],
    },
  ],
  assets: event => (event.type === 'MarketCreated' ? [event.data.loanAsset, event.data.collateralAsset] : []),
  teaches: ['MarketCreated'],
  // Whatever model a market has, only the adaptive one has logs.
  watches: event =>
    event.protocol === 'morpho-blue' && event.type === 'MarketCreated' && event.data.irm !== undefined
      ? [{ kind: 'morpho-adaptive-irm', contract: event.data.irm }]
      : [],
  samples: event => {
    if (event.protocol !== 'morpho-blue' || event.type !== 'MarketCreated') return []
    const { market, oracle: address, irm } = event.data
    const reads = address ? [readPrice(event.contract, market, address)] : []
    if (irm && !ADAPTIVE.has(irm)) reads.push(readRate(event.contract, event.data))
    return reads.map(read => ({ subject: market, read, opened: market }))
  },
  wants: event =>
    event.protocol === 'morpho-blue' && 'market' in event.data && event.data.market !== undefined
      ? { subjects: [event.data.market] }
      : undefined,
})
