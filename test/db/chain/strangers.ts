import { type Address, type Hex, toEventSelector } from 'viem'
import type { Node } from '../../chain/node.ts'

const DEPOSIT = toEventSelector('Deposit(address,address,uint256,uint256)').slice(2)

/** What contracts do to whoever asks them something, in bytes of code. */
export const misbehaviours = {
  'answers 2.5 MB': '622625a05ff3',
  'reverts with 1 MB': '620f42405ffd',
  'burns all gas': 'fe',
  'loops for ever': '5b602d56',
  'answers invalid UTF-8': '60205f5260406020527fff'.concat('fe'.repeat(31), '60405260605ff3'),
} as const

/**
 * Places a contract that emits a vault's Deposit when it is called without data, and does this when it is asked
 * something.
 */
export async function placeStranger(node: Node, address: Address, body: string): Promise<void> {
  const code: Hex = `0x36602c5733337f${DEPOSIT}60405fa3005b${body}`
  await node.rpc('anvil_setCode', [address, code])
}

export const addressOf = (n: number): Address => `0x${n.toString(16).padStart(4, '0').repeat(10)}`
