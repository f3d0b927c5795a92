// Generated from Market.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const UpdateImpliedRate: w.EventAbi<{ timestamp: bigint; lnLastImpliedRate: bigint }> = {
  name: 'UpdateImpliedRate',
  signature: 'UpdateImpliedRate(uint256,uint256)',
  topic0: '0x5c0e21d57bb4cf91d8fe238d6f92e2685a695371b19209afcce6217b478f83e1',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    timestamp: w.uint(w.topic(log, 1), 2, 256),
    lnLastImpliedRate: w.uint(log.data, 2, 256),
  }),
}

export const Swap: w.EventAbi<{ caller: string; receiver: string; netPtOut: bigint; netSyOut: bigint; netSyFee: bigint; netSyToReserve: bigint }> = {
  name: 'Swap',
  signature: 'Swap(address,address,int256,int256,uint256,uint256)',
  topic0: '0x829000a5bc6a12d46e30cdcecd7c56b1efd88f6d7d059da6734a04f3764557c4',
  topicCount: 3,
  dataLength: 128,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    receiver: w.address(w.topic(log, 2), 2),
    netPtOut: w.int(log.data, 2, 256),
    netSyOut: w.int(log.data, 66, 256),
    netSyFee: w.uint(log.data, 130, 256),
    netSyToReserve: w.uint(log.data, 194, 256),
  }),
}

export const Mint: w.EventAbi<{ receiver: string; netLpMinted: bigint; netSyUsed: bigint; netPtUsed: bigint }> = {
  name: 'Mint',
  signature: 'Mint(address,uint256,uint256,uint256)',
  topic0: '0xb4c03061fb5b7fed76389d5af8f2e0ddb09f8c70d1333abbb62582835e10accb',
  topicCount: 2,
  dataLength: 96,
  decode: log => ({
    receiver: w.address(w.topic(log, 1), 2),
    netLpMinted: w.uint(log.data, 2, 256),
    netSyUsed: w.uint(log.data, 66, 256),
    netPtUsed: w.uint(log.data, 130, 256),
  }),
}

export const Burn: w.EventAbi<{ receiverSy: string; receiverPt: string; netLpBurned: bigint; netSyOut: bigint; netPtOut: bigint }> = {
  name: 'Burn',
  signature: 'Burn(address,address,uint256,uint256,uint256)',
  topic0: '0x4cf25bc1d991c17529c25213d3cc0cda295eeaad5f13f361969b12ea48015f90',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    receiverSy: w.address(w.topic(log, 1), 2),
    receiverPt: w.address(w.topic(log, 2), 2),
    netLpBurned: w.uint(log.data, 2, 256),
    netSyOut: w.uint(log.data, 66, 256),
    netPtOut: w.uint(log.data, 130, 256),
  }),
}

export const events = [UpdateImpliedRate, Swap, Mint, Burn] as const

export const functions = {
  readTokens: { signature: 'readTokens()', selector: '0x2c8ce6bc', inputs: [] },
  readState: { signature: 'readState(address)', selector: '0x794052f3', inputs: ['address'] },
  expiry: { signature: 'expiry()', selector: '0xe184c9be', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
