// Generated from StandardizedYield.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  exchangeRate: { signature: 'exchangeRate()', selector: '0x3ba0b9a9', inputs: [] },
  assetInfo: { signature: 'assetInfo()', selector: '0xa40bee50', inputs: [] },
  yieldToken: { signature: 'yieldToken()', selector: '0x76d5de85', inputs: [] },
  symbol: { signature: 'symbol()', selector: '0x95d89b41', inputs: [] },
  decimals: { signature: 'decimals()', selector: '0x313ce567', inputs: [] },
  getTokensIn: { signature: 'getTokensIn()', selector: '0x213cae63', inputs: [] },
  getTokensOut: { signature: 'getTokensOut()', selector: '0x071bc3c9', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
