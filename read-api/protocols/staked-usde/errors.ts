import type { RevertWords } from '../../transactions/revert-reason.ts'

/** @see IStakedUSDeCooldown.sol and IStakedUSDe.sol of Ethena */
export const errors: RevertWords = {
  abi: [
    'error OperationNotAllowed()',
    'error InvalidCooldown()',
    'error ExcessiveRedeemAmount()',
    'error ExcessiveWithdrawAmount()',
    'error MinSharesViolation()',
  ],
}
