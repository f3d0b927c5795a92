import { numberToHex } from 'viem'
import { StateMissingError } from '../../db/chain/errors.ts'
import type { Ask } from '../../db/chain/failover.ts'
import type { BlockParameter, StrangerReader } from '../../db/chain/stranger-reader.ts'
import type { BlockRef } from '../../db/events/event-store.ts'
import type { KeptState } from './kept-state.ts'
import type { LostState } from './lost-state.ts'
import { hex } from './rpc-values.ts'

export interface ContractCode {
  /** As the node says it, which may have dropped that state. */
  hasCode(contract: string, height: number): Promise<boolean>
  /**
   * Those of these contracts that exist at a height.
   *
   * @throws StateMissingError
   * @throws RpcRefusedError the node does not know
   */
  codeAt(contracts: readonly string[], height: number): Promise<string[]>
  /** Which of these contracts exist at the end of a block; none where the node has no state of it. */
  haveCode(contracts: readonly string[], block: BlockRef): Promise<Set<string>>
}

export function openContractCode(
  ask: Ask,
  { strangers, kept, lost }: { strangers: StrangerReader; kept: KeptState; lost: LostState },
): ContractCode {
  const exists = async (contract: string, at: BlockParameter): Promise<boolean> =>
    hex.parse(await ask('eth_getCode', [contract, at])) !== '0x'

  /** @throws StateMissingError */
  async function existing(
    contracts: readonly string[],
    height: number,
    at: BlockParameter,
  ): Promise<string[]> {
    const found = await Promise.all(contracts.map(contract => exists(contract, at)))
    if (found.includes(false)) await kept.assertKept(height)
    return contracts.filter((_, i) => found[i])
  }

  return {
    hasCode: (contract, height) => exists(contract, numberToHex(height)),
    codeAt: (contracts, height) => existing(contracts, height, numberToHex(height)),
    async haveCode(contracts, block) {
      if (contracts.length === 0 || lost.isLost(block.number)) return new Set()
      const at = { blockHash: block.hash }
      try {
        // A node without that state would refuse each of them.
        await strangers.stand(at)
        return new Set(await existing(contracts, block.number, at))
      } catch (error) {
        if (!(error instanceof StateMissingError)) throw error
        await lost.note(block, error)
        return new Set()
      }
    },
  }
}
