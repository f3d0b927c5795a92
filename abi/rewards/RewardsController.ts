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

export const AssetConfigUpdated: w.EventAbi<{ asset: string; reward: string; oldEmission: bigint; newEmission: bigint; oldDistributionEnd: bigint; newDistributionEnd: bigint; assetIndex: bigint }> = {
  name: 'AssetConfigUpdated',
  signature: 'AssetConfigUpdated(address,address,uint256,uint256,uint256,uint256,uint256)',
  topic0: '0xac1777479f07f3e7c34da8402139d54027a6a260caaae168bdee825ca5580dc5',
  topicCount: 3,
  dataLength: 160,
  decode: log => ({
    asset: w.address(w.topic(log, 1), 2),
    reward: w.address(w.topic(log, 2), 2),
    oldEmission: w.uint(log.data, 2, 256),
    newEmission: w.uint(log.data, 66, 256),
    oldDistributionEnd: w.uint(log.data, 130, 256),
    newDistributionEnd: w.uint(log.data, 194, 256),
    assetIndex: w.uint(log.data, 258, 256),
  }),
}

export const events = [RewardsClaimed, AssetConfigUpdated] as const
