import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { rewindChain } from '../../../db/events/rewind.ts'
import {
  isBackfilling,
  reconcileSources,
  type SourceCursor,
  SourceMovedError,
  type WatchedSource,
} from '../../../db/events/watched-sources.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const FACTORY: WatchedSource = { kind: 'factory', contract: `0x${'fa'.repeat(20)}` }
const ANYWHERE: WatchedSource = { kind: 'any', contract: '' }
const VAULT: WatchedSource = { kind: 'vault', contract: `0x${'ab'.repeat(20)}` }
const LATER_VAULT: WatchedSource = { kind: 'vault', contract: `0x${'cd'.repeat(20)}` }

let postgres: TestPostgres
let database: ChainDatabase
let height: number

beforeEach(async () => {
  postgres = await createPostgres()
  database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
  await database.connect()
  height = -1
  await reconcile(ANYWHERE)
  await store()
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([{ ...FACTORY, cursor: -1, learned: false }])
})

afterEach(async () => {
  await database.close()
  await postgres.drop()
})

const block = (at: number) => ({
  height: at,
  hash: at < 0 ? '0x' : `0x${at.toString(16).padStart(64, '0')}`,
})

const reconcile = (...sources: WatchedSource[]) => reconcileSources(postgres.pool, STREAM, sources, 0)

/** A batch of ten final blocks. */
async function store(...sources: SourceCursor[]): Promise<void> {
  const [prevHead, nextHead] = [block(height), block(height + 10)]
  await database.transact({ prevHead, nextHead, isOnTop: true }, async writer => {
    for (const source of sources) writer.setSourceCursor(source)
  })
  height += 10
}

test('what a history has taught goes on with it after a start, and is gone where it joins', async () => {
  await store({ ...FACTORY, cursor: 5 }, { ...VAULT, learnedAt: 3, cursor: 5 })
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([
    { ...FACTORY, cursor: 5, learned: false },
    { ...VAULT, cursor: 5, learned: true },
  ])
  await store({ ...FACTORY, cursor: null }, { ...VAULT, cursor: null })
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([])
  expect(await isBackfilling(postgres.pool, STREAM)).toBe(false)
  const { rows } = await postgres.pool.query('SELECT FROM watched_source WHERE learned')
  expect(rows).toEqual([])
})

test('it goes on where its source is not watched any more, and the source where it was left when it is again', async () => {
  await store({ ...FACTORY, cursor: 5 }, { ...VAULT, learnedAt: 3, cursor: 5 })
  expect(await reconcile(ANYWHERE)).toEqual([{ ...VAULT, cursor: 5, learned: true }])
  await store({ ...VAULT, cursor: null })
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([{ ...FACTORY, cursor: 5, learned: false }])
})

test('a batch that fails leaves history where it was', async () => {
  const [prevHead, nextHead] = [block(height), block(height + 10)]
  const failing = database.transact({ prevHead, nextHead, isOnTop: true }, async writer => {
    writer.setSourceCursor({ ...FACTORY, cursor: 5 })
    writer.setSourceCursor({ ...VAULT, learnedAt: 3, cursor: 5 })
    throw new TypeError('no')
  })
  await expect(failing).rejects.toThrow('no')
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([{ ...FACTORY, cursor: -1, learned: false }])
})

test('a rewind takes back what history taught above its block', async () => {
  await store(
    { ...FACTORY, cursor: 9 },
    { ...VAULT, learnedAt: 3, cursor: 9 },
    { ...LATER_VAULT, learnedAt: 7, cursor: 9 },
  )
  await database.close()
  await rewindChain(postgres.pool, STREAM, 'base', 5)
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([
    { ...FACTORY, cursor: 5, learned: false },
    { ...VAULT, cursor: 5, learned: true },
  ])
})

test('the past is stored from where its sources are, or not at all', async () => {
  expect(await database.appendPast([], [{ ...FACTORY, cursor: 5 }], -1)).toBeDefined()
  const learned = { ...VAULT, learnedAt: 6, cursor: 7 }
  await expect(database.appendPast([], [{ ...FACTORY, cursor: 7 }, learned], -1)).rejects.toThrow(
    SourceMovedError,
  )
  expect(await reconcile(ANYWHERE, FACTORY)).toEqual([{ ...FACTORY, cursor: 5, learned: false }])
  await database.appendPast([], [{ ...FACTORY, cursor: 7 }, learned], 5)
  expect(await reconcile(ANYWHERE, FACTORY)).toMatchObject([{ cursor: 7 }, { ...VAULT, cursor: 7 }])
})

test('a fork takes back how far a source was that is not watched any more', async () => {
  const final = block(height)
  const hot = (from: number, to: number, branch = '') =>
    Array.from({ length: to - from + 1 }, (_, i) => {
      const { height: at, hash } = block(from + i)
      return { height: at, hash: `${hash}${branch}` }
    })
  const storeHot = (baseHead: typeof final, newBlocks: (typeof final)[]) =>
    database.transactHot2({ finalizedHead: final, baseHead, newBlocks }, async () => {})
  await storeHot(final, hot(height + 1, height + 5))
  const of = (sources: { kind: string }[]) => sources.find(({ kind }) => kind === ANYWHERE.kind)
  await reconcile(FACTORY)
  await storeHot(block(height + 2), hot(height + 3, height + 6, 'b'))
  expect(of(await reconcile(ANYWHERE, FACTORY))).toMatchObject({ cursor: height + 2 })
})
