// Generated from StataTokenFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const StataTokenCreated: w.EventAbi<{ stataToken: string; underlying: string }> = {
  name: 'StataTokenCreated',
  signature: 'StataTokenCreated(address,address)',
  topic0: '0x0ec83a356b7b07b8821a1ba5b1ab1de63115803b74028994ea88aaa096ab5c43',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    stataToken: w.address(w.topic(log, 1), 2),
    underlying: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [StataTokenCreated] as const
