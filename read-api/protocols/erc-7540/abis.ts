import { parseAbi } from 'viem'

/** @see ERC-7540, ERC-7575 (share) and ERC-7887 (cancellation) */
export const erc7540Abi = parseAbi([
  'function supportsInterface(bytes4 interfaceId) view returns (bool)',
  'function share() view returns (address)',
  'function requestDeposit(uint256 assets, address controller, address owner) returns (uint256)',
  'function requestRedeem(uint256 shares, address controller, address owner) returns (uint256)',
  'function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256)',
  'function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256)',
  'function pendingRedeemRequest(uint256 requestId, address controller) view returns (uint256)',
  'function claimableRedeemRequest(uint256 requestId, address controller) view returns (uint256)',
  'function deposit(uint256 assets, address receiver, address controller) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address controller) returns (uint256)',
  'function pendingCancelDepositRequest(uint256 requestId, address controller) view returns (bool)',
  'function claimableCancelDepositRequest(uint256 requestId, address controller) view returns (uint256)',
  'function pendingCancelRedeemRequest(uint256 requestId, address controller) view returns (bool)',
  'function claimableCancelRedeemRequest(uint256 requestId, address controller) view returns (uint256)',
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function cancelRedeemRequest(uint256 requestId, address controller)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
  'function claimCancelRedeemRequest(uint256 requestId, address receiver, address controller)',
])

/** @see Vault.sol of hopperlabsxyz/lagoon-v0, v0.5.0; the preview is there since v0.6.0 */
export const lagoonAbi = parseAbi([
  'function isTotalAssetsValid() view returns (bool)',
  'function previewSyncDeposit(uint256 assets) view returns (uint256)',
  'function syncDeposit(uint256 assets, address receiver, address referral) payable returns (uint256)',
])
