// Generated from StableDebtToken.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Mint: w.EventAbi<{ user: string; onBehalfOf: string; amount: bigint; currentBalance: bigint; balanceIncrease: bigint; newRate: bigint; avgStableRate: bigint; newTotalSupply: bigint }> = {
  name: 'Mint',
  signature: 'Mint(address,address,uint256,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0xc16f4e4ca34d790de4c656c72fd015c667d688f20be64eea360618545c4c530f',
  topicCount: 3,
  dataLength: 192,
  decode: log => ({
    user: w.address(w.topic(log, 1), 2),
    onBehalfOf: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
    currentBalance: w.uint(log.data, 66, 256),
    balanceIncrease: w.uint(log.data, 130, 256),
    newRate: w.uint(log.data, 194, 256),
    avgStableRate: w.uint(log.data, 258, 256),
    newTotalSupply: w.uint(log.data, 322, 256),
  }),
}

export const Burn: w.EventAbi<{ from: string; amount: bigint; currentBalance: bigint; balanceIncrease: bigint; avgStableRate: bigint; newTotalSupply: bigint }> = {
  name: 'Burn',
  signature: 'Burn(address,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0x44bd20a79e993bdcc7cbedf54a3b4d19fb78490124b6b90d04fe3242eea579e8',
  topicCount: 2,
  dataLength: 160,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    amount: w.uint(log.data, 2, 256),
    currentBalance: w.uint(log.data, 66, 256),
    balanceIncrease: w.uint(log.data, 130, 256),
    avgStableRate: w.uint(log.data, 194, 256),
    newTotalSupply: w.uint(log.data, 258, 256),
  }),
}

export const events = [Mint, Burn] as const
