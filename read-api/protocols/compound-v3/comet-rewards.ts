import type { Address } from 'viem'
import table from '../../../db/registry/contracts/rewards.json' with { type: 'json' }

/** CometRewards of Compound v3 on a network, where it pays any. */
export function cometRewardsOn(network: string): Address | undefined {
  const networks: Record<string, string[]> = table['comet-rewards'].networks
  return networks[network]?.[0] as Address | undefined
}
