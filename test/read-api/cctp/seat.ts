import type { Address } from 'viem'
import type { BlockEvents, BlockRef } from '../../../db/events/event-store.ts'
import { giveUsdc, placeBridge } from '../../chain/cctp.ts'
import type { Node } from '../../chain/node.ts'
import { stand } from '../stand.ts'
import * as w from '../world.ts'
import { type LoopbackIris, startIris } from './iris.ts'

/** What the examples of the bridge want: its contracts, a USDC of ALICE's, and the service that attests. */
export async function seatBridge(node: Node): Promise<LoopbackIris> {
  await giveUsdc(node, await placeBridge(node, 'mainnet'), w.ALICE as Address, 1_000_000n)
  return startIris({ 0: node })
}

/** A transfer of ALICE's to another chain, in the block after another. */
export function burnAfter({ number, timestamp }: Pick<BlockRef, 'number' | 'timestamp'>): BlockEvents {
  const hash = stand['{burn}'] ?? ''
  const data = {
    sourceDomain: 0,
    destinationDomain: 6,
    token: stand['{usdc}'] ?? '',
    depositor: w.ALICE,
    recipient: w.ALICE,
    amount: 7n,
    maxFee: 0n,
    minFinality: 2000,
    transferKey: hash,
    messageHash: hash,
  }
  const event = { type: 'BridgeSent' as const, protocol: 'cctp-v2', contract: w.USD_VAULT, logIndex: 0 }
  return {
    block: { number: number + 1, hash: `0x${'b8'.repeat(32)}`, timestamp: timestamp + 12 },
    events: [{ ...event, transactionHash: hash, data }],
  }
}
