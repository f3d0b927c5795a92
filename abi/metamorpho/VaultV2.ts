// Generated from VaultV2.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const SetPerformanceFee: w.EventAbi<{ newPerformanceFee: bigint }> = {
  name: 'SetPerformanceFee',
  signature: 'SetPerformanceFee(uint256)',
  topic0: '0x8b940a95968ad5b511f89b01075446a4fe9f614f2dc5fbb9e9a6b227d6d4fd70',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    newPerformanceFee: w.uint(log.data, 2, 256),
  }),
}

export const SetManagementFee: w.EventAbi<{ newManagementFee: bigint }> = {
  name: 'SetManagementFee',
  signature: 'SetManagementFee(uint256)',
  topic0: '0xd87632b1c6ebfa21acbca0e3279b3cf6385a377cb8fda51e5b866baa6e6012ab',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    newManagementFee: w.uint(log.data, 2, 256),
  }),
}

export const SetOwner: w.EventAbi<{ newOwner: string }> = {
  name: 'SetOwner',
  signature: 'SetOwner(address)',
  topic0: '0x167d3e9c1016ab80e58802ca9da10ce5c6a0f4debc46a2e7a2cd9e56899a4fb5',
  topicCount: 2,
  dataLength: 0,
  decode: log => ({
    newOwner: w.address(w.topic(log, 1), 2),
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

export const IncreaseAbsoluteCap: w.EventAbi<{ id: string; idData: string; newAbsoluteCap: bigint }> = {
  name: 'IncreaseAbsoluteCap',
  signature: 'IncreaseAbsoluteCap(bytes32,bytes,uint256)',
  topic0: '0x7368d59ed82f6a538f6deef9baa54623fe3699ce07b19031f762f740c8c34b03',
  topicCount: 2,
  dataLength: { min: 96 },
  decode: log => ({
    id: w.topic(log, 1),
    idData: w.dynamicBytes(log.data, 2),
    newAbsoluteCap: w.uint(log.data, 66, 256),
  }),
}

export const DecreaseAbsoluteCap: w.EventAbi<{ sender: string; id: string; idData: string; newAbsoluteCap: bigint }> = {
  name: 'DecreaseAbsoluteCap',
  signature: 'DecreaseAbsoluteCap(address,bytes32,bytes,uint256)',
  topic0: '0xbc2ffe81312f53db4f327eca188ebdc13df66a8ce25f7dec6f5b4495fe27b371',
  topicCount: 3,
  dataLength: { min: 96 },
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    id: w.topic(log, 2),
    idData: w.dynamicBytes(log.data, 2),
    newAbsoluteCap: w.uint(log.data, 66, 256),
  }),
}

export const events = [SetPerformanceFee, SetManagementFee, SetOwner, SetCurator, IncreaseAbsoluteCap, DecreaseAbsoluteCap] as const

export const functions = {
  performanceFee: { signature: 'performanceFee()', selector: '0x87788782', inputs: [] },
  managementFee: { signature: 'managementFee()', selector: '0xa6f7f5d6', inputs: [] },
  owner: { signature: 'owner()', selector: '0x8da5cb5b', inputs: [] },
  curator: { signature: 'curator()', selector: '0xe66f53b7', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
