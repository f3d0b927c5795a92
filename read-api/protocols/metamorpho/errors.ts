import type { RevertWords } from '../../transactions/revert-reason.ts'

/** @see ErrorsLib.sol of MetaMorpho */
export const errors: RevertWords = {
  abi: ['error AllCapsReached()', 'error NotEnoughLiquidity()'],
}
