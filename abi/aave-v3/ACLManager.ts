// Generated from ACLManager.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const RoleGranted: w.EventAbi<{ role: string; account: string; sender: string }> = {
  name: 'RoleGranted',
  signature: 'RoleGranted(bytes32,address,address)',
  topic0: '0x2f8788117e7eff1d82e926ec794901d17c78024a50270940304540a733656f0d',
  topicCount: 4,
  dataLength: 0,
  decode: log => ({
    role: w.topic(log, 1),
    account: w.address(w.topic(log, 2), 2),
    sender: w.address(w.topic(log, 3), 2),
  }),
}

export const RoleRevoked: w.EventAbi<{ role: string; account: string; sender: string }> = {
  name: 'RoleRevoked',
  signature: 'RoleRevoked(bytes32,address,address)',
  topic0: '0xf6391f5c32d9c69d2a47ea670b442974b53935d1edc7fd64eb21e047a839171b',
  topicCount: 4,
  dataLength: 0,
  decode: log => ({
    role: w.topic(log, 1),
    account: w.address(w.topic(log, 2), 2),
    sender: w.address(w.topic(log, 3), 2),
  }),
}

export const events = [RoleGranted, RoleRevoked] as const
