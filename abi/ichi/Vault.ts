// Generated from Vault.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Deposit: w.EventAbi<{ sender: string; to: string; shares: bigint; amount0: bigint; amount1: bigint }> = {
  name: 'Deposit',
  signature: 'Deposit(address,address,uint256,uint256,uint256)',
  topic0: '0x4e2ca0515ed1aef1395f66b5303bb5d6f1bf9d61a353fa53f73f8ac9973fa9f6',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    shares: w.uint(log.data, 2, 256),
    amount0: w.uint(log.data, 66, 256),
    amount1: w.uint(log.data, 130, 256),
  }),
}

export const Withdraw: w.EventAbi<{ sender: string; to: string; shares: bigint; amount0: bigint; amount1: bigint }> = {
  name: 'Withdraw',
  signature: 'Withdraw(address,address,uint256,uint256,uint256)',
  topic0: '0xebff2602b3f468259e1e99f613fed6691f3a6526effe6ef3e768ba7ae7a36c4f',
  topicCount: 3,
  dataLength: 96,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    shares: w.uint(log.data, 2, 256),
    amount0: w.uint(log.data, 66, 256),
    amount1: w.uint(log.data, 130, 256),
  }),
}

export const Rebalance: w.EventAbi<{ tick: number; totalAmount0: bigint; totalAmount1: bigint; feeAmount0: bigint; feeAmount1: bigint; totalSupply: bigint }> = {
  name: 'Rebalance',
  signature: 'Rebalance(int24,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0xbc4c20ad04f161d631d9ce94d27659391196415aa3c42f6a71c62e905ece782d',
  topicCount: 1,
  dataLength: 192,
  decode: log => ({
    tick: Number(w.int(log.data, 2, 24)),
    totalAmount0: w.uint(log.data, 66, 256),
    totalAmount1: w.uint(log.data, 130, 256),
    feeAmount0: w.uint(log.data, 194, 256),
    feeAmount1: w.uint(log.data, 258, 256),
    totalSupply: w.uint(log.data, 322, 256),
  }),
}

export const CollectFees: w.EventAbi<{ sender: string; feeAmount0: bigint; feeAmount1: bigint }> = {
  name: 'CollectFees',
  signature: 'CollectFees(address,uint256,uint256)',
  topic0: '0xec8208dd791fa8ffdc0d7427f3ba9c0ed06f1bce9a86254e6940c10cc1802fef',
  topicCount: 2,
  dataLength: 64,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    feeAmount0: w.uint(log.data, 2, 256),
    feeAmount1: w.uint(log.data, 66, 256),
  }),
}

export const Transfer: w.EventAbi<{ from: string; to: string; value: bigint }> = {
  name: 'Transfer',
  signature: 'Transfer(address,address,uint256)',
  topic0: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    value: w.uint(log.data, 2, 256),
  }),
}

export const events = [Deposit, Withdraw, Rebalance, CollectFees, Transfer] as const

export const functions = {
  pool: { signature: 'pool()', selector: '0x16f0115b', inputs: [] },
  token0: { signature: 'token0()', selector: '0x0dfe1681', inputs: [] },
  token1: { signature: 'token1()', selector: '0xd21220a7', inputs: [] },
  allowToken0: { signature: 'allowToken0()', selector: '0x7f7a1eec', inputs: [] },
  allowToken1: { signature: 'allowToken1()', selector: '0x37e41b40', inputs: [] },
  name: { signature: 'name()', selector: '0x06fdde03', inputs: [] },
  symbol: { signature: 'symbol()', selector: '0x95d89b41', inputs: [] },
  decimals: { signature: 'decimals()', selector: '0x313ce567', inputs: [] },
  totalSupply: { signature: 'totalSupply()', selector: '0x18160ddd', inputs: [] },
  getTotalAmounts: { signature: 'getTotalAmounts()', selector: '0xc4a7761e', inputs: [] },
  getBasePosition: { signature: 'getBasePosition()', selector: '0xd2eabcfc', inputs: [] },
  getLimitPosition: { signature: 'getLimitPosition()', selector: '0xa049de6b', inputs: [] },
  baseLower: { signature: 'baseLower()', selector: '0xfa082743', inputs: [] },
  baseUpper: { signature: 'baseUpper()', selector: '0x888a9134', inputs: [] },
  limitLower: { signature: 'limitLower()', selector: '0x51e87af7', inputs: [] },
  limitUpper: { signature: 'limitUpper()', selector: '0x0f35bcac', inputs: [] },
  twapPeriod: { signature: 'twapPeriod()', selector: '0xf6207326', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
