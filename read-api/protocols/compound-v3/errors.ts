import type { RevertWords } from '../../transactions/revert-reason.ts'

/** @see CometMainInterface.sol of compound-finance/comet */
export const errors: RevertWords = {
  abi: [
    'error Paused()',
    'error Unauthorized()',
    'error NotCollateralized()',
    'error TransferInFailed()',
    'error TransferOutFailed()',
    'error BadAsset()',
    'error BadPrice()',
    'error BorrowTooSmall()',
    'error NoSelfTransfer()',
    'error SupplyCapExceeded()',
  ],
  words: {
    NotCollateralized: 'the collateral would not cover the debt',
    BadPrice: 'a price feed of the market has no answer',
    BorrowTooSmall: 'the debt would be smaller than the least that the market lends',
    SupplyCapExceeded: 'the supply cap of the asset is exceeded',
  },
}
