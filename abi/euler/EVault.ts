// Generated from EVault.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const GovSetCaps: w.EventAbi<{ newSupplyCap: number; newBorrowCap: number }> = {
  name: 'GovSetCaps',
  signature: 'GovSetCaps(uint16,uint16)',
  topic0: '0xadbdcd178dfddc478805a3703b6cf3b72ca5e78ecebacffe1aad03188cc1cbf4',
  topicCount: 1,
  dataLength: 64,
  decode: log => ({
    newSupplyCap: w.smallUint(log.data, 2, 16),
    newBorrowCap: w.smallUint(log.data, 66, 16),
  }),
}

export const GovSetInterestFee: w.EventAbi<{ newFee: number }> = {
  name: 'GovSetInterestFee',
  signature: 'GovSetInterestFee(uint16)',
  topic0: '0x634a58674e370383703eff32d9d4e4b3d1add94d50e8bcb631b04995d8e47341',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    newFee: w.smallUint(log.data, 2, 16),
  }),
}

export const events = [GovSetCaps, GovSetInterestFee] as const
