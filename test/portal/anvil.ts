import type { Node } from '../chain/node.ts'
import { blockFromRpc, type GatewayBlock } from '../gateway/blocks.ts'

/** The blocks of a local node, with their receipts, as a Portal and a gateway have them. */
export async function blocksOfNode(node: Node, from: number, to: number): Promise<GatewayBlock[]> {
  const blocks: GatewayBlock[] = []
  for (let number = from; number <= to; number++) {
    const height = `0x${number.toString(16)}`
    const [block, receipts] = await Promise.all([
      node.rpc('eth_getBlockByNumber', [height, true]),
      node.rpc('eth_getBlockReceipts', [height]),
    ])
    blocks.push(blockFromRpc(block, receipts))
  }
  return blocks
}
