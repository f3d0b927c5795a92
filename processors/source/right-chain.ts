import type { Network } from '../../db/networks.ts'
import { variableOf } from '../../db/process/env.ts'
import { VaultlogError } from '../../db/process/errors.ts'
import type { ChainRpc } from './rpc.ts'

/** The node is one of another chain. */
export class WrongChainError extends VaultlogError {
  readonly code = 'WRONG_CHAIN'
  override readonly retryable: boolean
  /**
   * @param isNew the node has never been of the right chain in this run: a mistake in the configuration
   * @param consequence in words
   */
  constructor(network: Network, found: number, isNew: boolean, consequence: string) {
    super(
      `The node of ${network.name} says eth_chainId ${found}; ${network.name} is ${network.chainId}. ` +
        `${consequence} Check ${variableOf(network.name, 'RPC_')}.`,
    )
    this.retryable = !isNew
  }
}

/** @throws WrongChainError before anything of another chain is compared with what is stored */
export async function assertComparable(rpc: ChainRpc, network: Network): Promise<void> {
  const found = await rpc.chainId()
  if (found !== network.chainId)
    throw new WrongChainError(network, found, true, 'Nothing was compared with it: give --rpc a node of it.')
}
