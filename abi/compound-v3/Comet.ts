// Generated from Comet.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Supply: w.EventAbi<{ from: string; dst: string; amount: bigint }> = {
  name: 'Supply',
  signature: 'Supply(address,address,uint256)',
  topic0: '0xd1cf3d156d5f8f0d50f6c122ed609cec09d35c9b9fb3fff6ea0959134dae424e',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    dst: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const Transfer: w.EventAbi<{ from: string; to: string; amount: bigint }> = {
  name: 'Transfer',
  signature: 'Transfer(address,address,uint256)',
  topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const Withdraw: w.EventAbi<{ src: string; to: string; amount: bigint }> = {
  name: 'Withdraw',
  signature: 'Withdraw(address,address,uint256)',
  topic0: '0x9b1bfa7fa9ee420a16e124f794c35ac9f90472acc99140eb2f6447c714cad8eb',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    src: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const SupplyCollateral: w.EventAbi<{ from: string; dst: string; asset: string; amount: bigint }> = {
  name: 'SupplyCollateral',
  signature: 'SupplyCollateral(address,address,address,uint256)',
  topic0: '0xfa56f7b24f17183d81894d3ac2ee654e3c26388d17a28dbd9549b8114304e1f4',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    dst: w.address(w.topic(log, 2), 2),
    asset: w.address(w.topic(log, 3), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const TransferCollateral: w.EventAbi<{ from: string; to: string; asset: string; amount: bigint }> = {
  name: 'TransferCollateral',
  signature: 'TransferCollateral(address,address,address,uint256)',
  topic0: '0x29db89d45e1a802b4d55e202984fce9faf1d30aedf86503ff1ea0ed9ebb64201',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    asset: w.address(w.topic(log, 3), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const WithdrawCollateral: w.EventAbi<{ src: string; to: string; asset: string; amount: bigint }> = {
  name: 'WithdrawCollateral',
  signature: 'WithdrawCollateral(address,address,address,uint256)',
  topic0: '0xd6d480d5b3068db003533b170d67561494d72e3bf9fa40a266471351ebba9e16',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    src: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    asset: w.address(w.topic(log, 3), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const AbsorbDebt: w.EventAbi<{ absorber: string; borrower: string; basePaidOut: bigint; usdValue: bigint }> = {
  name: 'AbsorbDebt',
  signature: 'AbsorbDebt(address,address,uint256,uint256)',
  topic0: '0x1547a878dc89ad3c367b6338b4be6a65a5dd74fb77ae044da1e8747ef1f4f62f',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    absorber: w.address(w.topic(log, 1), 2),
    borrower: w.address(w.topic(log, 2), 2),
    basePaidOut: w.uint(log.data, 2, 256),
    usdValue: w.uint(log.data, 66, 256),
  }),
}

export const AbsorbCollateral: w.EventAbi<{ absorber: string; borrower: string; asset: string; collateralAbsorbed: bigint; usdValue: bigint }> = {
  name: 'AbsorbCollateral',
  signature: 'AbsorbCollateral(address,address,address,uint256,uint256)',
  topic0: '0x9850ab1af75177e4a9201c65a2cf7976d5d28e40ef63494b44366f86b2f9412e',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    absorber: w.address(w.topic(log, 1), 2),
    borrower: w.address(w.topic(log, 2), 2),
    asset: w.address(w.topic(log, 3), 2),
    collateralAbsorbed: w.uint(log.data, 2, 256),
    usdValue: w.uint(log.data, 66, 256),
  }),
}

export const BuyCollateral: w.EventAbi<{ buyer: string; asset: string; baseAmount: bigint; collateralAmount: bigint }> = {
  name: 'BuyCollateral',
  signature: 'BuyCollateral(address,address,uint256,uint256)',
  topic0: '0xf891b2a411b0e66a5f0a6ff1368670fefa287a13f541eb633a386a1a9cc7046b',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    buyer: w.address(w.topic(log, 1), 2),
    asset: w.address(w.topic(log, 2), 2),
    baseAmount: w.uint(log.data, 2, 256),
    collateralAmount: w.uint(log.data, 66, 256),
  }),
}

export const PauseAction: w.EventAbi<{ supplyPaused: boolean; transferPaused: boolean; withdrawPaused: boolean; absorbPaused: boolean; buyPaused: boolean }> = {
  name: 'PauseAction',
  signature: 'PauseAction(bool,bool,bool,bool,bool)',
  topic0: '0x3be39979091ae7ca962aa1c44e645f2df3c221b79f324afa5f44aedc8d2f690d',
  topicCount: 1,
  dataLength: 160,
  decode: log => ({
    supplyPaused: w.bool(log.data, 2),
    transferPaused: w.bool(log.data, 66),
    withdrawPaused: w.bool(log.data, 130),
    absorbPaused: w.bool(log.data, 194),
    buyPaused: w.bool(log.data, 258),
  }),
}

export const WithdrawReserves: w.EventAbi<{ to: string; amount: bigint }> = {
  name: 'WithdrawReserves',
  signature: 'WithdrawReserves(address,uint256)',
  topic0: '0xec4431f2ba1a9382f6b0c4352b888cba6f7db91667d9f776abe5ad8ddc5401b6',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    to: w.address(w.topic(log, 1), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const Upgraded: w.EventAbi<{ implementation: string }> = {
  name: 'Upgraded',
  signature: 'Upgraded(address)',
  topic0: '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    implementation: w.address(w.topic(log, 1), 2),
  }),
}

export const events = [Supply, Transfer, Withdraw, SupplyCollateral, TransferCollateral, WithdrawCollateral, AbsorbDebt, AbsorbCollateral, BuyCollateral, PauseAction, WithdrawReserves, Upgraded] as const

export const functions = {
  baseToken: { signature: 'baseToken()', selector: '0xc55dae63', inputs: [] },
  baseTokenPriceFeed: { signature: 'baseTokenPriceFeed()', selector: '0xe7dad6bd', inputs: [] },
  baseScale: { signature: 'baseScale()', selector: '0x44c1e5eb', inputs: [] },
  baseBorrowMin: { signature: 'baseBorrowMin()', selector: '0x300e6beb', inputs: [] },
  targetReserves: { signature: 'targetReserves()', selector: '0x32176c49', inputs: [] },
  storeFrontPriceFactor: { signature: 'storeFrontPriceFactor()', selector: '0x1f5954bd', inputs: [] },
  supplyKink: { signature: 'supplyKink()', selector: '0xa5b4ff79', inputs: [] },
  supplyPerSecondInterestRateBase: { signature: 'supplyPerSecondInterestRateBase()', selector: '0x94920cca', inputs: [] },
  supplyPerSecondInterestRateSlopeLow: { signature: 'supplyPerSecondInterestRateSlopeLow()', selector: '0x5a94b8d1', inputs: [] },
  supplyPerSecondInterestRateSlopeHigh: { signature: 'supplyPerSecondInterestRateSlopeHigh()', selector: '0x804de71f', inputs: [] },
  borrowKink: { signature: 'borrowKink()', selector: '0x9241a561', inputs: [] },
  borrowPerSecondInterestRateBase: { signature: 'borrowPerSecondInterestRateBase()', selector: '0x7914acc7', inputs: [] },
  borrowPerSecondInterestRateSlopeLow: { signature: 'borrowPerSecondInterestRateSlopeLow()', selector: '0x2d05670b', inputs: [] },
  borrowPerSecondInterestRateSlopeHigh: { signature: 'borrowPerSecondInterestRateSlopeHigh()', selector: '0x2a48cf12', inputs: [] },
  numAssets: { signature: 'numAssets()', selector: '0xa46fe83b', inputs: [] },
  getAssetInfo: { signature: 'getAssetInfo(uint8)', selector: '0xc8c7fe6b', inputs: ['uint8'] },
  totalsBasic: { signature: 'totalsBasic()', selector: '0xb9f0baf7', inputs: [] },
  userBasic: { signature: 'userBasic(address)', selector: '0xdc4abafd', inputs: ['address'] },
  getPrice: { signature: 'getPrice(address)', selector: '0x41976e09', inputs: ['address'] },
  getReserves: { signature: 'getReserves()', selector: '0x0902f1ac', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
