// Generated from StakedUSDeV2.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  cooldownDuration: { signature: 'cooldownDuration()', selector: '0x35269315', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
