import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { readRecentSamples, storeRounds } from '../../../db/events/sample-budgets.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { readListed } from '../../../db/registry/listed.ts'
import { recordFacts } from '../../../db/registry/registry.ts'
import { readStatus } from '../../../db/status.ts'
import { statusTable } from '../../../jobs/watch.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const hash = (height: number, branch = 'a') => `0x${branch.repeat(8)}${String(height).padStart(56, '0')}`
const VAULT = `0x${'5'.repeat(40)}`

let postgres: TestPostgres
let database: ChainDatabase
beforeEach(async () => {
  postgres = await createPostgres()
  database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
  await database.connect()
})
afterEach(async () => {
  await database.close()
  await postgres.drop()
})

const sampled = (reason: string): DomainEvent =>
  ({
    type: 'StateSampled',
    contract: VAULT,
    data: { vault: VAULT, reason, decimals: 18, assetDecimals: 18 },
  }) as DomainEvent

/** A block at so many minutes after midnight. */
async function append(height: number, minutes: number, reasons: string[], branch?: string): Promise<void> {
  const ref = (at: number) => (at < 0 ? { height: -1, hash: '0x' } : { height: at, hash: hash(at) })
  const block = { number: height, hash: hash(height, branch), timestamp: minutes * 60 }
  await database.transactHot2(
    {
      finalizedHead: ref(-1),
      baseHead: ref(height - 1),
      newBlocks: [{ height, hash: block.hash }],
    },
    async store => {
      store.append([{ block, events: reasons.map(sampled) }])
      store.setHeadTime(block.timestamp)
    },
  )
}

test('the samples after events of the hour under way are known after a restart, without hourly ones and those of another branch', async () => {
  await append(0, 50, ['activity'])
  await append(1, 60, ['hourly'])
  await append(2, 70, ['activity'])
  await append(3, 80, ['discovery'])
  const found = () => readRecentSamples(postgres.pool, STREAM)
  expect(await found()).toEqual([
    { vault: VAULT, block: 2, hour: 1 },
    { vault: VAULT, block: 3, hour: 1 },
  ])
  await append(3, 81, ['hourly'], 'b')
  expect(await found()).toEqual([{ vault: VAULT, block: 2, hour: 1 }])
  await append(3, 120, [], 'c')
  expect(await found()).toEqual([])
})

test('a history knows those of the hour that it stands in, however many live blocks were stored since', async () => {
  await append(0, 50, ['activity'])
  await append(1, 70, ['activity'])
  await append(2, 80, ['activity', 'hourly'])
  await append(3, 90, ['activity'])
  await append(4, 1_000, ['activity'])
  expect(await readRecentSamples(postgres.pool, STREAM, { number: 2, timestamp: 80 * 60 })).toEqual([
    { vault: VAULT, block: 1, hour: 1 },
    { vault: VAULT, block: 2, hour: 1 },
  ])
})

test('turns are in the status where there are any', async () => {
  await storeRounds(postgres.pool, STREAM, [
    { standing: 'made', vaults: 20, hours: 1 },
    { standing: 'found', vaults: 4_000, hours: 7 },
  ])
  const status = await readStatus(postgres.pool)
  expect(status.map(({ sampledInTurns }) => sampledInTurns)).toEqual([
    [{ standing: 'found', vaults: 4_000, hours: 7 }],
  ])
  expect(statusTable({ at: 0, streams: status })).toContain('sampled once in 7 hours (SAMPLES_PER_HOUR)')
})

test('what the registry lists of a chain follows its facts', async () => {
  const { pool } = postgres
  const fact = (subject: string, kind = 'listed') => ({ subject, kind, value: {} })
  const market = `0x${'c'.repeat(64)}`
  await recordFacts(pool, [fact(`vault:8453:${VAULT}`), fact(`market:8453:${market}`)], 1)
  const first = await readListed(pool, STREAM)
  expect([[...first.vaults], [...first.markets]]).toEqual([[VAULT], [market]])
  expect(await readListed(pool, STREAM, first)).toBe(first)
  await recordFacts(pool, [fact(`vault:1:${VAULT}`), fact(`vault:8453:${VAULT}`, 'tags')], 2)
  const second = await readListed(pool, STREAM, first)
  expect([[...second.vaults], [...second.markets]]).toEqual([[], []])
})
