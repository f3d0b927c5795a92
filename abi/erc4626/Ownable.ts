// Generated from Ownable.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const OwnershipTransferred: w.EventAbi<{ previousOwner: string; newOwner: string }> = {
  name: 'OwnershipTransferred',
  signature: 'OwnershipTransferred(address,address)',
  topic0: '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    previousOwner: w.address(w.topic(log, 1), 2),
    newOwner: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [OwnershipTransferred] as const

export const functions = {
  owner: { signature: 'owner()', selector: '0x8da5cb5b', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
