import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { rewindChain } from '../../../db/events/rewind.ts'
import {
  isBackfilling,
  reconcileSources,
  type SourceCursor,
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
