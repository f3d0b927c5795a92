// Generated from PoolConfigurator.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const ReserveInitialized: w.EventAbi<{ asset: string; aToken: string; stableDebtToken: string; variableDebtToken: string; interestRateStrategyAddress: string }> = {
  name: 'ReserveInitialized',
  signature: 'ReserveInitialized(address,address,address,address,address)',
  topic0: '0x3a0ca721fc364424566385a1aa271ed508cc2c0949c2272575fb3013a163a45f',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    aToken: w.address(w.topic(log, 2), 2),
    stableDebtToken: w.address(log.data, 2),
    variableDebtToken: w.address(log.data, 66),
    interestRateStrategyAddress: w.address(log.data, 130),
  }),
}

export const ReserveBorrowing: w.EventAbi<{ asset: string; enabled: boolean }> = {
  name: 'ReserveBorrowing',
  signature: 'ReserveBorrowing(address,bool)',
  topic0: '0x2443ba28e8d1d88d531a3d90b981816a4f3b3c7f1fd4085c6029e81d1b7a570d',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    enabled: w.bool(log.data, 2),
  }),
}

export const ReserveStableRateBorrowing: w.EventAbi<{ asset: string; enabled: boolean }> = {
  name: 'ReserveStableRateBorrowing',
  signature: 'ReserveStableRateBorrowing(address,bool)',
  topic0: '0x0b64d0941719acd363f1a6be3d8525d8ec9d71738f7445aabcd88d7939b472e7',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    enabled: w.bool(log.data, 2),
  }),
}

export const ReserveFlashLoaning: w.EventAbi<{ asset: string; enabled: boolean }> = {
  name: 'ReserveFlashLoaning',
  signature: 'ReserveFlashLoaning(address,bool)',
  topic0: '0xc8ff3cc5b0fddaa3e6ebbbd7438f43393e4ea30e88b80ad016c1bc094655034d',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    enabled: w.bool(log.data, 2),
  }),
}

export const CollateralConfigurationChanged: w.EventAbi<{ asset: string; ltv: bigint; liquidationThreshold: bigint; liquidationBonus: bigint }> = {
  name: 'CollateralConfigurationChanged',
  signature: 'CollateralConfigurationChanged(address,uint256,uint256,uint256)',
  topic0: '0x637febbda9275aea2e85c0ff690444c8d87eb2e8339bbede9715abcc89cb0995',
  topicCount: 2,
  dataLength: 96,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    ltv: w.uint(log.data, 2, 256),
    liquidationThreshold: w.uint(log.data, 66, 256),
    liquidationBonus: w.uint(log.data, 130, 256),
  }),
}

export const ReserveActive: w.EventAbi<{ asset: string; active: boolean }> = {
  name: 'ReserveActive',
  signature: 'ReserveActive(address,bool)',
  topic0: '0xc36c7d11ba01a5869d52aa4a3781939dab851cbc9ee6e7fdcedc7d58898a3f1e',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    active: w.bool(log.data, 2),
  }),
}

export const ReserveFrozen: w.EventAbi<{ asset: string; frozen: boolean }> = {
  name: 'ReserveFrozen',
  signature: 'ReserveFrozen(address,bool)',
  topic0: '0x0c4443d258a350d27dc50c378b2ebf165e6469725f786d21b30cab16823f5587',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    frozen: w.bool(log.data, 2),
  }),
}

export const ReservePaused: w.EventAbi<{ asset: string; paused: boolean }> = {
  name: 'ReservePaused',
  signature: 'ReservePaused(address,bool)',
  topic0: '0xe188d542a5f11925d3a3af33703cdd30a43cb3e8066a3cf68b1b57f61a5a94b5',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    paused: w.bool(log.data, 2),
  }),
}

export const ReserveDropped: w.EventAbi<{ asset: string }> = {
  name: 'ReserveDropped',
  signature: 'ReserveDropped(address)',
  topic0: '0xeeec4c06f7adad215cbdb4d2960896c83c26aedce02dde76d36fa28588d62da4',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
  }),
}

export const ReserveFactorChanged: w.EventAbi<{ asset: string; oldReserveFactor: bigint; newReserveFactor: bigint }> = {
  name: 'ReserveFactorChanged',
  signature: 'ReserveFactorChanged(address,uint256,uint256)',
  topic0: '0xb46e2b82b0c2cf3d7d9dece53635e165c53e0eaa7a44f904d61a2b7174826aef',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldReserveFactor: w.uint(log.data, 2, 256),
    newReserveFactor: w.uint(log.data, 66, 256),
  }),
}

export const BorrowCapChanged: w.EventAbi<{ asset: string; oldBorrowCap: bigint; newBorrowCap: bigint }> = {
  name: 'BorrowCapChanged',
  signature: 'BorrowCapChanged(address,uint256,uint256)',
  topic0: '0xc51aca575985d521c5072ad11549bad77013bb786d57f30f94b40ed8f8dc9bc4',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldBorrowCap: w.uint(log.data, 2, 256),
    newBorrowCap: w.uint(log.data, 66, 256),
  }),
}

export const SupplyCapChanged: w.EventAbi<{ asset: string; oldSupplyCap: bigint; newSupplyCap: bigint }> = {
  name: 'SupplyCapChanged',
  signature: 'SupplyCapChanged(address,uint256,uint256)',
  topic0: '0x0263602682188540a2d633561c0b4453b7d8566285e99f9f6018b8ef2facef49',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldSupplyCap: w.uint(log.data, 2, 256),
    newSupplyCap: w.uint(log.data, 66, 256),
  }),
}

export const DebtCeilingChanged: w.EventAbi<{ asset: string; oldDebtCeiling: bigint; newDebtCeiling: bigint }> = {
  name: 'DebtCeilingChanged',
  signature: 'DebtCeilingChanged(address,uint256,uint256)',
  topic0: '0x6824a6c7fbc10d2979b1f1ccf2dd4ed0436541679a661dedb5c10bd4be830682',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldDebtCeiling: w.uint(log.data, 2, 256),
    newDebtCeiling: w.uint(log.data, 66, 256),
  }),
}

export const LiquidationProtocolFeeChanged: w.EventAbi<{ asset: string; oldFee: bigint; newFee: bigint }> = {
  name: 'LiquidationProtocolFeeChanged',
  signature: 'LiquidationProtocolFeeChanged(address,uint256,uint256)',
  topic0: '0xb5b0a963825337808b6e3154de8e98027595a5cad4219bb3a9bc55b192f4b391',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldFee: w.uint(log.data, 2, 256),
    newFee: w.uint(log.data, 66, 256),
  }),
}

export const EModeAssetCategoryChanged: w.EventAbi<{ asset: string; oldCategoryId: number; newCategoryId: number }> = {
  name: 'EModeAssetCategoryChanged',
  signature: 'EModeAssetCategoryChanged(address,uint8,uint8)',
  topic0: '0x5bb69795b6a2ea222d73a5f8939c23471a1f85a99c7ca43c207f1b71f10c6264',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldCategoryId: w.smallUint(log.data, 2, 8),
    newCategoryId: w.smallUint(log.data, 66, 8),
  }),
}

export const EModeCategoryAdded: w.EventAbi<{ categoryId: number; ltv: bigint; liquidationThreshold: bigint; liquidationBonus: bigint; oracle: string; label: string }> = {
  name: 'EModeCategoryAdded',
  signature: 'EModeCategoryAdded(uint8,uint256,uint256,uint256,address,string)',
  topic0: '0x0acf8b4a3cace10779798a89a206a0ae73a71b63acdd3be2801d39c2ef7ab3cb',
  topicCount: 2,
  dataLength: { min: 192 },
  decode: log => ({
    categoryId: w.smallUint(w.topic(log, 1), 2, 8),
    ltv: w.uint(log.data, 2, 256),
    liquidationThreshold: w.uint(log.data, 66, 256),
    liquidationBonus: w.uint(log.data, 130, 256),
    oracle: w.address(log.data, 194),
    label: w.text(log.data, 258),
  }),
}

export const AssetCollateralInEModeChanged: w.EventAbi<{ asset: string; categoryId: number; collateral: boolean }> = {
  name: 'AssetCollateralInEModeChanged',
  signature: 'AssetCollateralInEModeChanged(address,uint8,bool)',
  topic0: '0x79409190108b26fcb0e4570f8e240f627bf18fd01a55f751010224d5bd486098',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    categoryId: w.smallUint(log.data, 2, 8),
    collateral: w.bool(log.data, 66),
  }),
}

export const AssetBorrowableInEModeChanged: w.EventAbi<{ asset: string; categoryId: number; borrowable: boolean }> = {
  name: 'AssetBorrowableInEModeChanged',
  signature: 'AssetBorrowableInEModeChanged(address,uint8,bool)',
  topic0: '0x60087ca045be9d8d1301445e67d6248eddba97629c80284fa4910c0e52f103ab',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    categoryId: w.smallUint(log.data, 2, 8),
    borrowable: w.bool(log.data, 66),
  }),
}

export const AssetLtvzeroInEModeChanged: w.EventAbi<{ asset: string; categoryId: number; ltvzero: boolean }> = {
  name: 'AssetLtvzeroInEModeChanged',
  signature: 'AssetLtvzeroInEModeChanged(address,uint8,bool)',
  topic0: '0xc0a450fbad635333e47f3322ec028a8e0b3909f79c721312a356a0fab5fa8b94',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    categoryId: w.smallUint(log.data, 2, 8),
    ltvzero: w.bool(log.data, 66),
  }),
}

export const ReserveInterestRateStrategyChanged: w.EventAbi<{ asset: string; oldStrategy: string; newStrategy: string }> = {
  name: 'ReserveInterestRateStrategyChanged',
  signature: 'ReserveInterestRateStrategyChanged(address,address,address)',
  topic0: '0xdb8dada53709ce4988154324196790c2e4a60c377e1256790946f83b87db3c33',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldStrategy: w.address(log.data, 2),
    newStrategy: w.address(log.data, 66),
  }),
}

export const ReserveInterestRateDataChanged: w.EventAbi<{ asset: string; strategy: string; data: string }> = {
  name: 'ReserveInterestRateDataChanged',
  signature: 'ReserveInterestRateDataChanged(address,address,bytes)',
  topic0: '0x1e608c2c753fede2f1f22fca4170277b53ebe5015e488a53414a8921446b7c40',
  topicCount: 3,
  dataLength: { min: 64 },
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    strategy: w.address(w.topic(log, 2), 2),
    data: w.dynamicBytes(log.data, 2),
  }),
}

export const SiloedBorrowingChanged: w.EventAbi<{ asset: string; oldState: boolean; newState: boolean }> = {
  name: 'SiloedBorrowingChanged',
  signature: 'SiloedBorrowingChanged(address,bool,bool)',
  topic0: '0x842a280b07e8e502a9101f32a3b768ebaba3655556dd674f0831900861fc674b',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    oldState: w.bool(log.data, 2),
    newState: w.bool(log.data, 66),
  }),
}

export const BorrowableInIsolationChanged: w.EventAbi<{ asset: string; borrowable: boolean }> = {
  name: 'BorrowableInIsolationChanged',
  signature: 'BorrowableInIsolationChanged(address,bool)',
  topic0: '0x74adf6aaf58c08bc4f993640385e136522375ea3d1589a10d02adbb906c67d1c',
  topicCount: 1,
  dataLength: 64,
  decode: log => ({
    asset: w.address(log.data, 2),
    borrowable: w.bool(log.data, 66),
  }),
}

export const FlashloanPremiumTotalUpdated: w.EventAbi<{ oldFlashloanPremiumTotal: bigint; newFlashloanPremiumTotal: bigint }> = {
  name: 'FlashloanPremiumTotalUpdated',
  signature: 'FlashloanPremiumTotalUpdated(uint128,uint128)',
  topic0: '0x71aba182c9d0529b516de7a78bed74d49c207ef7e152f52f7ea5d8730138f643',
  topicCount: 1,
  dataLength: 64,
  decode: log => ({
    oldFlashloanPremiumTotal: w.uint(log.data, 2, 128),
    newFlashloanPremiumTotal: w.uint(log.data, 66, 128),
  }),
}

export const FlashloanPremiumToProtocolUpdated: w.EventAbi<{ oldFlashloanPremiumToProtocol: bigint; newFlashloanPremiumToProtocol: bigint }> = {
  name: 'FlashloanPremiumToProtocolUpdated',
  signature: 'FlashloanPremiumToProtocolUpdated(uint128,uint128)',
  topic0: '0xe7e0c75e1fc2d0bd83dc85d59f085b3e763107c392fb368e85572b292f1f5576',
  topicCount: 1,
  dataLength: 64,
  decode: log => ({
    oldFlashloanPremiumToProtocol: w.uint(log.data, 2, 128),
    newFlashloanPremiumToProtocol: w.uint(log.data, 66, 128),
  }),
}

export const events = [ReserveInitialized, ReserveBorrowing, ReserveStableRateBorrowing, ReserveFlashLoaning, CollateralConfigurationChanged, ReserveActive, ReserveFrozen, ReservePaused, ReserveDropped, ReserveFactorChanged, BorrowCapChanged, SupplyCapChanged, DebtCeilingChanged, LiquidationProtocolFeeChanged, EModeAssetCategoryChanged, EModeCategoryAdded, AssetCollateralInEModeChanged, AssetBorrowableInEModeChanged, AssetLtvzeroInEModeChanged, ReserveInterestRateStrategyChanged, ReserveInterestRateDataChanged, SiloedBorrowingChanged, BorrowableInIsolationChanged, FlashloanPremiumTotalUpdated, FlashloanPremiumToProtocolUpdated] as const
