import type { Ask } from '../../db/chain/failover.ts'
import { VaultlogError } from '../../db/process/errors.ts'

/** Of Solana's first block. @see CAIP-2, namespace solana: its first 32 characters name the chain */
const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

export class WrongClusterError extends VaultlogError {
  readonly code = 'WRONG_CHAIN'
  constructor(found: unknown) {
    super(
      `The node says that its first block is ${String(found)}; Solana's is ${GENESIS}. Nothing is stored. Check RPC_SOLANA.`,
    )
  }
}

/** @throws WrongClusterError */
export async function assertRightCluster(ask: Ask): Promise<void> {
  const found = await ask('getGenesisHash', [])
  if (found !== GENESIS) throw new WrongClusterError(found)
}
