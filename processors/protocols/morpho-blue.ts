import * as Morpho from '../../abi/morpho-blue/Morpho.ts'
import morphoBlue from '../../db/registry/contracts/morpho-blue.json' with { type: 'json' }
import { on, some } from '../decoder.ts'
import { defineProtocol } from '../protocol.ts'
import { addressesByNetwork } from '../registry.ts'

/**
 * Morpho Blue: one contract a network holds all markets; a market is its bytes32 id. The events are declared in
 * EventsLib, so that the ABI of the contract alone (Morpho.sol, solc 0.8.19) has none of them.
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
  ],
})
