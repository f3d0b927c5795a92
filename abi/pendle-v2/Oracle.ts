// Generated from Oracle.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  getPtToAssetRate: { signature: 'getPtToAssetRate(address,uint32)', selector: '0xabca0eab', inputs: ['address', 'uint32'] },
} as const satisfies Record<string, w.FunctionAbi>
