// Generated from TrackingRewardStreams.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const RewardRegistered: w.EventAbi<{ caller: string; rewarded: string; reward: string; startEpoch: bigint; rewardAmounts: bigint[] }> = {
  name: 'RewardRegistered',
  signature: 'RewardRegistered(address,address,address,uint256,uint128[])',
  topic0: '0x94d5941858c2721be2d67f19b407c04696f9eaa34e16abb742898248d5bace94',
  topicCount: 4,
  dataLength: { min: 96 },
  decode: log => ({
    caller: w.address(w.topic(log, 1), 2),
    rewarded: w.address(w.topic(log, 2), 2),
    reward: w.address(w.topic(log, 3), 2),
    startEpoch: w.uint(log.data, 2, 256),
    rewardAmounts: w.uints(log.data, 66, 128),
  }),
}

export const events = [RewardRegistered] as const

export const functions = {
  EPOCH_DURATION: { signature: 'EPOCH_DURATION()', selector: '0xa70b9f0c', inputs: [] },
  getEpochStartTimestamp: { signature: 'getEpochStartTimestamp(uint48)', selector: '0xc84705d4', inputs: ['uint48'] },
} as const satisfies Record<string, w.FunctionAbi>
