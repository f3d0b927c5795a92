// Generated from UniversalRewardsDistributor.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Claimed: w.EventAbi<{ account: string; reward: string; amount: bigint }> = {
  name: 'Claimed',
  signature: 'Claimed(address,address,uint256)',
  topic0: '0xf7a40077ff7a04c7e61f6f26fb13774259ddf1b6bce9ecf26a8276cdd3992683',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    account: w.address(w.topic(log, 1), 2),
    reward: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const events = [Claimed] as const
