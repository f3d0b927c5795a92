// Generated from EthereumVaultConnector.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const OwnerRegistered: w.EventAbi<{ addressPrefix: string; owner: string }> = {
  name: 'OwnerRegistered',
  signature: 'OwnerRegistered(bytes19,address)',
  topic0: '0x67cb2734834e775d6db886bf16ac03d7273b290223ee5363354b385ec5b643b0',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    addressPrefix: w.bytes(w.topic(log, 1), 2, 19),
    owner: w.address(w.topic(log, 2), 2),
  }),
}

export const CollateralStatus: w.EventAbi<{ account: string; collateral: string; enabled: boolean }> = {
  name: 'CollateralStatus',
  signature: 'CollateralStatus(address,address,bool)',
  topic0: '0xf022705c827017c972043d1984cfddc7958c9f4685b4d9ce8bd68696f4381cd2',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    account: w.address(w.topic(log, 1), 2),
    collateral: w.address(w.topic(log, 2), 2),
    enabled: w.bool(log.data, 2),
  }),
}

export const ControllerStatus: w.EventAbi<{ account: string; controller: string; enabled: boolean }> = {
  name: 'ControllerStatus',
  signature: 'ControllerStatus(address,address,bool)',
  topic0: '0x9919d437ee612d4ec7bba88a7d9bc4fc36a0a23608ad6259252711a46b708af9',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    account: w.address(w.topic(log, 1), 2),
    controller: w.address(w.topic(log, 2), 2),
    enabled: w.bool(log.data, 2),
  }),
}

export const events = [OwnerRegistered, CollateralStatus, ControllerStatus] as const
