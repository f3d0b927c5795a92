import { expect, it } from 'vitest'
import { readHeads } from '../../../db/chain/heads.ts'
import { SOLANA } from '../../../db/streams.ts'
import { TestChain } from '../../svm/chain.ts'
import { serveRpc } from '../../svm/rpc-server.ts'

it('Solana is at its newest final slot, as the first node that answers says, and left out where none does', async () => {
  const chain = new TestChain()
  chain.mine([])
  const node = await serveRpc(chain)
  const silent = await serveRpc(chain)
  silent.fault = () => ({ status: 500 })
  const heads = (...RPC_SOLANA: string[]) => readHeads({ rpc: {}, RPC_SOLANA })
  expect(await heads(silent.url, node.url)).toEqual(new Map([[SOLANA.name, chain.slot]]))
  expect(await heads(silent.url)).toEqual(new Map())
  expect(await heads()).toEqual(new Map())
  await node.close()
  await silent.close()
})
