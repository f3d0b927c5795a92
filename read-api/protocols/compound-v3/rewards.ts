import { type Address, encodeFunctionData } from 'viem'
import { log } from '../../../db/process/log.ts'
import { view } from '../../chain/view.ts'
import { type Claim, claimIdOf, type RewardContext, type RewardSource } from '../../rewards/source.ts'
import { cometRewardsAbi } from './abis.ts'
import { cometRewardsOn } from './comet-rewards.ts'

/** Compound v3's rewards contracts. */
export function compoundRewards({ reader, tokenOf, vaultsOn, contracts = {} }: RewardContext): RewardSource {
  return {
    name: 'compound-v3',
    async find(user, networks) {
      const down: string[] = []
      const claims = await Promise.all(
        networks.map(network =>
          onNetwork(network, user).catch((error: Error) => {
            log.warn({ network, error: error.message }, 'comet rewards could not be read')
            down.push(`compound-v3 on ${network}`)
            return []
          }),
        ),
      )
      return { claims: claims.flat(), down }
    },
  }

  async function onNetwork(network: string, user: Address): Promise<Claim[]> {
    const rewards = contracts[network] ?? cometRewardsOn(network)
    const comets = vaultsOn(network)
    if (!rewards || comets.length === 0) return []
    const { values } = await reader.read(
      network,
      Object.fromEntries(
        comets.map(comet => [comet, view(cometRewardsAbi, rewards, 'getRewardOwed', [comet, user])]),
      ),
      { age: 'fresh' },
    )
    const claims: Claim[] = []
    for (const comet of comets) {
      const owed = (values as Record<string, { token: Address; owed: bigint } | undefined>)[comet]
      if (!owed || owed.owed === 0n) continue
      const token = await tokenOf(network, owed.token.toLowerCase() as Address)
      claims.push({
        claimId: claimIdOf('compound-v3', network, `${rewards} ${comet}`, token.address),
        source: 'compound-v3',
        network,
        distributor: rewards,
        token,
        amount: owed.owed,
        group: {
          key: `compound-v3 ${network} ${comet}`,
          actions: account => [
            {
              name: 'claim-rewards',
              to: rewards,
              data: encodeFunctionData({
                abi: cometRewardsAbi,
                functionName: 'claim',
                args: [comet, account, true],
              }),
            },
          ],
        },
      })
    }
    return claims
  }
}
