import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createClickHouse, type TestClickHouse } from '../../databases.ts'

let its: TestClickHouse
beforeAll(async () => {
  its = await createClickHouse()
  const { house } = its
  const column = 'k LowCardinality(String), n UInt32'
  await house.command('test', `CREATE TABLE several (${column}) ENGINE = MergeTree ORDER BY (k, n)`)
  await house.command('test', `CREATE TABLE single (${column}) ENGINE = MergeTree ORDER BY k`)
  await house.command('test', 'SYSTEM STOP MERGES several')
  for (let part = 0; part < 12; part++)
    await house.command(
      'test',
      `INSERT INTO several SELECT 'k' || toString(${part * 5} + number), number FROM numbers(7)`,
    )
  await house.command(
    'test',
    `INSERT INTO single SELECT 'k' || toString(3 * number), number FROM numbers(24)`,
  )
})
afterAll(() => its?.drop())

const NEWEST = '(SELECT * FROM several LIMIT 1 BY k)'
const joins = [
  ['LEFT JOIN', NEWEST, 'single'],
  ['INNER JOIN', NEWEST, 'single'],
  ['INNER JOIN', 'single', NEWEST],
  ['LEFT JOIN', 'single', NEWEST],
  ['ANTI LEFT JOIN', NEWEST, 'single'],
  ['FULL JOIN', NEWEST, 'single'],
] as const

/** As many partners as the rows have whose keys are compared as plain text. */
const question = (kind: string, left: string, right: string, key: (side: string) => string) =>
  `SELECT count() AS rows, countIf(a.k != '' AND b.k != '') AS pairs FROM ${left} AS a ${kind} ${right} AS b ON ${key('a')} = ${key('b')} SETTINGS max_threads = 1, output_format_json_quote_64bit_integers = 1`

/** With no settings but those of the server. */
async function askPlainly(sql: string): Promise<Record<string, string>> {
  const url = new URL(inject('clickhouseUrl'))
  const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`
  const answer = await fetch(`${url.origin}/?database=${its.house.database}`, {
    method: 'POST',
    headers: { authorization },
    body: `${sql} FORMAT JSONEachRow`,
  })
  return JSON.parse(await answer.text())
}

it.each(joins)(
  '%s of %s and %s finds the partner of every row of several parts',
  async (...[kind, left, right]) => {
    const [plain] = await its.house.query<{ rows: string; pairs: string }>(
      'test',
      question(kind, left, right, side => `toString(${side}.k)`),
    )
    expect(Number(plain?.rows)).toBeGreaterThan(0)
    const byKey = question(kind, left, right, side => `${side}.k`)
    for (let time = 0; time < 3; time++) {
      expect(await its.house.query('test', byKey)).toEqual([plain])
      expect(await askPlainly(byKey)).toEqual(plain)
    }
  },
)
