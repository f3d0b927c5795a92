// Generated from StakingRewards.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const RewardAdded: w.EventAbi<{ reward: bigint }> = {
  name: 'RewardAdded',
  signature: 'RewardAdded(uint256)',
  topic0: '0xde88a922e0d3b88b24e9623efeb464919c6bf9f66857a65e2bfcf2ce87a9433d',
  topicCount: 1,
  dataLength: 32,
  decode: log => ({
    reward: w.uint(log.data, 2, 256),
  }),
}

export const events = [RewardAdded] as const

export const functions = {
  rewardRate: { signature: 'rewardRate()', selector: '0x7b0a47ee', inputs: [] },
  periodFinish: { signature: 'periodFinish()', selector: '0xebe2b12b', inputs: [] },
  rewardsToken: { signature: 'rewardsToken()', selector: '0xd1af0c7d', inputs: [] },
  rewardToken: { signature: 'rewardToken()', selector: '0xf7c618c1', inputs: [] },
} as const satisfies Record<string, w.FunctionAbi>
