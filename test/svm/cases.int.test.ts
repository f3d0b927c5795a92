import { type Address, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { loadPrograms } from '../../processors/svm/load-programs.ts'
import { runSvm } from '../../processors/svm/processor.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { TestChain } from './chain.ts'
import { indexSolana } from './index-solana.ts'
import { standsOn } from './programs/dumps.ts'
import { routed } from './router.ts'
import { serveRpc } from './rpc-server.ts'
import { STAKE_POOL_PROGRAM, TestPool, tokenInstruction } from './stake-pool.ts'
import { TOKEN_PROGRAM, tokenAccountOf } from './tokens.ts'

standsOn(STAKE_POOL_PROGRAM)

const hex = (address: string, bytes = 32) => fromBase58(address, bytes) ?? ''
const opened: (() => Promise<void>)[] = []
let chain: TestChain
let pool: TestPool
let wallet: KeyPairSigner
let other: KeyPairSigner

beforeEach(async () => {
  chain = new TestChain()
  pool = await TestPool.create(chain)
  wallet = await chain.wallet()
  other = await chain.wallet()
  for (const one of [wallet, other]) await chain.send(one, [await pool.openAccount(one.address, one)])
})
afterAll(async () => {
  for (const close of opened) await close()
})

async function indexed(
  hasSamples = false,
): Promise<{ store: TestPostgres; events: Awaited<ReturnType<typeof readEvents>> }> {
  const [node, store] = [await serveRpc(chain), await createPostgres()]
  opened.push(node.close, store.drop)
  const ask = openFailover([node.url])
  await indexSolana(store.pool, { chain, source: openRpcSource(ask), ask: hasSamples ? ask : undefined })
  return { store, events: await readEvents(store.pool, SOLANA.id, { after: 0 }) }
}

const send = async (instructions: Instruction[]) => {
  const sent = await chain.send(wallet, instructions)
  expect(sent.failed).toBeUndefined()
  return sent
}

it('sees deposits that other programs make, one by one, and of one outer instruction only one place', async () => {
  const [first, second] = [
    await pool.depositSol(wallet, 3_000_000n),
    await pool.depositSol(wallet, 4_000_000n),
  ]
  await send([first, routed(chain, second), routed(chain, first, 2)])
  const { events } = await indexed()
  const deposits = events.filter(({ type }) => type === 'SvmDeposited')
  expect(
    deposits.map(({ data }) => [data['instructionIndex'], data['path'], data['assets'], data['account']]),
  ).toEqual([
    [0, '0', '3000000', hex(wallet.address)],
    [1, '1.0', '4000000', hex(wallet.address)],
    [2, '2.0.0.0', '3000000', hex(wallet.address)],
  ])
  // The first one and its two, the second one behind its router, the third one behind three.
  expect(deposits.map(({ log_index }) => (log_index ?? 0) % 256)).toEqual([0, 4, 10])
})

it('follows shares from hand to hand: sent, given with their account, held for somebody else', async () => {
  const stranger = (await generateKeyPairSigner()).address
  await send([
    await pool.openAccount(stranger, wallet),
    await pool.depositSol(wallet, 5_000_000n, { to: await tokenAccountOf(stranger, pool.mint) }),
    await pool.depositSol(wallet, 9_000_000n),
  ])
  await send([
    await tokenInstruction(pool, wallet, {
      send: 2_000_000n,
      to: await tokenAccountOf(other.address, pool.mint),
    }),
  ])
  await send([await tokenInstruction(pool, wallet, { giveTo: other.address })])
  const { events } = await indexed()
  const [foreign] = events.filter(({ type }) => type === 'SvmDeposited')
  expect(foreign?.data).toMatchObject({
    account: hex(stranger),
    sender: hex(wallet.address),
    shares: '5000000',
  })
  const account = async (of: Address) => hex(await tokenAccountOf(of, pool.mint))
  const changes = events.filter(({ type }) => type === 'SvmShareAccountChanged')
  expect(changes.at(-1)?.data).toEqual({
    tokenAccount: await account(wallet.address),
    owner: hex(other.address),
    previousOwner: hex(wallet.address),
    amount: '7000000',
  })
  expect(changes.map(({ data }) => data)).toContainEqual({
    tokenAccount: await account(other.address),
    owner: hex(other.address),
    amount: '2000000',
  })
})

it('keeps what it cannot read, and goes on', async () => {
  const deposit = await pool.depositSol(wallet, 1_000_000n)
  await send([deposit])
  // A block as no program of ours makes it: the instruction has lost its accounts.
  const block = chain.head.transactions[0] as {
    transaction: { message: { instructions: { accounts: number[] }[] } }
  }
  const [instruction] = block.transaction.message.instructions
  if (instruction) instruction.accounts = instruction.accounts.slice(0, 3)
  await send([deposit])
  const { store, events } = await indexed()
  expect(events.filter(({ type }) => type === 'SvmDeposited').length).toBe(1)
  const { rows } = await store.pool.query('SELECT stage, reason, contract FROM dead_letter')
  expect(rows).toEqual([
    { stage: 'decode', contract: hex(pool.program), reason: expect.stringContaining('there are 3 accounts') },
  ])
})

it('takes no price from a pool whose shares somebody else may mint', async () => {
  await send([await pool.depositSol(wallet, 1_000_000n)])
  const mint = chain.svm.getAccount(pool.mint)
  if (!mint.exists) throw new Error('there is no mint')
  const bytes = Buffer.from(mint.data)
  Buffer.from(hex(other.address).slice(2), 'hex').copy(bytes, 4)
  chain.setAccount(pool.mint, mint.programAddress, bytes)
  const { store, events } = await indexed(true)
  expect(events.some(({ type }) => type === 'SvmDeposited')).toBe(true)
  expect(events.some(({ type }) => type === 'SvmVaultSampled')).toBe(false)
  const { rows } = await store.pool.query('SELECT stage, reason FROM dead_letter')
  expect(rows).toEqual([{ stage: 'sample', reason: expect.stringContaining(hex(other.address)) }])
})

it('has no share price of a pool without shares, and the time of the slot before where a slot has none', async () => {
  await send([pool.update(), await pool.depositSol(wallet, 1_000_000n)])
  await send([await pool.withdrawSol(wallet, 1_000_000n)])
  const before = chain.time
  chain.mine([], 60)
  chain.head.blockTime = null
  const { events } = await indexed(true)
  const last = events.filter(({ type }) => type === 'SvmVaultSampled').at(-1)
  expect(last?.data).toMatchObject({ totalSupply: '0', totalAssets: '0', idleAssets: '0' })
  expect(Object.keys(last?.data ?? {})).not.toContain('priceAssets')
  expect([last?.block_number, last?.block_time]).toEqual([chain.slot, before])
})

it('skips no block that a node does not keep any more, neither at the start nor after a pause', async () => {
  await send([await pool.depositSol(wallet, 1_000_000n)])
  chain.skip(40)
  await send([await pool.depositSol(wallet, 2_000_000n)])
  const { store, events } = await indexed()
  expect(events.filter(({ type }) => type === 'SvmDeposited').length).toBe(2)
  const [start = 0, stored] = [chain.blocks[0]?.slot, chain.slot]
  for (let i = 0; i < 30; i++) chain.mine([])
  const gone = chain.blocks.splice(0, chain.blocks.length - 5)
  const node = await serveRpc(chain)
  opened.push(node.close)
  const ask = openFailover([node.url])
  const run = async (into: TestPostgres) =>
    runSvm({
      pool: into.pool,
      programs: await loadPrograms(),
      source: openRpcSource(ask),
      startSlot: start,
      endSlot: chain.slot,
    })
  const oldest = chain.blocks[0]?.slot
  await expect(run(store)).rejects.toThrow(`from slot ${oldest} on, and slot ${stored + 1} is where to go on`)
  const fresh = await createPostgres()
  opened.push(fresh.drop)
  await expect(run(fresh)).rejects.toThrow(`from slot ${oldest} on, and slot ${start} is where to go on`)
  expect(await readEvents(fresh.pool, SOLANA.id, { after: 0 })).toEqual([])
  // With them back it goes on, over skipped slots too.
  chain.blocks.unshift(...gone)
  await run(fresh)
  expect((await readEvents(fresh.pool, SOLANA.id, { after: 0, types: ['SvmDeposited'] })).length).toBe(2)
})

it('knows what the mints of a vault say of themselves', async () => {
  await pool.describe('Pool of the test', 'tSOL')
  await send([await pool.depositSol(wallet, 1_000_000n)])
  const said = { tokenProgram: hex(TOKEN_PROGRAM), decimals: 9, mintAuthority: hex(pool.authority) }
  const { events } = await indexed(true)
  const mints = events.filter(({ type }) => type === 'SvmMintDescribed')
  expect(mints.map(({ contract, data }) => [contract, data])).toEqual([
    [hex(pool.mint), { ...said, name: 'Pool of the test', symbol: 'tSOL' }],
    [hex('So11111111111111111111111111111111111111112'), { tokenProgram: hex(TOKEN_PROGRAM), decimals: 9 }],
  ])
})
