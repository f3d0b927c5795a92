import { afterAll, beforeAll, expect, test } from 'vitest'
import { apysAt, statesAt, theseBalancesAt } from '../../../read-api/portfolio/queries.ts'
import { createClickHouse, type TestClickHouse } from '../../databases.ts'

const account = `0x${'b'.repeat(40)}`
const vaults = ['1', '2', '3'].map(digit => `0x${digit.repeat(40)}`)
const early = Date.UTC(2025, 0, 1) / 1000
const late = Date.UTC(2025, 6, 1) / 1000

/** The column that each table has of its own in its key. */
const tables = [
  ['balance', 'holder', `'${account}'`],
  ['vault_sample', 'decimals', '6'],
  ['vault_hourly', 'hour', 'toDateTime({at:UInt32})'],
] as const

let own: TestClickHouse
beforeAll(async () => {
  own = await createClickHouse()
  for (const [table, column, value] of tables) {
    await own.house.command('test', `SYSTEM STOP MERGES ${table}`)
    for (const [position, at] of [early, late].entries())
      await own.house.command(
        'test',
        `INSERT INTO ${table} (chain_id, vault, timestamp, position, ${column})
         SELECT 1, arrayJoin({vaults:Array(String)}), toDateTime({at:UInt32}), {position:UInt64}, ${value}`,
        { vaults, at, position: position + 1 },
      )
  }
})
afterAll(async () => {
  for (const [table] of tables) await own?.house.command('test', `SYSTEM START MERGES ${table}`)
  await own?.drop()
})

test.each([theseBalancesAt, statesAt, apysAt])(
  '$name reads no part that begins after the moment',
  async ({ sql }) => {
    const asked = {
      account,
      names: vaults.slice(1, 2),
      as_of: new Map([[1, 9]]),
      at: early + 60,
      since: early - 60,
    }
    const plan = await own.house.query<{ explain: string }>('test', `EXPLAIN indexes = 1 ${sql}`, asked)
    const text = plan.map(({ explain }) => explain.trim()).join('\n')
    expect(text).toMatch(/Name: by_time\n.*\n.*\nParts: 1\/2\n/)
    expect(await own.house.query('test', sql, asked)).toHaveLength(1)
  },
)
