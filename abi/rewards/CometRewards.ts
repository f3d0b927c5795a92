// Generated from CometRewards.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const RewardClaimed: w.EventAbi<{ src: string; recipient: string; token: string; amount: bigint }> = {
  name: 'RewardClaimed',
  signature: 'RewardClaimed(address,address,address,uint256)',
  topic0: '0x2422cac5e23c46c890fdcf42d0c64757409df6832174df639337558f09d99c68',
  topicCount: 4,
  dataLength: 32,
  decode: log => ({
    src: w.address(w.topic(log, 1), 2),
    recipient: w.address(w.topic(log, 2), 2),
    token: w.address(w.topic(log, 3), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const events = [RewardClaimed] as const
