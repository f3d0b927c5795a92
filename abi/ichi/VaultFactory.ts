// Generated from VaultFactory.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const ICHIVaultCreated: w.EventAbi<{ sender: string; ichiVault: string; tokenA: string; allowTokenA: boolean; tokenB: string; allowTokenB: boolean; fee: number; count: bigint }> = {
  name: 'ICHIVaultCreated',
  signature: 'ICHIVaultCreated(address,address,address,bool,address,bool,uint24,uint256)',
  topic0: '0xde147f43b6837f282eee187234c866cf001806167325f3ea883e36bed0c16a20',
  topicCount: 2,
  dataLength: 224,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    ichiVault: w.address(log.data, 2),
    tokenA: w.address(log.data, 66),
    allowTokenA: w.bool(log.data, 130),
    tokenB: w.address(log.data, 194),
    allowTokenB: w.bool(log.data, 258),
    fee: w.smallUint(log.data, 322, 24),
    count: w.uint(log.data, 386, 256),
  }),
}

export const events = [ICHIVaultCreated] as const
