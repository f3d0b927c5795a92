// Generated from AggregatorProxy.json by abi/generate.ts. Do not edit.
import type * as w from '../words.ts'

export const functions = {
  aggregator: { signature: 'aggregator()', selector: '0x245a7bfc', inputs: [] },
  phaseId: { signature: 'phaseId()', selector: '0x58303b10', inputs: [] },
  phaseAggregators: { signature: 'phaseAggregators(uint16)', selector: '0xc1597304', inputs: ['uint16'] },
} as const satisfies Record<string, w.FunctionAbi>
