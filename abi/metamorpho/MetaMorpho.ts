// Generated from MetaMorpho.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const SetFee: w.EventAbi<{ caller: string; newFee: bigint }> = {
  name: 'SetFee',
  signature: 'SetFee(address,uint256)',
  topic0: '0x01fe2943baee27f47add82886c2200f910c749c461c9b63c5fe83901a53bdb49',
  topicCount: 2,
  dataLength: 32,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    newFee: w.uint(log.data, 2, 256),
  }),
}

export const SetCap: w.EventAbi<{ caller: string; id: string; cap: bigint }> = {
  name: 'SetCap',
  signature: 'SetCap(address,bytes32,uint256)',
  topic0: '0xe86b6d3313d3098f4c5f689c935de8fde876a597c185def2cedab85efedac686',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    id: w.topic(log, 2),
    cap: w.uint(log.data, 2, 256),
  }),
}

export const SetCurator: w.EventAbi<{ newCurator: string }> = {
  name: 'SetCurator',
  signature: 'SetCurator(address)',
  topic0: '0xbd0a63c12948fbc9194a5839019f99c9d71db924e5c70018265bc778b8f1a506',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    newCurator: w.address(w.topic(log, 1), 2),
  }),
}

export const SetGuardian: w.EventAbi<{ caller: string; guardian: string }> = {
  name: 'SetGuardian',
  signature: 'SetGuardian(address,address)',
  topic0: '0xcb11cc8aade2f5a556749d1b2380d108a16fac3431e6a5d5ce12ef9de0bd76e3',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    guardian: w.address(w.topic(log, 2), 2),
  }),
}

export const SetFeeRecipient: w.EventAbi<{ newFeeRecipient: string }> = {
  name: 'SetFeeRecipient',
  signature: 'SetFeeRecipient(address)',
  topic0: '0x2e979f80fe4d43055c584cf4a8467c55875ea36728fc37176c05acd784eb7a73',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    newFeeRecipient: w.address(w.topic(log, 1), 2),
  }),
}

export const events = [SetFee, SetCap, SetCurator, SetGuardian, SetFeeRecipient] as const

export const functions = {
  fee: { signature: 'fee()', selector: '0xddca3f43', inputs: [] },
  curator: { signature: 'curator()', selector: '0xe66f53b7', inputs: [] },
  guardian: { signature: 'guardian()', selector: '0x452a9320', inputs: [] },
  MORPHO: { signature: 'MORPHO()', selector: '0x3acb5624', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
