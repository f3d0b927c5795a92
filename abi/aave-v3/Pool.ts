// Generated from Pool.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Supply: w.EventAbi<{ reserve: string; user: string; onBehalfOf: string; amount: bigint; referralCode: number }> = {
  name: 'Supply',
  signature: 'Supply(address,address,address,uint256,uint16)',
  topic0: '0x2b627736bca15cd5381dcf80b0bf11fd197d01a037c52b927a881a10fb73ba61',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    user: w.address(log.data, 2),
    onBehalfOf: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 66, 256),
    referralCode: w.smallUint(w.topic(log, 3), 2, 16),
  }),
}

export const Withdraw: w.EventAbi<{ reserve: string; user: string; to: string; amount: bigint }> = {
  name: 'Withdraw',
  signature: 'Withdraw(address,address,address,uint256)',
  topic0: '0x3115d1449a7b732c986cba18244e897a450f61e1bb8d589cd2e69e6c8924f9f7',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    user: w.address(w.topic(log, 2), 2),
    to: w.address(w.topic(log, 3), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const Borrow: w.EventAbi<{ reserve: string; user: string; onBehalfOf: string; amount: bigint; interestRateMode: number; borrowRate: bigint; referralCode: number }> = {
  name: 'Borrow',
  signature: 'Borrow(address,address,address,uint256,uint8,uint256,uint16)',
  topic0: '0xb3d084820fb1a9decffb176436bd02558d15fac9b0ddfed8c465bc7359d7dce0',
  topicCount: 4,
  dataLength: 128,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    user: w.address(log.data, 2),
    onBehalfOf: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 66, 256),
    interestRateMode: w.smallUint(log.data, 130, 8),
    borrowRate: w.uint(log.data, 194, 256),
    referralCode: w.smallUint(w.topic(log, 3), 2, 16),
  }),
}

export const Repay: w.EventAbi<{ reserve: string; user: string; repayer: string; amount: bigint; useATokens: boolean }> = {
  name: 'Repay',
  signature: 'Repay(address,address,address,uint256,bool)',
  topic0: '0xa534c8dbe71f871f9f3530e97a74601fea17b426cae02e1c5aee42c96c784051',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    user: w.address(w.topic(log, 2), 2),
    repayer: w.address(w.topic(log, 3), 2),
    amount: w.uint(log.data, 2, 256),
    useATokens: w.bool(log.data, 66),
  }),
}

export const LiquidationCall: w.EventAbi<{ collateralAsset: string; debtAsset: string; user: string; debtToCover: bigint; liquidatedCollateralAmount: bigint; liquidator: string; receiveAToken: boolean }> = {
  name: 'LiquidationCall',
  signature: 'LiquidationCall(address,address,address,uint256,uint256,address,bool)',
  topic0: '0xe413a321e8681d831f4dbccbca790d2952b56f977908e45be37335533e005286',
  topicCount: 4,
  dataLength: 128,
  decode: log => ({
    collateralAsset: w.address(w.topic(log, 1), 2),
    debtAsset: w.address(w.topic(log, 2), 2),
    user: w.address(w.topic(log, 3), 2),
    debtToCover: w.uint(log.data, 2, 256),
    liquidatedCollateralAmount: w.uint(log.data, 66, 256),
    liquidator: w.address(log.data, 130),
    receiveAToken: w.bool(log.data, 194),
  }),
}

export const FlashLoan: w.EventAbi<{ target: string; initiator: string; asset: string; amount: bigint; interestRateMode: number; premium: bigint; referralCode: number }> = {
  name: 'FlashLoan',
  signature: 'FlashLoan(address,address,address,uint256,uint8,uint256,uint16)',
  topic0: '0xefefaba5e921573100900a3ad9cf29f222d995fb3b6045797eaea7521bd8d6f0',
  topicCount: 4,
  dataLength: 128,
  decode: log => ({
    target: w.address(w.topic(log, 1), 2),
    initiator: w.address(log.data, 2),
    asset: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 66, 256),
    interestRateMode: w.smallUint(log.data, 130, 8),
    premium: w.uint(log.data, 194, 256),
    referralCode: w.smallUint(w.topic(log, 3), 2, 16),
  }),
}

export const ReserveDataUpdated: w.EventAbi<{ reserve: string; liquidityRate: bigint; stableBorrowRate: bigint; variableBorrowRate: bigint; liquidityIndex: bigint; variableBorrowIndex: bigint }> = {
  name: 'ReserveDataUpdated',
  signature: 'ReserveDataUpdated(address,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0x804c9b842b2748a22bb64b345453a3de7ca54a6ca45ce00d415894979e22897a',
  topicCount: 2,
  dataLength: 160,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    liquidityRate: w.uint(log.data, 2, 256),
    stableBorrowRate: w.uint(log.data, 66, 256),
    variableBorrowRate: w.uint(log.data, 130, 256),
    liquidityIndex: w.uint(log.data, 194, 256),
    variableBorrowIndex: w.uint(log.data, 258, 256),
  }),
}

export const ReserveUsedAsCollateralEnabled: w.EventAbi<{ reserve: string; user: string }> = {
  name: 'ReserveUsedAsCollateralEnabled',
  signature: 'ReserveUsedAsCollateralEnabled(address,address)',
  topic0: '0x00058a56ea94653cdf4f152d227ace22d4c00ad99e2a43f58cb7d9e3feb295f2',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    user: w.address(w.topic(log, 2), 2),
  }),
}

export const ReserveUsedAsCollateralDisabled: w.EventAbi<{ reserve: string; user: string }> = {
  name: 'ReserveUsedAsCollateralDisabled',
  signature: 'ReserveUsedAsCollateralDisabled(address,address)',
  topic0: '0x44c58d81365b66dd4b1a7f36c25aa97b8c71c361ee4937adc1a00000227db5dd',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    user: w.address(w.topic(log, 2), 2),
  }),
}

export const UserEModeSet: w.EventAbi<{ user: string; categoryId: number }> = {
  name: 'UserEModeSet',
  signature: 'UserEModeSet(address,uint8)',
  topic0: '0xd728da875fc88944cbf17638bcbe4af0eedaef63becd1d1c57cc097eb4608d84',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    user: w.address(w.topic(log, 1), 2),
    categoryId: w.smallUint(log.data, 2, 8),
  }),
}

export const MintedToTreasury: w.EventAbi<{ reserve: string; amountMinted: bigint }> = {
  name: 'MintedToTreasury',
  signature: 'MintedToTreasury(address,uint256)',
  topic0: '0xbfa21aa5d5f9a1f0120a95e7c0749f389863cbdbfff531aa7339077a5bc919de',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    amountMinted: w.uint(log.data, 2, 256),
  }),
}

export const IsolationModeTotalDebtUpdated: w.EventAbi<{ asset: string; totalDebt: bigint }> = {
  name: 'IsolationModeTotalDebtUpdated',
  signature: 'IsolationModeTotalDebtUpdated(address,uint256)',
  topic0: '0xaef84d3b40895fd58c561f3998000f0583abb992a52fbdc99ace8e8de4d676a5',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    totalDebt: w.uint(log.data, 2, 256),
  }),
}

export const DeficitCreated: w.EventAbi<{ user: string; debtAsset: string; amountCreated: bigint }> = {
  name: 'DeficitCreated',
  signature: 'DeficitCreated(address,address,uint256)',
  topic0: '0x2bccfb3fad376d59d7accf970515eb77b2f27b082c90ed0fb15583dd5a942699',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    user: w.address(w.topic(log, 1), 2),
    debtAsset: w.address(w.topic(log, 2), 2),
    amountCreated: w.uint(log.data, 2, 256),
  }),
}

export const DeficitCovered: w.EventAbi<{ reserve: string; caller: string; amountCovered: bigint }> = {
  name: 'DeficitCovered',
  signature: 'DeficitCovered(address,address,uint256)',
  topic0: '0x84b203e49f1a4b553088061534231969a68ad1c81be192205e96d23a206cb26a',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    reserve: w.address(w.topic(log, 1), 2),
    caller: w.address(log.data, 2),
    amountCovered: w.uint(log.data, 66, 256),
  }),
}

export const events = [Supply, Withdraw, Borrow, Repay, LiquidationCall, FlashLoan, ReserveDataUpdated, ReserveUsedAsCollateralEnabled, ReserveUsedAsCollateralDisabled, UserEModeSet, MintedToTreasury, IsolationModeTotalDebtUpdated, DeficitCreated, DeficitCovered] as const

export const functions = {
  getVirtualUnderlyingBalance: { signature: 'getVirtualUnderlyingBalance(address)', selector: '0x6fb07f96', inputs: ['address'] },
  getReserveData: { signature: 'getReserveData(address)', selector: '0x35ea6a75', inputs: ['address'] },
  POOL_REVISION: { signature: 'POOL_REVISION()', selector: '0x0148170e', inputs: [] },
  getReserveNormalizedIncome: { signature: 'getReserveNormalizedIncome(address)', selector: '0xd15e0053', inputs: ['address'] },
  getReserveNormalizedVariableDebt: { signature: 'getReserveNormalizedVariableDebt(address)', selector: '0x386497fd', inputs: ['address'] },
  ADDRESSES_PROVIDER: { signature: 'ADDRESSES_PROVIDER()', selector: '0x0542975c', inputs: [] },
  getReservesList: { signature: 'getReservesList()', selector: '0xd1946dbc', inputs: [] },
  getUserAccountData: { signature: 'getUserAccountData(address)', selector: '0xbf92857c', inputs: ['address'] },
} as const satisfies Record<string, w.FunctionAbi>
