import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { NodeFailedError } from './errors.ts'
import type { Node } from './node.ts'

/** The same on every chain. */
export const multicall3Address: Address = '0xca11bde05977b3631167028862be2a173976ca11'

/**
 * Puts the published Multicall3 at its canonical address. viem carries its creation code for calls without a
 * deployment, but does not export it; running that code gives what the chain would hold.
 */
export async function placeMulticall3(node: Node): Promise<void> {
  const viem = dirname(createRequire(import.meta.url).resolve('viem/package.json'))
  const source = readFileSync(join(viem, '_esm/constants/contracts.js'), 'utf8')
  const creation = /multicall3Bytecode = ['"](0x[0-9a-f]+)['"]/.exec(source)?.[1]
  if (creation === undefined) throw new NodeFailedError('viem no longer carries the code of Multicall3')
  const runtime = z.custom<Hex>().parse(await node.rpc('eth_call', [{ data: creation }, 'latest']))
  await node.rpc('anvil_setCode', [multicall3Address, runtime])
}
