import { afterAll, expect, it } from 'vitest'
import { readEvents } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { createPostgres } from '../databases.ts'
import { TestChain } from './chain.ts'
import { indexSolana } from './index-solana.ts'
import { ALL, TestKamino } from './kamino.ts'
import { serveRpc } from './rpc-server.ts'
import { tokenAccountOf } from './tokens.ts'

const opened: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of opened) await close()
})

it('a share is worth what the program would pay for it at that slot: fees since the last charge are off, rewards that are due in', async () => {
  const chain = new TestChain()
  const vault = await TestKamino.create(chain, { reserves: 1 })
  const wallet = await chain.wallet()
  await vault.open(wallet.address, 10n ** 12n)
  const [reserve] = vault.reserves
  if (!reserve) return expect.unreachable()
  expect((await chain.send(wallet, [await vault.deposit(wallet, 900_000_000n)])).failed).toBeUndefined()
  vault.invest(reserve, 300_000_000n)
  // 10 % of what is earned, 2 % a year, charged now; rewards of 11 a second, as long as there are any.
  const words: [number, bigint][] = [
    [256, 1_000n],
    [264, 200n],
    [272, BigInt(chain.time)],
    [280, (900_000_000n << 60n) & ALL],
    [288, 900_000_000n >> 4n],
    [58_744, 11n],
    [58_752, BigInt(chain.time)],
    [58_760, 10_000_000n],
  ]
  vault.patch(vault.is.vault, data => {
    for (const [at, word] of words) data.writeBigUInt64LE(word, at)
  })
  vault.earn(reserve, 12_345_678n)
  chain.mine([], 30 * 86_400)
  const [node, store] = [await serveRpc(chain), await createPostgres()]
  opened.push(node.close, store.drop)
  await indexSolana(store.pool, { chain, node })
  const events = await readEvents(store.pool, SOLANA.id, { after: 0, types: ['SvmVaultSampled'] })
  const sample = events.at(-1)
  expect(sample?.block_number).toBe(chain.slot)
  const { priceAssets = 0, priceShares = 0, totalAssets = 0 } = (sample?.data ?? {}) as Record<string, string>
  const worth = (shares: bigint) => (shares * BigInt(priceAssets)) / BigInt(priceShares)
  // Asked of the program in the same slot, by trying it.
  const shares = 500_000_000n
  const tokens = await tokenAccountOf(wallet.address, vault.is.mint)
  const tried = chain.tryOut(wallet.address, [await vault.withdraw(wallet, shares, reserve)])
  const after = 'postAccounts' in tried && tried.postAccounts().find(account => account.address === tokens)
  if (!after) return expect.unreachable()
  const paid = Buffer.from(after.data).readBigUInt64LE(64) - vault.amountOf(tokens)
  // The program of the tests has whole units only.
  const distance = worth(shares) - paid
  expect([distance, distance >= -1n && distance <= 3n]).toEqual([distance, true])
  // 912,345,678 and 10,000,000, less 2 % a year of 900,000,000 for 30 days and 10 % of what came to it: 2,234,567.8 and 1,478,471.0
  expect(Number(totalAssets)).toBeCloseTo(912_345_678 + 10_000_000 - 2_234_567.8 - 1_478_471, -1)
})
