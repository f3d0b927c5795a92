// Generated from Vault.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Deposit: w.EventAbi<{ sender: string; owner: string; assets: bigint; shares: bigint }> = {
  name: 'Deposit',
  signature: 'Deposit(address,address,uint256,uint256)',
  topic0: '0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    owner: w.address(w.topic(log, 2), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const Withdraw: w.EventAbi<{ sender: string; receiver: string; owner: string; assets: bigint; shares: bigint }> = {
  name: 'Withdraw',
  signature: 'Withdraw(address,address,address,uint256,uint256)',
  topic0: '0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    receiver: w.address(w.topic(log, 2), 2),
    owner: w.address(w.topic(log, 3), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
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

export const events = [Deposit, Withdraw, Transfer] as const

export const functions = {
  asset: { signature: 'asset()', selector: '0x38d52e0f', inputs: [] },
  decimals: { signature: 'decimals()', selector: '0x313ce567', inputs: [] },
  name: { signature: 'name()', selector: '0x06fdde03', inputs: [] },
  symbol: { signature: 'symbol()', selector: '0x95d89b41', inputs: [] },
  totalAssets: { signature: 'totalAssets()', selector: '0x01e1d114', inputs: [] },
  totalSupply: { signature: 'totalSupply()', selector: '0x18160ddd', inputs: [] },
  convertToAssets: { signature: 'convertToAssets(uint256)', selector: '0x07a2d13a', inputs: ['uint256'] },
  convertToShares: { signature: 'convertToShares(uint256)', selector: '0xc6e6f592', inputs: ['uint256'] },
  balanceOf: { signature: 'balanceOf(address)', selector: '0x70a08231', inputs: ['address'] },
  previewDeposit: { signature: 'previewDeposit(uint256)', selector: '0xef8b30f7', inputs: ['uint256'] },
  previewRedeem: { signature: 'previewRedeem(uint256)', selector: '0x4cdad506', inputs: ['uint256'] },
  maxDeposit: { signature: 'maxDeposit(address)', selector: '0x402d267d', inputs: ['address'] },
  maxWithdraw: { signature: 'maxWithdraw(address)', selector: '0xce96cb77', inputs: ['address'] },
  maxRedeem: { signature: 'maxRedeem(address)', selector: '0xd905777e', inputs: ['address'] },
} as const satisfies Record<string, w.FunctionAbi>
