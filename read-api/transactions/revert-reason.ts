import { decodeErrorResult, type Hex, parseAbi, slice } from 'viem'

/**
 * Errors of the standards and of the protocols that are handled here, as their sources declare them: OpenZeppelin's
 * ERC-20, ERC-4626, Pausable and access control, Ethena's StakedUSDeV2, Compound's Comet, Euler's EVK, MetaMorpho.
 */
const knownErrors = parseAbi([
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC20InvalidSender(address sender)',
  'error ERC4626ExceededMaxDeposit(address receiver, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxWithdraw(address owner, uint256 assets, uint256 max)',
  'error ERC4626ExceededMaxRedeem(address owner, uint256 shares, uint256 max)',
  'error SafeERC20FailedOperation(address token)',
  'error EnforcedPause()',
  'error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)',
  'error OwnableUnauthorizedAccount(address account)',
  'error OperationNotAllowed()',
  'error InvalidCooldown()',
  'error ExcessiveRedeemAmount()',
  'error ExcessiveWithdrawAmount()',
  'error MinSharesViolation()',
  'error Paused()',
  'error Unauthorized()',
  'error NotCollateralized()',
  'error TransferInFailed()',
  'error TransferOutFailed()',
  'error E_ZeroShares()',
  'error E_SupplyCapExceeded()',
  'error E_OperationDisabled()',
  'error E_InsufficientCash()',
  'error E_InsufficientBalance()',
  'error AllCapsReached()',
  'error NotEnoughLiquidity()',
])

/** @see Errors.sol of @aave/core-v3: the pool reverts with these numbers. */
const aaveErrors: Record<string, string> = {
  '24': 'the amount is too small to be minted',
  '25': 'the amount is too small to be burnt',
  '26': 'the amount must be greater than 0',
  '27': 'the reserve is inactive',
  '28': 'the reserve is frozen',
  '29': 'the reserve is paused',
  '30': 'borrowing is not enabled',
  '32': 'not enough available user balance',
  '34': 'the collateral balance is 0',
  '35': 'the health factor would fall below the liquidation threshold',
  '36': 'there is not enough collateral to cover a new borrow',
  '39': 'there is no debt of this kind',
  '43': 'nothing of the asset is supplied',
  '50': 'the borrow cap is exceeded',
  '51': 'the supply cap is exceeded',
  '53': 'the debt ceiling is exceeded',
  '57': 'collateral without an LTV has to be withdrawn first',
  '58': 'the asset is not of the eMode category of the account',
  '59': 'the price oracle sentinel does not allow it now',
  '60': 'the asset is not borrowable in isolation mode',
  '62': 'the account is in isolation mode, or the LTV of the asset is 0',
  '89': 'a siloed asset can only be borrowed by itself',
}

/** Revert data in words. */
export function revertReason(data: Hex): string {
  if (data === '0x') return 'it reverts without a reason'
  try {
    const { errorName, args } = decodeErrorResult({ abi: knownErrors, data })
    if (errorName === 'Error') return aaveErrors[String(args[0])] ?? String(args[0])
    return `${errorName}(${(args ?? []).join(', ')})`
  } catch {
    return `it reverts with the error ${slice(data, 0, Math.min(4, (data.length - 2) >> 1))}`
  }
}
