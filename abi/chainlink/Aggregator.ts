// Generated from Aggregator.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const AnswerUpdated: w.EventAbi<{ current: bigint; roundId: bigint; updatedAt: bigint }> = {
  name: 'AnswerUpdated',
  signature: 'AnswerUpdated(int256,uint256,uint256)',
  topic0: '0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    current: w.int(w.topic(log, 1), 2, 256),
    roundId: w.uint(w.topic(log, 2), 2, 256),
    updatedAt: w.uint(log.data, 2, 256),
  }),
}

export const events = [AnswerUpdated] as const

export const functions = {
  decimals: { signature: 'decimals()', selector: '0x313ce567', inputs: [] },
  description: { signature: 'description()', selector: '0x7284e416', inputs: [] },
  latestRoundData: { signature: 'latestRoundData()', selector: '0xfeaf968c', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
