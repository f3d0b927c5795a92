import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem'
import { z } from 'zod'
import { findNetwork, networkOfChain } from '../../../db/networks.ts'
import { log } from '../../../db/process/log.ts'
import { view } from '../../chain/view.ts'
import { address, amount, askProofs, hex } from '../../rewards/proof-service.ts'
import {
  type Claim,
  type ClaimGroup,
  claimIdOf,
  foldProof,
  type RewardContext,
  type RewardSource,
} from '../../rewards/source.ts'

/** @see Distributor.sol of AngleProtocol/merkl-contracts */
const distributorAbi = parseAbi([
  'function getMerkleRoot() view returns (bytes32)',
  'function claimed(address user, address token) view returns (uint208 amount, uint48 timestamp, bytes32 merkleRoot)',
  'function claim(address[] users, address[] tokens, uint256[] amounts, bytes32[][] proofs)',
])

/** The same address on every chain that Merkl serves. */
export const merklDistributor: Address = '0x3ef3d8ba38ebe18db133cec108f4d14ce00dd9ae'

/** GET /v4/users/{address}/rewards; amounts are cumulative. @see @merkl/api */
const rewardsAnswer = z.array(
  z.object({
    chain: z.object({ id: z.number() }),
    rewards: z.array(
      z.object({
        amount,
        proofs: z.array(hex),
        token: z.object({
          address,
          symbol: z.string(),
          name: z.string().optional(),
          decimals: z.number(),
          price: z.number().nullish(),
        }),
      }),
    ),
  }),
)

/** Tokens that stand for points and cannot be had. */
const pointSymbols = /^(POINT|PRETGE)/i

interface Proven {
  claim: Claim
  cumulative: bigint
  proof: readonly Hex[]
}

/** Merkl: proofs from its API, believed only where they fold to the root that the distributor holds now. */
export function merkl({
  reader,
  service,
  contracts: distributors = {},
}: RewardContext): RewardSource | undefined {
  if (service === undefined) return undefined
  return {
    name: 'merkl',
    async find(user, networks, signal) {
      const chainIds = networks.flatMap(network => findNetwork(network)?.chainId ?? [])
      const url = new URL(`/v4/users/${user.toLowerCase()}/rewards`, service)
      url.searchParams.set('chainId', chainIds.join(','))
      const answer = await askProofs(url, rewardsAnswer, signal)
      const found = await Promise.all(
        answer.map(async ({ chain, rewards }) => {
          const network = networkOfChain(chain.id)?.name
          const wanted = rewards.filter(({ token }) => !pointSymbols.test(token.symbol))
          if (!network || !networks.includes(network) || wanted.length === 0) return { claims: [], down: [] }
          try {
            return { claims: await onChain(network, user, wanted), down: [] }
          } catch (error) {
            log.warn({ network, error: (error as Error).message }, 'merkl claims could not be checked')
            return { claims: [], down: [`merkl on ${network}`] }
          }
        }),
      )
      return { claims: found.flatMap(({ claims }) => claims), down: found.flatMap(({ down }) => down) }
    },
  }

  async function onChain(
    network: string,
    user: Address,
    rewards: z.output<typeof rewardsAnswer>[number]['rewards'],
  ): Promise<Claim[]> {
    const distributor = distributors[network] ?? merklDistributor
    const { values } = await reader.read(
      network,
      {
        root: view(distributorAbi, distributor, 'getMerkleRoot', []),
        ...Object.fromEntries(
          rewards.map(({ token }) => [
            token.address,
            view(distributorAbi, distributor, 'claimed', [user, token.address]),
          ]),
        ),
      },
      { age: 'fresh' },
    )
    const answers = values as Record<string, unknown>
    const proven = new Map<string, Proven>()
    const group: ClaimGroup = {
      key: `merkl ${network} ${distributor}`,
      actions: (account, claims) => {
        const rows = claims.flatMap(({ claimId }) => proven.get(claimId) ?? [])
        return [
          {
            name: 'claim-rewards',
            to: distributor,
            data: encodeFunctionData({
              abi: distributorAbi,
              functionName: 'claim',
              args: [
                rows.map(() => account),
                rows.map(({ claim }) => claim.token.address),
                rows.map(({ cumulative }) => cumulative),
                rows.map(({ proof }) => [...proof]),
              ],
            }),
          },
        ]
      },
    }
    for (const { token, amount: cumulative, proofs: proof } of rewards) {
      const paid = (answers[token.address] as readonly [bigint, number, Hex] | undefined)?.[0]
      const leaf = keccak256(
        encodeAbiParameters(
          [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
          [user, token.address, cumulative],
        ),
      )
      if (paid === undefined || cumulative <= paid || foldProof(leaf, proof) !== values.root) continue
      const claimId = claimIdOf('merkl', network, distributor, token.address)
      const claim: Claim = {
        claimId,
        source: 'merkl',
        network,
        distributor,
        token: {
          address: token.address,
          symbol: token.symbol,
          name: token.name ?? token.symbol,
          decimals: token.decimals,
        },
        amount: cumulative - paid,
        ...(typeof token.price === 'number' ? { priceUsd: token.price } : {}),
        group,
      }
      proven.set(claimId, { claim, cumulative, proof })
    }
    return [...proven.values()].map(({ claim }) => claim)
  }
}
