// Generated from VariableDebtToken.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

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

export const events = [Mint, Burn] as const

export const functions = {
  scaledBalanceOf: { signature: 'scaledBalanceOf(address)', selector: '0x1da24f3e', inputs: ['address'] },
  scaledTotalSupply: { signature: 'scaledTotalSupply()', selector: '0xb1bf962d', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
