import { parseAbi } from 'viem'

/** @see TokenMessengerV2.sol of circlefin/evm-cctp-contracts (v2.1) */
export const tokenMessengerAbi = parseAbi([
  'function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)',
  'function depositForBurnWithHook(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold, bytes hookData)',
  'function getMinFeeAmount(uint256 amount) view returns (uint256)',
  'function localMinter() view returns (address)',
  'function remoteTokenMessengers(uint32 domain) view returns (bytes32)',
  'function isDenylisted(address account) view returns (bool)',
])

/** @see MessageTransmitterV2.sol */
export const messageTransmitterAbi = parseAbi([
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function usedNonces(bytes32 nonce) view returns (uint256)',
  'function paused() view returns (bool)',
  'function isEnabledAttester(address attester) view returns (bool)',
  'function signatureThreshold() view returns (uint256)',
])

/** @see TokenMinterV2.sol */
export const tokenMinterAbi = parseAbi([
  'function burnLimitsPerMessage(address token) view returns (uint256)',
  'function paused() view returns (bool)',
])
