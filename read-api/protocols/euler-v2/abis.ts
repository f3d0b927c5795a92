import { parseAbi } from 'viem'

/** @see IEVault.sol of euler-xyz/euler-vault-kit */
export const evkAbi = parseAbi([
  'function EVC() view returns (address)',
  'function hookConfig() view returns (address hookTarget, uint32 hookedOps)',
  'function caps() view returns (uint16 supplyCap, uint16 borrowCap)',
  'function cash() view returns (uint256)',
  'function debtOf(address account) view returns (uint256)',
  'function oracle() view returns (address)',
  'function unitOfAccount() view returns (address)',
  'function totalBorrows() view returns (uint256)',
  'function interestRate() view returns (uint256)',
  'function interestFee() view returns (uint16)',
  'function interestAccumulator() view returns (uint256)',
  'function LTVBorrow(address collateral) view returns (uint16)',
  'function accountLiquidity(address account, bool liquidation) view returns (uint256 collateralValue, uint256 liabilityValue)',
  'function borrow(uint256 amount, address receiver) returns (uint256)',
  'function repay(uint256 amount, address receiver) returns (uint256)',
  'function disableController()',
])

/** @see IEthereumVaultConnector.sol of euler-xyz/ethereum-vault-connector */
export const evcAbi = parseAbi([
  'struct BatchItem { address targetContract; address onBehalfOfAccount; uint256 value; bytes data; }',
  'function getControllers(address account) view returns (address[])',
  'function getCollaterals(address account) view returns (address[])',
  'function getAccountOwner(address account) view returns (address)',
  'function enableCollateral(address account, address vault) payable',
  'function enableController(address account, address vault) payable',
  'function batch(BatchItem[] items) payable',
])

/** @see IPriceOracle.sol of euler-xyz/euler-price-oracle */
export const eulerOracleAbi = parseAbi([
  'function getQuotes(uint256 inAmount, address base, address quote) view returns (uint256 bidOutAmount, uint256 askOutAmount)',
])
