import { afterAll, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { openFailover } from '../../db/chain/failover.ts'
import { readEvents } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { createPostgres } from '../databases.ts'
import { TestChain } from './chain.ts'
import { indexSolana } from './index-solana.ts'
import { TestKamino } from './kamino.ts'
import { serveRpc } from './rpc-server.ts'

const hex = (text: string) => fromBase58(text) ?? ''
const opened: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of opened) await close()
})

const MEGABYTE = 1_000_000

it.each([
  ['that cuts it where that is asked for', undefined],
  ['that gives all of it, more than is read of an answer', 100 * MEGABYTE],
  ['that gives no such answer', 4 * MEGABYTE],
])('an account of 8 MB holds up no other, with a node %s', async (_, most) => {
  const chain = new TestChain()
  const wallet = await chain.wallet()
  const vaults: TestKamino[] = []
  for (let i = 0; i < 7; i++) {
    const vault = await TestKamino.create(chain, { reserves: 1, hasFarm: i === 0 })
    await vault.open(wallet.address, 10_000_000n)
    const staked = i === 0 ? [await vault.initializeUser(wallet), await vault.stake(wallet)] : []
    const sent = await chain.send(wallet, [await vault.deposit(wallet, 1_000_000n), ...staked])
    expect(sent.failed).toBeUndefined()
    vaults.push(vault)
  }
  const grow = (at: string) => {
    const before = chain.svm.getAccount(at as never)
    if (!before.exists) throw new TypeError(`there is no account ${at}`)
    const data = Buffer.concat([before.data, Buffer.alloc(8 * MEGABYTE)])
    chain.setAccount(at, before.programAddress, data)
  }
  const [first, fat, , other] = vaults
  if (!first || !fat || !other) return expect.unreachable()
  // A vault itself, a reserve that is read with another one, and the account of a stake.
  grow(fat.is.vault)
  grow(other.reserves[0]?.at ?? '')
  const stake = await first.stakeAccountOf(wallet.address)
  grow(stake)
  const [node, store] = [await serveRpc(chain), await createPostgres()]
  opened.push(node.close, store.drop)
  node.most = most
  const ask = openFailover([node.url], { attempts: 1 })
  const index = async () => {
    chain.mine([], 3600)
    await indexSolana(store.pool, { chain, ask })
  }
  await index()
  const samples = await readEvents(store.pool, SOLANA.id, { after: 0, types: ['SvmVaultSampled'] })
  const whole = vaults.filter(vault => vault !== fat && vault !== other)
  expect(samples.map(({ contract }) => contract).sort()).toEqual(whole.map(({ is }) => hex(is.vault)).sort())
  const { rows } = await store.pool.query<{ contract: string }>(
    `SELECT contract FROM dead_letter WHERE stage = 'sample' ORDER BY contract`,
  )
  expect(rows.map(({ contract }) => contract)).toEqual(
    [hex(fat.is.vault), hex(other.is.vault), hex(stake)].sort(),
  )
  // One by one at worst for each that is too long: seven, then two and two, then the stake.
  expect(node.calls.get('getMultipleAccounts')).toBeLessThan(24)
})
