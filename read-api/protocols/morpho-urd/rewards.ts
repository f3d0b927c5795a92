import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem'
import { z } from 'zod'
import { networkOfChain } from '../../../db/networks.ts'
import { log } from '../../../db/process/log.ts'
import { view } from '../../chain/view.ts'
import { address, amount, askProofs, hex } from '../../rewards/proof-service.ts'
import {
  type Claim,
  claimIdOf,
  foldProof,
  type RewardContext,
  type RewardSource,
} from '../../rewards/source.ts'

/** @see UniversalRewardsDistributor.sol of morpho-org/universal-rewards-distributor */
const urdAbi = parseAbi([
  'function root() view returns (bytes32)',
  'function claimed(address account, address reward) view returns (uint256)',
  'function claim(address account, address reward, uint256 claimable, bytes32[] proof) returns (uint256)',
])

/** @see UrdFactory.sol of morpho-org/universal-rewards-distributor */
const factoryAbi = parseAbi(['function isUrd(address target) view returns (bool)'])

/** UrdFactory by network: https://docs.morpho.org/get-started/resources/addresses. Elsewhere there is none to ask. */
const urdFactories: Partial<Record<string, Address>> = {
  mainnet: '0x9baa51245cdd28d8d74afe8b3959b616e9ee7c8d',
  base: '0x7276454fc1cf9c408deeed722fd6b5e7a4ca25d8',
}

/** GET /v1/users/{address}/distributions; `claimable` is cumulative. */
const distributionsAnswer = z.object({
  data: z.array(
    z.object({
      asset: z.object({ address, chain_id: z.number() }),
      distributor: z.object({ address, chain_id: z.number() }),
      claimable: amount,
      proof: z.array(hex),
    }),
  ),
})

type Distribution = z.output<typeof distributionsAnswer>['data'][number]

/**
 * Morpho's Universal Rewards Distributors; new rewards of Morpho go through Merkl. Which contract distributes is the word
 * of the service: only one that the factory made is asked, and named to a wallet.
 */
export function morphoUrd({ reader, tokenOf, service, contracts }: RewardContext): RewardSource | undefined {
  if (service === undefined) return undefined
  const factories: Partial<Record<string, Address>> = { ...urdFactories, ...contracts }
  return {
    name: 'morpho-urd',
    async find(user, networks, signal) {
      const url = new URL(`/v1/users/${user}/distributions`, service)
      const { data } = await askProofs(url, distributionsAnswer, signal)
      const byNetwork = new Map<string, Distribution[]>()
      for (const row of data) {
        const network = networkOfChain(row.distributor.chain_id)?.name
        if (network && networks.includes(network) && factories[network]) {
          byNetwork.set(network, [...(byNetwork.get(network) ?? []), row])
        }
      }
      const down: string[] = []
      const claims = await Promise.all(
        [...byNetwork].map(([network, rows]) =>
          onChain(network, user, rows).catch((error: Error) => {
            log.warn({ network, error: error.message }, 'morpho claims could not be checked')
            down.push(`morpho-urd on ${network}`)
            return []
          }),
        ),
      )
      return { claims: claims.flat(), down }
    },
  }

  async function onChain(network: string, user: Address, rows: readonly Distribution[]): Promise<Claim[]> {
    const factory = factories[network]
    if (!factory) return []
    const { values } = await reader.read(
      network,
      Object.fromEntries(
        rows.flatMap(({ distributor, asset }, n) => [
          [`made ${n}`, view(factoryAbi, factory, 'isUrd', [distributor.address])],
          [`root ${n}`, view(urdAbi, distributor.address, 'root', [])],
          [`claimed ${n}`, view(urdAbi, distributor.address, 'claimed', [user, asset.address])],
        ]),
      ),
      { age: 'fresh' },
    )
    const answers = values as Record<string, unknown>
    const claims: Claim[] = []
    for (const [n, { distributor, asset, claimable, proof }] of rows.entries()) {
      const paid = answers[`claimed ${n}`]
      if (answers[`made ${n}`] !== true) {
        log.warn(
          { network, distributor: distributor.address },
          'the rewards service names a foreign distributor',
        )
        continue
      }
      if (typeof paid !== 'bigint' || claimable <= paid) continue
      if (foldProof(leafOf(user, asset.address, claimable), proof) !== answers[`root ${n}`]) continue
      claims.push({
        claimId: claimIdOf('morpho-urd', network, distributor.address, asset.address),
        source: 'morpho-urd',
        network,
        distributor: distributor.address,
        token: await tokenOf(network, asset.address),
        amount: claimable - paid,
        group: {
          key: `morpho-urd ${network} ${distributor.address} ${asset.address}`,
          actions: account => [
            {
              name: 'claim-rewards',
              to: distributor.address,
              data: encodeFunctionData({
                abi: urdAbi,
                functionName: 'claim',
                args: [account, asset.address, claimable, proof],
              }),
            },
          ],
        },
      })
    }
    return claims
  }
}

/** Hashed twice, the layout of @openzeppelin/merkle-tree's StandardMerkleTree. */
function leafOf(account: Address, reward: Address, claimable: bigint): Hex {
  return keccak256(
    keccak256(
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'address' }, { type: 'uint256' }],
        [account, reward, claimable],
      ),
    ),
  )
}
