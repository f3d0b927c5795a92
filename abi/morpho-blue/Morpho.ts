// Generated from Morpho.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const AccrueInterest: w.EventAbi<{ id: string; prevBorrowRate: bigint; interest: bigint; feeShares: bigint }> = {
  name: 'AccrueInterest',
  signature: 'AccrueInterest(bytes32,uint256,uint256,uint256)',
  topic0: '0x9d9bd501d0657d7dfe415f779a620a62b78bc508ddc0891fbbd8b7ac0f8fce87',
  topicCount: 2,
  dataLength: 96,
  decode: log => ({
    id: w.topic(log, 1),
    prevBorrowRate: w.uint(log.data, 2, 256),
    interest: w.uint(log.data, 66, 256),
    feeShares: w.uint(log.data, 130, 256),
  }),
}

export const Borrow: w.EventAbi<{ id: string; caller: string; onBehalf: string; receiver: string; assets: bigint; shares: bigint }> = {
  name: 'Borrow',
  signature: 'Borrow(bytes32,address,address,address,uint256,uint256)',
  topic0: '0x570954540bed6b1304a87dfe815a5eda4a648f7097a16240dcd85c9b5fd42a43',
  topicCount: 4,
  dataLength: 96,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(log.data, 2),
    onBehalf: w.address(w.topic(log, 2), 2),
    receiver: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 66, 256),
    shares: w.uint(log.data, 130, 256),
  }),
}

export const CreateMarket: w.EventAbi<{ id: string; marketParams: { loanToken: string; collateralToken: string; oracle: string; irm: string; lltv: bigint } }> = {
  name: 'CreateMarket',
  signature: 'CreateMarket(bytes32,(address,address,address,address,uint256))',
  topic0: '0xac4b2400f169220b0c0afdde7a0b32e775ba727ea1cb30b35f935cdaab8683ac',
  topicCount: 2,
  dataLength: 160,
  decode: log => ({
    id: w.topic(log, 1),
    marketParams: { loanToken: w.address(log.data, 2), collateralToken: w.address(log.data, 66), oracle: w.address(log.data, 130), irm: w.address(log.data, 194), lltv: w.uint(log.data, 258, 256) },
  }),
}

export const EnableIrm: w.EventAbi<{ irm: string }> = {
  name: 'EnableIrm',
  signature: 'EnableIrm(address)',
  topic0: '0x590e04cdebeccba40f566186b9746ad295a4cd358ea4fefaaea6ce79630d96c0',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    irm: w.address(w.topic(log, 1), 2),
  }),
}

export const EnableLltv: w.EventAbi<{ lltv: bigint }> = {
  name: 'EnableLltv',
  signature: 'EnableLltv(uint256)',
  topic0: '0x297b80e7a896fad470c630f6575072d609bde997260ff3db851939405ec29139',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    lltv: w.uint(log.data, 2, 256),
  }),
}

export const FlashLoan: w.EventAbi<{ caller: string; token: string; assets: bigint }> = {
  name: 'FlashLoan',
  signature: 'FlashLoan(address,address,uint256)',
  topic0: '0xc76f1b4fe4396ac07a9fa55a415d4ca430e72651d37d3401f3bed7cb13fc4f12',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    token: w.address(w.topic(log, 2), 2),
    assets: w.uint(log.data, 2, 256),
  }),
}

export const IncrementNonce: w.EventAbi<{ caller: string; authorizer: string; usedNonce: bigint }> = {
  name: 'IncrementNonce',
  signature: 'IncrementNonce(address,address,uint256)',
  topic0: '0xa58af1a0c70dba0c7aa60d1a1a147ebd61000d1690a968828ac718bca927f2c7',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    authorizer: w.address(w.topic(log, 2), 2),
    usedNonce: w.uint(log.data, 2, 256),
  }),
}

export const Liquidate: w.EventAbi<{ id: string; caller: string; borrower: string; repaidAssets: bigint; repaidShares: bigint; seizedAssets: bigint; badDebtAssets: bigint; badDebtShares: bigint }> = {
  name: 'Liquidate',
  signature: 'Liquidate(bytes32,address,address,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0xa4946ede45d0c6f06a0f5ce92c9ad3b4751452d2fe0e25010783bcab57a67e41',
  topicCount: 4,
  dataLength: 160,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(w.topic(log, 2), 2),
    borrower: w.address(w.topic(log, 3), 2),
    repaidAssets: w.uint(log.data, 2, 256),
    repaidShares: w.uint(log.data, 66, 256),
    seizedAssets: w.uint(log.data, 130, 256),
    badDebtAssets: w.uint(log.data, 194, 256),
    badDebtShares: w.uint(log.data, 258, 256),
  }),
}

export const Repay: w.EventAbi<{ id: string; caller: string; onBehalf: string; assets: bigint; shares: bigint }> = {
  name: 'Repay',
  signature: 'Repay(bytes32,address,address,uint256,uint256)',
  topic0: '0x52acb05cebbd3cd39715469f22afbf5a17496295ef3bc9bb5944056c63ccaa09',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(w.topic(log, 2), 2),
    onBehalf: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const SetAuthorization: w.EventAbi<{ caller: string; authorizer: string; authorized: string; newIsAuthorized: boolean }> = {
  name: 'SetAuthorization',
  signature: 'SetAuthorization(address,address,address,bool)',
  topic0: '0xd5e969f01efe921d3f766bdebad25f0a05e3f237311f56482bf132d0326309c0',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    authorizer: w.address(w.topic(log, 2), 2),
    authorized: w.address(w.topic(log, 3), 2),
    newIsAuthorized: w.bool(log.data, 2),
  }),
}

export const SetFee: w.EventAbi<{ id: string; newFee: bigint }> = {
  name: 'SetFee',
  signature: 'SetFee(bytes32,uint256)',
  topic0: '0x139d6f58e9a127229667c8e3b36e88890a66cfc8ab1024ddc513e189e125b75b',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    id: w.topic(log, 1),
    newFee: w.uint(log.data, 2, 256),
  }),
}

export const SetFeeRecipient: w.EventAbi<{ newFeeRecipient: string }> = {
  name: 'SetFeeRecipient',
  signature: 'SetFeeRecipient(address)',
  topic0: '0x2e979f80fe4d43055c584cf4a8467c55875ea36728fc37176c05acd784eb7a73',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    newFeeRecipient: w.address(w.topic(log, 1), 2),
  }),
}

export const SetOwner: w.EventAbi<{ newOwner: string }> = {
  name: 'SetOwner',
  signature: 'SetOwner(address)',
  topic0: '0x167d3e9c1016ab80e58802ca9da10ce5c6a0f4debc46a2e7a2cd9e56899a4fb5',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    newOwner: w.address(w.topic(log, 1), 2),
  }),
}

export const Supply: w.EventAbi<{ id: string; caller: string; onBehalf: string; assets: bigint; shares: bigint }> = {
  name: 'Supply',
  signature: 'Supply(bytes32,address,address,uint256,uint256)',
  topic0: '0xedf8870433c83823eb071d3df1caa8d008f12f6440918c20d75a3602cda30fe0',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(w.topic(log, 2), 2),
    onBehalf: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const SupplyCollateral: w.EventAbi<{ id: string; caller: string; onBehalf: string; assets: bigint }> = {
  name: 'SupplyCollateral',
  signature: 'SupplyCollateral(bytes32,address,address,uint256)',
  topic0: '0xa3b9472a1399e17e123f3c2e6586c23e504184d504de59cdaa2b375e880c6184',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(w.topic(log, 2), 2),
    onBehalf: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 2, 256),
  }),
}

export const Withdraw: w.EventAbi<{ id: string; caller: string; onBehalf: string; receiver: string; assets: bigint; shares: bigint }> = {
  name: 'Withdraw',
  signature: 'Withdraw(bytes32,address,address,address,uint256,uint256)',
  topic0: '0xa56fc0ad5702ec05ce63666221f796fb62437c32db1aa1aa075fc6484cf58fbf',
  topicCount: 4,
  dataLength: 96,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(log.data, 2),
    onBehalf: w.address(w.topic(log, 2), 2),
    receiver: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 66, 256),
    shares: w.uint(log.data, 130, 256),
  }),
}

export const WithdrawCollateral: w.EventAbi<{ id: string; caller: string; onBehalf: string; receiver: string; assets: bigint }> = {
  name: 'WithdrawCollateral',
  signature: 'WithdrawCollateral(bytes32,address,address,address,uint256)',
  topic0: '0xe80ebd7cc9223d7382aab2e0d1d6155c65651f83d53c8b9b06901d167e321142',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    id: w.topic(log, 1),
    caller: w.address(log.data, 2),
    onBehalf: w.address(w.topic(log, 2), 2),
    receiver: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 66, 256),
  }),
}

export const events = [AccrueInterest, Borrow, CreateMarket, EnableIrm, EnableLltv, FlashLoan, IncrementNonce, Liquidate, Repay, SetAuthorization, SetFee, SetFeeRecipient, SetOwner, Supply, SupplyCollateral, Withdraw, WithdrawCollateral] as const

export const functions = {
  market: { signature: 'market(bytes32)', selector: '0x5c60e39a', inputs: ['bytes32'] },
  position: { signature: 'position(bytes32,address)', selector: '0x93c52062', inputs: ['bytes32', 'address'] },
  idToMarketParams: { signature: 'idToMarketParams(bytes32)', selector: '0x2c3c9157', inputs: ['bytes32'] },
  owner: { signature: 'owner()', selector: '0x8da5cb5b', inputs: [] },
  feeRecipient: { signature: 'feeRecipient()', selector: '0x46904840', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
