import type { Address } from 'viem'
import { erc20, erc4626 } from './abis.ts'
import type { Vault } from './deploy.ts'
import type { Node } from './node.ts'

/**
 * What the contracts themselves answer at the end of a block: expected values that owe nothing to the index.
 * A node of `startNode` answers for all its past blocks.
 */
export interface VaultView {
  vault: Address
  block: number
  /** convertToAssets(10^decimals), in base units of the asset. */
  sharePrice: bigint
  totalAssets: bigint
  totalSupply: bigint
}

const callsPerRequest = 500

export async function vaultView(
  node: Node,
  vault: Pick<Vault, 'address' | 'decimals'>,
  block?: number,
): Promise<VaultView> {
  const at = block ?? (await node.head()).number
  const read = { address: vault.address, abi: erc4626 } as const
  const [sharePrice, totalAssets, totalSupply] = await node.client.multicall({
    contracts: [
      { ...read, functionName: 'convertToAssets', args: [10n ** BigInt(vault.decimals)] },
      { ...read, functionName: 'totalAssets' },
      { address: vault.address, abi: erc20, functionName: 'totalSupply' },
    ],
    allowFailure: false,
    blockNumber: BigInt(at),
  })
  return { vault: vault.address, block: at, sharePrice, totalAssets, totalSupply }
}

/** Views of several vaults at several blocks, vault by vault. Blocks before a vault's deployment are left out. */
export async function vaultViews(
  node: Node,
  vaults: readonly (Pick<Vault, 'address' | 'decimals'> & { deployedBlock?: number })[],
  blocks: readonly number[],
): Promise<VaultView[]> {
  const views: VaultView[] = []
  for (const vault of vaults) {
    for (const block of blocks) {
      if (block >= (vault.deployedBlock ?? 0)) views.push(await vaultView(node, vault, block))
    }
  }
  return views
}

/** balanceOf of every holder at a block, in base units; zeros included. */
export async function balancesOf(
  node: Node,
  token: Address,
  holders: readonly Address[],
  block?: number,
): Promise<Map<Address, bigint>> {
  const pairs = holders.map(holder => ({ token, holder }))
  const values = await balances(node, pairs, block)
  return new Map(holders.map((holder, i) => [holder, values[i] ?? 0n]))
}

/** balanceOf of each pair, in the order given. */
export async function balances(
  node: Node,
  pairs: readonly { token: Address; holder: Address }[],
  block?: number,
): Promise<bigint[]> {
  const at = block ?? (await node.head()).number
  const values: bigint[] = []
  for (let i = 0; i < pairs.length; i += callsPerRequest) {
    const contracts = pairs
      .slice(i, i + callsPerRequest)
      .map(
        ({ token, holder }) =>
          ({ address: token, abi: erc20, functionName: 'balanceOf', args: [holder] }) as const,
      )
    values.push(
      ...(await node.client.multicall({
        contracts,
        allowFailure: false,
        blockNumber: BigInt(at),
        batchSize: 1_000_000,
      })),
    )
  }
  return values
}
