// Generated from AToken.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Initialized: w.EventAbi<{ underlyingAsset: string; pool: string; treasury: string; incentivesController: string; aTokenDecimals: number; aTokenName: string; aTokenSymbol: string; params: string }> = {
  name: 'Initialized',
  signature: 'Initialized(address,address,address,address,uint8,string,string,bytes)',
  topic0: '0xb19e051f8af41150ccccb3fc2c2d8d15f4a4cf434f32a559ba75fe73d6eea20b',
  topicCount: 3,
  dataLength: { min: 288 },
  decode: log => ({
    underlyingAsset: w.address(w.topic(log, 1), 2),
    pool: w.address(w.topic(log, 2), 2),
    treasury: w.address(log.data, 2),
    incentivesController: w.address(log.data, 66),
    aTokenDecimals: w.smallUint(log.data, 130, 8),
    aTokenName: w.text(log.data, 194),
    aTokenSymbol: w.text(log.data, 258),
    params: w.dynamicBytes(log.data, 322),
  }),
}

export const Mint: w.EventAbi<{ caller: string; onBehalfOf: string; value: bigint; balanceIncrease: bigint; index: bigint }> = {
  name: 'Mint',
  signature: 'Mint(address,address,uint256,uint256,uint256)',
  topic0: '0x458f5fa412d0f69b08dd84872b0215675cc67bc1d5b6fd93300a1c3878b86196',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    onBehalfOf: w.address(w.topic(log, 2), 2),
    value: w.uint(log.data, 2, 256),
    balanceIncrease: w.uint(log.data, 66, 256),
    index: w.uint(log.data, 130, 256),
  }),
}

export const Burn: w.EventAbi<{ from: string; target: string; value: bigint; balanceIncrease: bigint; index: bigint }> = {
  name: 'Burn',
  signature: 'Burn(address,address,uint256,uint256,uint256)',
  topic0: '0x4cf25bc1d991c17529c25213d3cc0cda295eeaad5f13f361969b12ea48015f90',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    target: w.address(w.topic(log, 2), 2),
    value: w.uint(log.data, 2, 256),
    balanceIncrease: w.uint(log.data, 66, 256),
    index: w.uint(log.data, 130, 256),
  }),
}

export const BalanceTransfer: w.EventAbi<{ from: string; to: string; value: bigint; index: bigint }> = {
  name: 'BalanceTransfer',
  signature: 'BalanceTransfer(address,address,uint256,uint256)',
  topic0: '0x4beccb90f994c31aced7a23b5611020728a23d8ec5cddd1a3e9d97b96fda8666',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    value: w.uint(log.data, 2, 256),
    index: w.uint(log.data, 66, 256),
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

export const events = [Initialized, Mint, Burn, BalanceTransfer, Upgraded] as const

export const functions = {
  scaledBalanceOf: { signature: 'scaledBalanceOf(address)', selector: '0x1da24f3e', inputs: ['address'] },
  scaledTotalSupply: { signature: 'scaledTotalSupply()', selector: '0xb1bf962d', inputs: [] },
  UNDERLYING_ASSET_ADDRESS: { signature: 'UNDERLYING_ASSET_ADDRESS()', selector: '0xb16a19de', inputs: [] },
  POOL: { signature: 'POOL()', selector: '0x7535d246', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
