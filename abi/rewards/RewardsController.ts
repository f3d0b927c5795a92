// Generated from RewardsController.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const RewardsClaimed: w.EventAbi<{ user: string; reward: string; to: string; claimer: string; amount: bigint }> = {
  name: 'RewardsClaimed',
  signature: 'RewardsClaimed(address,address,address,address,uint256)',
  topic0: '0xc052130bc4ef84580db505783484b067ea8b71b3bca78a7e12db7aea8658f004',
  topicCount: 4,
  dataLength: 64,
  decode: log => ({
    user: w.address(w.topic(log, 1), 2),
    reward: w.address(w.topic(log, 2), 2),
    to: w.address(w.topic(log, 3), 2),
    claimer: w.address(log.data, 2),
    amount: w.uint(log.data, 66, 256),
  }),
}

export const events = [RewardsClaimed] as const
