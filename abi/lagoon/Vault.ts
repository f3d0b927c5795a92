// Generated from Vault.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const DepositSync: w.EventAbi<{ sender: string; owner: string; assets: bigint; shares: bigint }> = {
  name: 'DepositSync',
  signature: 'DepositSync(address,address,uint256,uint256)',
  topic0: '0xc7fa05bbaa7a6c46527c364d2da9fbafe81091552e9cfa35b7fd69c27878afbc',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    sender: w.address(w.topic(log, 1), 2),
    owner: w.address(w.topic(log, 2), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const events = [DepositSync] as const
