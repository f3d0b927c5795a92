import { decodeErrorResult, type Hex, parseAbi, slice } from 'viem'

/**
 * Errors of the standards and of the protocols that are handled here, as their sources declare them: OpenZeppelin's
 * ERC-20, ERC-4626, Pausable and access control, Ethena's StakedUSDeV2, Compound's Comet, Euler's EVK, connector and price
 * oracles, MetaMorpho, Pendle's Errors.sol.
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
  'error BadAsset()',
  'error BadPrice()',
  'error BorrowTooSmall()',
  'error NoSelfTransfer()',
  'error SupplyCapExceeded()',
  'error E_ZeroShares()',
  'error E_ZeroAssets()',
  'error E_SupplyCapExceeded()',
  'error E_BorrowCapExceeded()',
  'error E_OperationDisabled()',
  'error E_InsufficientCash()',
  'error E_InsufficientBalance()',
  'error E_InsufficientAllowance()',
  'error E_AccountLiquidity()',
  'error E_ControllerDisabled()',
  'error E_OutstandingDebt()',
  'error E_RepayTooMuch()',
  'error E_NoPriceOracle()',
  'error E_BadAssetReceiver()',
  'error E_BadSharesReceiver()',
  'error E_NotHookTarget()',
  'error EVC_NotAuthorized()',
  'error EVC_ControllerViolation()',
  'error EVC_LockdownMode()',
  'error PriceOracle_InvalidAnswer()',
  'error PriceOracle_NotSupported(address base, address quote)',
  'error PriceOracle_TooStale(uint256 staleness, uint256 maxStaleness)',
  'error AllCapsReached()',
  'error NotEnoughLiquidity()',
  'error MarketExpired()',
  'error MarketProportionTooHigh(int256 proportion, int256 maxProportion)',
  'error MarketExchangeRateBelowOne(int256 exchangeRate)',
  'error MarketInsufficientPtForTrade(int256 currentAmount, int256 requiredAmount)',
  'error MarketZeroTotalPtOrTotalAsset(int256 totalPt, int256 totalAsset)',
  'error MarketZeroNetLPFee()',
  'error ApproxFail()',
])

/** What errors mean that their names alone do not tell a user. */
const words: Partial<Record<string, string>> = {
  NotCollateralized: 'the collateral would not cover the debt',
  BorrowTooSmall: 'the debt would be smaller than the least that the market lends',
  BadPrice: 'a price feed of the market has no answer',
  SupplyCapExceeded: 'the supply cap of the asset is exceeded',
  E_AccountLiquidity: 'the collateral would not cover what the account owes',
  E_ControllerDisabled: 'the account has not made the vault its controller',
  E_OperationDisabled: "the vault's governor has switched the operation off",
  E_InsufficientCash: 'the vault has lent out too much to pay this now',
  E_OutstandingDebt: 'the account still owes the vault',
  E_NoPriceOracle: 'the vault that lends has no price oracle',
  E_BadAssetReceiver: 'the receiver is a sub-account, which cannot move tokens',
  EVC_NotAuthorized: 'the sender may not act for the account',
  EVC_ControllerViolation: 'another vault decides over the account',
  EVC_LockdownMode: 'the wallet has locked its accounts',
  PriceOracle_InvalidAnswer: "a price feed of the vault's oracle has no answer",
  PriceOracle_NotSupported: "the vault's oracle has no price for an asset of the account",
  MarketExpired: 'the market has ended: its PT is redeemed',
  MarketProportionTooHigh: 'the pool would be left with next to no wrapped tokens',
  MarketExchangeRateBelowOne:
    'the trade would bring the price of the PT over one of the asset: it is too large for the pool',
  MarketInsufficientPtForTrade: 'the pool does not hold so much PT',
  MarketZeroTotalPtOrTotalAsset: 'there is nothing in the pool',
  MarketZeroNetLPFee:
    'so shortly before the expiry the fee of so small a trade rounds to nothing, which the market refuses: from the expiry on PT are redeemed',
  ApproxFail: 'the pool has no price for so much: the trade is too large or too small',
  PriceOracle_TooStale: "a price of the vault's oracle is older than it may be",
}

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
    const told = `${errorName}(${(args ?? []).join(', ')})`
    const meaning = words[errorName]
    return meaning ? `${meaning} (${told})` : told
  } catch {
    return `it reverts with the error ${slice(data, 0, Math.min(4, (data.length - 2) >> 1))}`
  }
}
