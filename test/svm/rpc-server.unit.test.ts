import { afterAll, beforeAll, expect, it } from 'vitest'
import { TestChain } from './chain.ts'
import { standsOn } from './programs/dumps.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'
import { STAKE_POOL_PROGRAM, TestPool, tokenInstruction } from './stake-pool.ts'
import { tokenAccountOf } from './tokens.ts'

standsOn(STAKE_POOL_PROGRAM)

const chain = new TestChain()
let node: RpcNode
beforeAll(async () => {
  node = await serveRpc(chain)
})
afterAll(() => node.close())

async function ask(method: string, ...params: unknown[]) {
  const response = await fetch(node.url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: what a node says is looked at by the test.
  return response.json() as Promise<any>
}

it('tells of slots, of what failed in them, and whose tokens are whose before and after', async () => {
  const pool = await TestPool.create(chain)
  const [wallet, other] = [await chain.wallet(), await chain.wallet()]
  const deposited = await chain.send(wallet, [
    await pool.openAccount(wallet.address, wallet),
    await pool.depositSol(wallet, 5_000_000_000n),
  ])
  chain.skip(2)
  const [given, failed] = chain.mine([
    await chain.transaction(wallet, [await tokenInstruction(pool, wallet, { giveTo: other.address })]),
    await chain.transaction(wallet, [await pool.depositSol(wallet, 1n << 60n)]),
  ])
  expect([deposited.failed, given?.failed]).toEqual([undefined, undefined])
  expect(failed?.failed).toContain('InstructionError')

  const { result: slots } = await ask('getBlocks', deposited.slot)
  expect(slots).toEqual([deposited.slot, deposited.slot + 3])
  const { error } = await ask('getBlock', deposited.slot + 1)
  expect(error).toMatchObject({ code: -32007, message: expect.stringContaining(`${deposited.slot + 1}`) })
  const { result: block } = await ask('getBlock', given?.slot)
  expect(block.parentSlot).toBe(deposited.slot)
  const [first, second] = block.transactions
  expect(first.meta.err).toBeNull()
  expect(second.meta.err).not.toBeNull()
  expect(first.meta.preTokenBalances[0]).toMatchObject({ owner: wallet.address, mint: pool.mint })
  expect(first.meta.postTokenBalances[0]).toMatchObject({
    owner: other.address,
    uiTokenAmount: { amount: '5000000000', decimals: 9 },
  })

  const account = await tokenAccountOf(wallet.address, pool.mint)
  const { result: accounts } = await ask('getMultipleAccounts', [account, pool.validators])
  expect(accounts.context.slot).toBe(chain.slot)
  const held = Buffer.from(accounts.value[0].data[0], 'base64')
  expect(held.readBigUInt64LE(64)).toBe(5_000_000_000n)
})
