import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { rewindChain } from '../../../db/events/rewind.ts'
import { readStandingLogs } from '../../../db/events/teaching.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { reconcileSources } from '../../../db/events/watched-sources.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { learnAnew, Teaching } from '../../../processors/knowledge/teaching.ts'
import type { Protocol } from '../../../processors/protocol.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const hash = (height: number, branch = 'a') => `0x${branch.repeat(8)}${String(height).padStart(56, '0')}`
const ref = (height: number, branch = 'a') => ({
  number: height,
  hash: hash(height, branch),
  timestamp: 1_700_000_000 + height,
})
const contract = (digit: string) => `0x${digit.repeat(40)}`
const ROUTER = contract('a')

/** A router names contracts that are to be watched by two kinds of events. */
const router = (teaches: Protocol['teaches']): Protocol => ({
  name: 'router',
  sources: [],
  ...(teaches ? { teaches } : {}),
  watches: event => {
    if (event.type === 'OracleChanged') return [{ kind: 'oracle', contract: event.data.oracle }]
    if (event.type === 'OwnerChanged' && event.data.role === 'guard')
      return [{ kind: 'guard', contract: event.data.owner }]
    return []
  },
})
const both = [router(['OracleChanged', 'OwnerChanged'])]
const oracles = [router(['OracleChanged'])]

let postgres: TestPostgres
beforeEach(async () => {
  postgres = await createPostgres()
})
afterEach(() => postgres?.drop())

async function withDatabase<T>(
  protocols: readonly Protocol[],
  work: (database: ChainDatabase) => Promise<T>,
): Promise<T> {
  const { teaches } = new Teaching(protocols)
  const database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base', teaches })
  try {
    await database.connect()
    await learnAnew(postgres.pool, STREAM, new Teaching(protocols), [], 0)
    return await work(database)
  } finally {
    await database.close()
  }
}

const named = (oracle: string): DomainEvent => ({
  type: 'OracleChanged',
  contract: ROUTER,
  logIndex: 0,
  data: { oracle },
})
const owned = (owner: string, role?: string): DomainEvent => ({
  type: 'OwnerChanged',
  contract: ROUTER,
  logIndex: 1,
  data: { owner, ...(role ? { role } : {}) },
})

const empty = { height: -1, hash: '0x' }

/** Hot blocks on top of a base, each with its events. */
async function append(
  database: ChainDatabase,
  base: { height: number; hash: string },
  blocks: { height: number; branch?: string; events: DomainEvent[] }[],
  finalizedHead = empty,
): Promise<void> {
  const newBlocks = blocks.map(({ height, branch }) => ({ height, hash: hash(height, branch) }))
  await database.transactHot2({ finalizedHead, baseHead: base, newBlocks }, async (store, first, end) => {
    store.append(
      blocks.slice(first, end).map(({ height, branch, events }) => ({ block: ref(height, branch), events })),
    )
  })
}

async function known(protocols: readonly Protocol[]): Promise<KnownContracts> {
  const contracts = new KnownContracts(protocols)
  await contracts.load(postgres.pool, STREAM)
  return contracts
}

const rows = async () =>
  (
    await postgres.pool.query<{ position: number; contracts: string[]; is_retracted: boolean }>(
      'SELECT position, contracts, is_retracted FROM teaching_event ORDER BY position',
    )
  ).rows

test('what was learned is noted with its event, and nothing of events that teach nothing', async () => {
  await withDatabase(both, database =>
    append(database, empty, [
      { height: 0, events: [named(contract('1')), owned(contract('2')), owned(contract('3'), 'guard')] },
    ]),
  )
  expect(await rows()).toEqual([
    { position: 1, contracts: [contract('1')], is_retracted: false },
    { position: 3, contracts: [contract('3')], is_retracted: false },
  ])
  expect((await known(both)).watchedSources()).toEqual([
    { kind: 'oracle', contract: contract('1') },
    { kind: 'guard', contract: contract('3') },
  ])
})

test('a fork takes back what it taught, and it is remembered that it was known', async () => {
  await withDatabase(both, async database => {
    await append(database, empty, [
      { height: 0, events: [named(contract('1'))] },
      { height: 1, events: [named(contract('2'))] },
    ])
    await append(database, { height: 0, hash: hash(0) }, [
      { height: 1, branch: 'b', events: [named(contract('3'))] },
    ])
  })
  const contracts = await known(both)
  expect(contracts.watchedContracts('oracle')).toEqual([contract('1'), contract('3')])
  expect([1, 2, 3].map(digit => contracts.wasForgotten(contract(String(digit))))).toEqual([
    false,
    true,
    false,
  ])
})

test('a rewind does, too', async () => {
  await withDatabase(both, database =>
    append(database, empty, [
      { height: 0, events: [named(contract('1'))] },
      { height: 1, events: [named(contract('2'))] },
    ]),
  )
  await rewindChain(postgres.pool, STREAM, 'base', 0)
  const contracts = await known(both)
  expect(contracts.watchedContracts('oracle')).toEqual([contract('1')])
  expect(contracts.wasForgotten(contract('2'))).toBe(true)
})

test('logs of a contract that an event of any type named stand after that was retracted', async () => {
  const log = { ...owned(contract('9')), contract: contract('3'), logIndex: 7 }
  await withDatabase(both, async database => {
    // The contract is named in block 1, and what it had logged in block 0 is stored with that.
    await append(database, empty, [{ height: 0, events: [owned(contract('9'))] }])
    await database.transactHot2(
      {
        finalizedHead: empty,
        baseHead: { height: 0, hash: hash(0) },
        newBlocks: [{ height: 1, hash: hash(1) }],
      },
      async store =>
        store.append([
          { block: ref(0), events: [log] },
          { block: ref(1), events: [owned(contract('3'), 'guard')] },
        ]),
    )
    await append(database, { height: 0, hash: hash(0) }, [{ height: 1, branch: 'b', events: [] }])
  })
  expect([...(await readStandingLogs(postgres.pool, STREAM, [contract('3')]))]).toEqual([`${hash(0)} 7`])
})

test('a type that is learned from since lately alone: stored events teach it now, and what they name has its history fetched', async () => {
  await withDatabase(oracles, database =>
    append(database, empty, [
      { height: 0, events: [named(contract('1')), owned(contract('2'), 'guard')] },
      { height: 1, events: [owned(contract('4'), 'guard')] },
    ]),
  )
  expect(await rows()).toHaveLength(1)
  await withDatabase(oracles, database =>
    append(database, { height: 0, hash: hash(0) }, [{ height: 1, branch: 'b', events: [] }]),
  )
  expect((await known(both)).watchedSources()).toEqual([{ kind: 'oracle', contract: contract('1') }])
  await withDatabase(both, async () => {})
  expect(await rows()).toEqual([
    { position: 1, contracts: [contract('1')], is_retracted: false },
    { position: 2, contracts: [contract('2')], is_retracted: false },
    { position: 3, contracts: [contract('4')], is_retracted: true },
  ])
  expect(await reconcileSources(postgres.pool, STREAM, [], 0)).toEqual([
    { kind: 'guard', contract: contract('2'), cursor: -1, learned: true },
  ])
})
