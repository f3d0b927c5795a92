// Generated from MessageTransmitterV2.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const MessageReceived: w.EventAbi<{ caller: string; sourceDomain: number; nonce: string; sender: string; finalityThresholdExecuted: number; messageBody: string }> = {
  name: 'MessageReceived',
  signature: 'MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)',
  topic0: '0xff48c13eda96b1cceacc6b9edeedc9e9db9d6226afbc30146b720c19d3addb1c',
  topicCount: 4,
  dataLength: { min: 128 },
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    sourceDomain: w.smallUint(log.data, 2, 32),
    nonce: w.topic(log, 2),
    sender: w.bytes(log.data, 66, 32),
    finalityThresholdExecuted: w.smallUint(w.topic(log, 3), 2, 32),
    messageBody: w.dynamicBytes(log.data, 130),
  }),
}

export const MessageSent: w.EventAbi<{ message: string }> = {
  name: 'MessageSent',
  signature: 'MessageSent(bytes)',
  topic0: '0x8c5261668696ce22758910d05bab8f186d6eb247ceac2af2e82c7dc17669b036',
  topicCount: 1,
  dataLength: { min: 64 },
  decode: log => ({
    message: w.dynamicBytes(log.data, 2),
  }),
}

export const events = [MessageReceived, MessageSent] as const
