// Generated from YieldToken.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  pyIndexStored: { signature: 'pyIndexStored()', selector: '0xd2a3584e', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
