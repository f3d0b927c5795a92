import { type Address, encodeFunctionData, maxUint256, zeroAddress } from 'viem'
import { log } from '../../../db/process/log.ts'
import { view } from '../../chain/view.ts'
import { type Claim, claimIdOf, type RewardContext, type RewardSource } from '../../rewards/source.ts'
import { aaveAbi, rewardsControllerAbi } from './abis.ts'

/** Aave v3's reward controllers: what is claimable is asked of the chain, no proof is needed. */
export function aaveRewards({ reader, tokenOf, vaultsOn }: RewardContext): RewardSource {
  return {
    name: 'aave-v3',
    async find(user, networks) {
      const down: string[] = []
      const claims = await Promise.all(
        networks.map(network =>
          onNetwork(network, user).catch((error: Error) => {
            log.warn({ network, error: error.message }, 'reward controllers could not be read')
            down.push(`aave-v3 on ${network}`)
            return []
          }),
        ),
      )
      return { claims: claims.flat(), down }
    },
  }

  async function onNetwork(network: string, user: Address): Promise<Claim[]> {
    const tokens = vaultsOn(network)
    if (tokens.length === 0) return []
    const claims: Claim[] = []
    for (const [controller, assets] of await byController(network, tokens)) {
      const { values } = await reader.read(
        network,
        { owed: view(rewardsControllerAbi, controller, 'getAllUserRewards', [assets, user]) },
        { age: 'fresh' },
      )
      const [rewards, amounts] = values.owed ?? [[], []]
      for (const [n, reward] of rewards.entries()) {
        const amount = amounts[n] ?? 0n
        if (amount === 0n) continue
        const token = await tokenOf(network, reward.toLowerCase() as Address)
        claims.push({
          claimId: claimIdOf('aave-v3', network, controller, token.address),
          source: 'aave-v3',
          network,
          distributor: controller,
          token,
          amount,
          group: {
            key: `aave-v3 ${network} ${controller} ${token.address}`,
            actions: account => [
              {
                name: 'claim-rewards',
                to: controller,
                data: encodeFunctionData({
                  abi: rewardsControllerAbi,
                  functionName: 'claimRewards',
                  args: [assets, maxUint256, account, token.address],
                }),
              },
            ],
          },
        })
      }
    }
    return claims
  }

  async function byController(network: string, tokens: readonly Address[]): Promise<Map<Address, Address[]>> {
    const { values } = await reader.read(
      network,
      Object.fromEntries(tokens.map(token => [token, view(aaveAbi, token, 'getIncentivesController', [])])),
    )
    const found = new Map<Address, Address[]>()
    for (const token of tokens) {
      const named = (values as Record<string, Address | undefined>)[token]
      const controller = named?.toLowerCase() as Address | undefined
      if (controller && controller !== zeroAddress)
        found.set(controller, [...(found.get(controller) ?? []), token])
    }
    return found
  }
}
