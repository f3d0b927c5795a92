// Generated from EVault.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const EVaultCreated: w.EventAbi<{ creator: string; asset: string; dToken: string }> = {
  name: 'EVaultCreated',
  signature: 'EVaultCreated(address,address,address)',
  topic0: '0x0cd345140b9008a43f99a999a328ece572a0193e8c8bf5f5755585e6f293b85e',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    creator: w.address(w.topic(log, 1), 2),
    asset: w.address(w.topic(log, 2), 2),
    dToken: w.address(log.data, 2),
  }),
}

export const GovSetCaps: w.EventAbi<{ newSupplyCap: number; newBorrowCap: number }> = {
  name: 'GovSetCaps',
  signature: 'GovSetCaps(uint16,uint16)',
  topic0: '0xadbdcd178dfddc478805a3703b6cf3b72ca5e78ecebacffe1aad03188cc1cbf4',
  topicCount: 1,
  dataLength: 64,
  decode: log => ({
    newSupplyCap: w.smallUint(log.data, 2, 16),
    newBorrowCap: w.smallUint(log.data, 66, 16),
  }),
}

export const GovSetInterestFee: w.EventAbi<{ newFee: number }> = {
  name: 'GovSetInterestFee',
  signature: 'GovSetInterestFee(uint16)',
  topic0: '0x634a58674e370383703eff32d9d4e4b3d1add94d50e8bcb631b04995d8e47341',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    newFee: w.smallUint(log.data, 2, 16),
  }),
}

export const GovSetMaxLiquidationDiscount: w.EventAbi<{ newDiscount: number }> = {
  name: 'GovSetMaxLiquidationDiscount',
  signature: 'GovSetMaxLiquidationDiscount(uint16)',
  topic0: '0x558a63d245d08220a137de3573129d3921e70e806adccf3a068c4723b9b3322d',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    newDiscount: w.smallUint(log.data, 2, 16),
  }),
}

export const GovSetHookConfig: w.EventAbi<{ newHookTarget: string; newHookedOps: number }> = {
  name: 'GovSetHookConfig',
  signature: 'GovSetHookConfig(address,uint32)',
  topic0: '0xabadffb695acdb6863cd1324a91e5c359712b9110a55f9103774e2fb67dedb6a',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    newHookTarget: w.address(w.topic(log, 1), 2),
    newHookedOps: w.smallUint(log.data, 2, 32),
  }),
}

export const GovSetInterestRateModel: w.EventAbi<{ newInterestRateModel: string }> = {
  name: 'GovSetInterestRateModel',
  signature: 'GovSetInterestRateModel(address)',
  topic0: '0xe5f2a795fc5f8baf1b05659293834c88859298226d87422c88624b4c9f4d3a43',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    newInterestRateModel: w.address(log.data, 2),
  }),
}

export const VaultStatus: w.EventAbi<{ totalShares: bigint; totalBorrows: bigint; accumulatedFees: bigint; cash: bigint; interestAccumulator: bigint; interestRate: bigint; timestamp: bigint }> = {
  name: 'VaultStatus',
  signature: 'VaultStatus(uint256,uint256,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0x80b61abbfc5f73cfe5cf93cec97a69ed20643dc6c6f1833b05a1560aa164e24c',
  topicCount: 1,
  dataLength: 224,
  decode: log => ({
    totalShares: w.uint(log.data, 2, 256),
    totalBorrows: w.uint(log.data, 66, 256),
    accumulatedFees: w.uint(log.data, 130, 256),
    cash: w.uint(log.data, 194, 256),
    interestAccumulator: w.uint(log.data, 258, 256),
    interestRate: w.uint(log.data, 322, 256),
    timestamp: w.uint(log.data, 386, 256),
  }),
}

export const Borrow: w.EventAbi<{ account: string; assets: bigint }> = {
  name: 'Borrow',
  signature: 'Borrow(address,uint256)',
  topic0: '0xcbc04eca7e9da35cb1393a6135a199ca52e450d5e9251cbd99f7847d33a36750',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    account: w.address(w.topic(log, 1), 2),
    assets: w.uint(log.data, 2, 256),
  }),
}

export const Repay: w.EventAbi<{ account: string; assets: bigint }> = {
  name: 'Repay',
  signature: 'Repay(address,uint256)',
  topic0: '0x5c16de4f8b59bd9caf0f49a545f25819a895ed223294290b408242e72a594231',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    account: w.address(w.topic(log, 1), 2),
    assets: w.uint(log.data, 2, 256),
  }),
}

export const PullDebt: w.EventAbi<{ from: string; to: string; assets: bigint }> = {
  name: 'PullDebt',
  signature: 'PullDebt(address,address,uint256)',
  topic0: '0xe6d0bfd9025bf59969101a13cf02e3ba2811b533816c47d7155546c7c8a1048f',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    assets: w.uint(log.data, 2, 256),
  }),
}

export const Liquidate: w.EventAbi<{ liquidator: string; violator: string; collateral: string; repayAssets: bigint; yieldBalance: bigint }> = {
  name: 'Liquidate',
  signature: 'Liquidate(address,address,address,uint256,uint256)',
  topic0: '0x8246cc71ab01533b5bebc672a636df812f10637ad720797319d5741d5ebb3962',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    liquidator: w.address(w.topic(log, 1), 2),
    violator: w.address(w.topic(log, 2), 2),
    collateral: w.address(log.data, 2),
    repayAssets: w.uint(log.data, 66, 256),
    yieldBalance: w.uint(log.data, 130, 256),
  }),
}

export const DebtSocialized: w.EventAbi<{ account: string; assets: bigint }> = {
  name: 'DebtSocialized',
  signature: 'DebtSocialized(address,uint256)',
  topic0: '0xe786d0bc2e83bf230ed9895a9c4d7756ab0c6e22eb8a4ff69c161ece76bd36df',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    account: w.address(w.topic(log, 1), 2),
    assets: w.uint(log.data, 2, 256),
  }),
}

export const GovSetLTV: w.EventAbi<{ collateral: string; borrowLTV: number; liquidationLTV: number; initialLiquidationLTV: number; targetTimestamp: number; rampDuration: number }> = {
  name: 'GovSetLTV',
  signature: 'GovSetLTV(address,uint16,uint16,uint16,uint48,uint32)',
  topic0: '0xc69392046c26324e9eee913208811542aabcbde6a41ce9ee3b45473b18eb3c76',
  topicCount: 2,
  dataLength: 160,
  decode: log => ({
    collateral: w.address(w.topic(log, 1), 2),
    borrowLTV: w.smallUint(log.data, 2, 16),
    liquidationLTV: w.smallUint(log.data, 66, 16),
    initialLiquidationLTV: w.smallUint(log.data, 130, 16),
    targetTimestamp: w.smallUint(log.data, 194, 48),
    rampDuration: w.smallUint(log.data, 258, 32),
  }),
}

export const events = [EVaultCreated, GovSetCaps, GovSetInterestFee, GovSetMaxLiquidationDiscount, GovSetHookConfig, GovSetInterestRateModel, VaultStatus, Borrow, Repay, PullDebt, Liquidate, DebtSocialized, GovSetLTV] as const

export const functions = {
  debtOfExact: { signature: 'debtOfExact(address)', selector: '0xab49b7f1', inputs: ['address'] },
  totalBorrowsExact: { signature: 'totalBorrowsExact()', selector: '0xe388be7b', inputs: [] },
  interestAccumulator: { signature: 'interestAccumulator()', selector: '0x087a6007', inputs: [] },
  oracle: { signature: 'oracle()', selector: '0x7dc0d1d0', inputs: [] },
  unitOfAccount: { signature: 'unitOfAccount()', selector: '0x3e833364', inputs: [] },
  asset: { signature: 'asset()', selector: '0x38d52e0f', inputs: [] },
  convertToAssets: { signature: 'convertToAssets(uint256)', selector: '0x07a2d13a', inputs: ['uint256'] },
} as const satisfies Record<string, w.FunctionAbi>
