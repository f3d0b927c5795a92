// Generated from PoolAddressesProvider.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const PriceOracleUpdated: w.EventAbi<{ oldAddress: string; newAddress: string }> = {
  name: 'PriceOracleUpdated',
  signature: 'PriceOracleUpdated(address,address)',
  topic0: '0x56b5f80d8cac1479698aa7d01605fd6111e90b15fc4d2b377417f46034876cbd',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    oldAddress: w.address(w.topic(log, 1), 2),
    newAddress: w.address(w.topic(log, 2), 2),
  }),
}

export const ACLManagerUpdated: w.EventAbi<{ oldAddress: string; newAddress: string }> = {
  name: 'ACLManagerUpdated',
  signature: 'ACLManagerUpdated(address,address)',
  topic0: '0xb30efa04327bb8a537d61cc1e5c48095345ad18ef7cc04e6bacf7dfb6caaf507',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    oldAddress: w.address(w.topic(log, 1), 2),
    newAddress: w.address(w.topic(log, 2), 2),
  }),
}

export const ACLAdminUpdated: w.EventAbi<{ oldAddress: string; newAddress: string }> = {
  name: 'ACLAdminUpdated',
  signature: 'ACLAdminUpdated(address,address)',
  topic0: '0xe9cf53972264dc95304fd424458745019ddfca0e37ae8f703d74772c41ad115b',
  topicCount: 3,
  dataLength: 0,
  decode: log => ({
    oldAddress: w.address(w.topic(log, 1), 2),
    newAddress: w.address(w.topic(log, 2), 2),
  }),
}

export const events = [PriceOracleUpdated, ACLManagerUpdated, ACLAdminUpdated] as const

export const functions = {
  getPool: { signature: 'getPool()', selector: '0x026b1d5f', inputs: [] },
  getPriceOracle: { signature: 'getPriceOracle()', selector: '0xfca513a8', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
