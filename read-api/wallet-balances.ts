import type { Address } from 'viem'
import { erc20Abi } from 'viem'
import { networkOfChain } from '../db/networks.ts'
import { keyOf } from './catalogue/catalogue.ts'
import { deadline } from './chain/deadline.ts'
import { multicall3Abi, multicall3Address } from './chain/multicall.ts'
import type { View } from './chain/view.ts'
import { view } from './chain/view.ts'
import type { EndpointContext } from './endpoint.ts'
import { DependencyDownError } from './errors.ts'
import { NATIVE_ADDRESS } from './native-coins.ts'

export interface TokenRef {
  readonly chainId: number
  readonly address: string
}

export interface WalletBalances {
  /** Base units by `chain:address`. A token that does not answer is not there. */
  balances: ReadonlyMap<string, bigint>
  /** Chains whose balances are not known: no endpoint answered in time, or none is configured. */
  unreachable: string[]
  /** By chain, the block the balances are of. */
  blocks: ReadonlyMap<number, bigint>
}

/** What a wallet holds of these tokens on chain now: one batch of calls per chain, all under one deadline. */
export async function readWallet(
  wallet: string,
  tokens: readonly TokenRef[],
  { deps, signal }: Pick<EndpointContext, 'deps' | 'signal'>,
  deadlineMs: number,
): Promise<WalletBalances> {
  const byChain = new Map<number, Set<string>>()
  for (const { chainId, address } of tokens) {
    byChain.set(chainId, (byChain.get(chainId) ?? new Set()).add(address))
  }
  const balances = new Map<string, bigint>()
  const blocks = new Map<number, bigint>()
  const unreachable: string[] = []
  const { passed, cancel } = deadline(deadlineMs, signal)
  try {
    await Promise.all(
      [...byChain].map(async ([chainId, addresses]) => {
        const network = networkOfChain(chainId)?.name ?? String(chainId)
        const views: Record<string, View<bigint>> = {}
        for (const address of addresses) {
          views[address] =
            address === NATIVE_ADDRESS
              ? view(multicall3Abi, multicall3Address, 'getEthBalance', [wallet as Address])
              : view(erc20Abi, address as Address, 'balanceOf', [wallet as Address])
        }
        const reading = deps.onChain.reader.read(network, views)
        reading.catch(() => {})
        try {
          const { block, values } = await Promise.race([reading, passed(network)])
          blocks.set(chainId, block.number)
          for (const address of addresses) {
            const balance = values[address]
            if (balance !== undefined) balances.set(keyOf(chainId, address), balance)
          }
        } catch (error) {
          if (!(error instanceof DependencyDownError)) throw error
          unreachable.push(network)
        }
      }),
    )
  } finally {
    cancel()
  }
  return { balances, unreachable: unreachable.sort(), blocks }
}
