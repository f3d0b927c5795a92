// Generated from Pool.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  slot0: { signature: 'slot0()', selector: '0x3850c7bd', inputs: [] },
  globalState: { signature: 'globalState()', selector: '0xe76c01e4', inputs: [] },
  observe: { signature: 'observe(uint32[])', selector: '0x883bdbfd', inputs: ['uint32[]'] },
} as const satisfies Record<string, w.FunctionAbi>
