// Generated from Oracle.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  price: { signature: 'price()', selector: '0xa035b1fe', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
