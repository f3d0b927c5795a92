// Generated from StakedToken.json by abi/generate.ts. Do not edit.
import * as w from '../words.ts'

export const Staked: w.EventAbi<{ from: string; to: string; assets: bigint; shares: bigint }> = {
  name: 'Staked',
  signature: 'Staked(address,address,uint256,uint256)',
  topic0: '0x6c86f3fd5118b3aa8bb4f389a617046de0a3d3d477de1a1673d227f802f616dc',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const Redeem: w.EventAbi<{ from: string; to: string; assets: bigint; shares: bigint }> = {
  name: 'Redeem',
  signature: 'Redeem(address,address,uint256,uint256)',
  topic0: '0x3f693fff038bb8a046aa76d9516190ac7444f7d69cf952c4cbdc086fdef2d6fc',
  topicCount: 3,
  dataLength: 64,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    assets: w.uint(log.data, 2, 256),
    shares: w.uint(log.data, 66, 256),
  }),
}

export const Staked_2: w.EventAbi<{ from: string; to: string; amount: bigint }> = {
  name: 'Staked',
  signature: 'Staked(address,address,uint256)',
  topic0: '0x5dac0c1b1112564a045ba943c9d50270893e8e826c49be8e7073adc713ab7bd7',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const Redeem_2: w.EventAbi<{ from: string; to: string; amount: bigint }> = {
  name: 'Redeem',
  signature: 'Redeem(address,address,uint256)',
  topic0: '0xd12200efa34901b99367694174c3b0d32c99585fdf37c7c26892136ddd0836d9',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const RewardsClaimed: w.EventAbi<{ from: string; to: string; amount: bigint }> = {
  name: 'RewardsClaimed',
  signature: 'RewardsClaimed(address,address,uint256)',
  topic0: '0x9310ccfcb8de723f578a9e4282ea9f521f05ae40dc08f3068dfad528a65ee3c7',
  topicCount: 3,
  dataLength: 32,
  decode: log => ({
    from: w.address(w.topic(log, 1), 2),
    to: w.address(w.topic(log, 2), 2),
    amount: w.uint(log.data, 2, 256),
  }),
}

export const events = [Staked, Redeem, Staked_2, Redeem_2, RewardsClaimed] as const

export const functions = {
  REWARD_TOKEN: { signature: 'REWARD_TOKEN()', selector: '0x99248ea7', inputs: [] },
  STAKED_TOKEN: { signature: 'STAKED_TOKEN()', selector: '0x312f6b83', inputs: [] },
  previewRedeem: { signature: 'previewRedeem(uint256)', selector: '0x4cdad506', inputs: ['uint256'] },
} as const satisfies Record<string, w.FunctionAbi>
