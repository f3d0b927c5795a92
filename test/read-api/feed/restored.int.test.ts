import { expect, it, onTestFinished } from 'vitest'
import { openPostgres } from '../../../db/postgres.ts'
import { formatCursor, readCursor } from '../../../read-api/feed/cursor.ts'
import { Feed } from '../../../read-api/feed/feed.ts'
import { createPostgres } from '../../databases.ts'
import { appendBlocks } from '../append.ts'

/** A block of so many events. Another branch has other hashes. */
const blockOf = (number: number, branch: string, count: number) => {
  const hash = `0x${branch.repeat(30)}${number.toString(16).padStart(4, '0')}`
  const events = Array.from({ length: count }, (_, logIndex) => ({
    type: 'ShareTransferred' as const,
    protocol: 'erc-4626' as const,
    contract: `0x${'a0'.repeat(20)}`,
    logIndex,
    transactionHash: hash,
    data: { from: `0x${'b0'.repeat(20)}`, to: `0x${'b1'.repeat(20)}`, shares: 1n },
  }))
  return { block: { number, hash, timestamp: 1_700_000_000 + number }, events }
}

it('a position of what a backup does not have is refused once the restored store has passed it, and all before go on', async () => {
  const lost = await createPostgres()
  await appendBlocks(lost.pool, 1, 'mainnet', [blockOf(1, 'aa', 2), blockOf(2, 'aa', 2)])
  await lost.pool.end()
  const restored = await createPostgres(lost)
  const pool = openPostgres(lost.url, 'test')
  onTestFinished(async () => {
    await pool.end()
    await lost.drop()
    await restored.drop()
  })
  const feedOf = async (from: typeof pool) => {
    const feed = new Feed(from)
    const chains = await feed.look()
    return {
      feed,
      at: async (position: number) => formatCursor(await feed.placesAt(new Map([[1, position]]))),
      take: async (text: string) =>
        formatCursor(await readCursor(text, { feed, chains, follows: () => true })),
    }
  }

  // What readers had of it after the backup was made.
  await appendBlocks(pool, 1, 'mainnet', [blockOf(3, 'aa', 2), blockOf(4, 'aa', 1)])
  const before = await feedOf(pool)
  const [kept, third, fourth] = [await before.at(4), await before.at(6), await before.at(7)]
  expect(kept).toMatch(/^1\.4~[\w-]{6}$/)

  // The chain went on otherwise before the restored one fetched it: the third block has one event more.
  await appendBlocks(restored.pool, 1, 'mainnet', [blockOf(3, 'bb', 3), blockOf(4, 'aa', 2)])
  const after = await feedOf(restored.pool)
  expect(await after.take(kept)).toBe(kept)
  for (const gone of [third, fourth])
    await expect(after.take(gone)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('is not the event that this position is of'),
    })
  // Whoever knows no more than the position is taken at their word, and sent what tells it from then on.
  expect(await after.take('mainnet.6')).not.toBe(third)
  expect(await after.take('1.0')).toBe('1.0')
})

it('what a restored store fetched anew as it was, readers go on with', async () => {
  const [one, other] = [await createPostgres(), await createPostgres()]
  onTestFinished(async () => {
    await one.drop()
    await other.drop()
  })
  const blocks = [blockOf(1, 'aa', 2), blockOf(2, 'aa', 2)]
  await appendBlocks(one.pool, 1, 'mainnet', blocks)
  for (const block of blocks) await appendBlocks(other.pool, 1, 'mainnet', [block])
  const text = formatCursor(await new Feed(one.pool).placesAt(new Map([[1, 4]])))
  const feed = new Feed(other.pool)
  const taken = await readCursor(text, { feed, chains: await feed.look(), follows: () => true })
  expect(formatCursor(taken)).toBe(text)
})
