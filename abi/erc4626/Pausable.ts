// Generated from Pausable.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Paused: w.EventAbi<{ account: string }> = {
  name: 'Paused',
  signature: 'Paused(address)',
  topic0: '0x62e78cea01bee320cd4e420270b5ea74000d11b0c9f74754ebdbfc544b05a258',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    account: w.address(log.data, 2),
  }),
}

export const Unpaused: w.EventAbi<{ account: string }> = {
  name: 'Unpaused',
  signature: 'Unpaused(address)',
  topic0: '0x5db9ee0a495bf2e6ff9c91a7834c1ba4fdd244a5e8aa4e537bd38aeae4b073aa',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    account: w.address(log.data, 2),
  }),
}

export const events = [Paused, Unpaused] as const

export const functions = {
  paused: { signature: 'paused()', selector: '0x5c975abb', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
