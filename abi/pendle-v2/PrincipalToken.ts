// Generated from PrincipalToken.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

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

export const events = [Transfer] as const

export const functions = {
  name: { signature: 'name()', selector: '0x06fdde03', inputs: [] },
  symbol: { signature: 'symbol()', selector: '0x95d89b41', inputs: [] },
  decimals: { signature: 'decimals()', selector: '0x313ce567', inputs: [] },
  totalSupply: { signature: 'totalSupply()', selector: '0x18160ddd', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
