// Generated from GenericFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const ProxyCreated: w.EventAbi<{ proxy: string; upgradeable: boolean; implementation: string; trailingData: string }> = {
  name: 'ProxyCreated',
  signature: 'ProxyCreated(address,bool,address,bytes)',
  topic0: '0x04e664079117e113faa9684bc14aecb41651cbf098b14eda271248c6d0cda57c',
  topicCount: 2,
  dataLength: { min: 128 },
  decode: log => ({
    proxy: w.address(w.topic(log, 1), 2),
    upgradeable: w.bool(log.data, 2),
    implementation: w.address(log.data, 66),
    trailingData: w.dynamicBytes(log.data, 130),
  }),
}

export const events = [ProxyCreated] as const
