import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sign } from '../../../db/read-models.ts'
import { Engine } from '../../jobs/engine.ts'
import type { Positioned } from '../../jobs/streams.ts'
import { columnsFile } from './columns-text.ts'
import { acceptedValues, catalogueOf, dbtSources, KEYS } from './dbt-sources.ts'
import { commentsOf, type Described, describeIn } from './readme-text.ts'
import { chain, depositOf, feed, fillWithExamples, LARGE, vault } from './readme-world.ts'

interface Section {
  name: string
  examples: string[]
}

const file = new URL('../../../db/clickhouse/README.md', import.meta.url)
const readme = readFileSync(file, 'utf8')
const sections: Section[] = readme
  .split(/^### /m)
  .slice(1)
  .map(text => ({
    name: text.slice(0, text.indexOf('\n')).trim(),
    examples: [...text.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql),
  }))

const questions = readFileSync(new URL('../../../docs/questions.md', import.meta.url), 'utf8')
  .split(/^### /m)
  .slice(1)
  .map(text => ({
    question: text.slice(0, text.indexOf('\n')),
    sql: /```sql\n([\s\S]*?)```/.exec(text)?.[1] ?? '',
  }))

let engine: Engine
beforeAll(async () => {
  engine = await Engine.create()
  await sign(engine.client, '00000000-0000-4000-8000-000000000000')
  await fillWithExamples(engine)
})
afterAll(() => engine.drop())

/** The query with the vault, wallet and days of this chain in place of those of the document. */
function filled(example: string): string {
  const deposit = depositOf()
  // The chain ends before the days that a question ends at.
  return example
    .replaceAll(/0x83f20f44975d03b1b09e64809b757c47f942beea/g, vault)
    .replaceAll(/0x0{39}1/g, deposit.owner)
    .replaceAll(/>= '2024-0\d-\d\d/g, ">= '2023-01-01")
    .replaceAll(/\) = '2024-0\d-\d\d/g, `) = '${deposit.day}`)
}

const AT = "(at = '2024-01-01 00:00:00')"

/** What a parameterised view gives stands in no catalogue: it is asked. */
const PARAMETERS: Record<string, string> = {
  balances_at: AT,
  morpho_positions_at: AT,
  comet_positions_at: AT,
  aave_positions_at: AT,
  evk_positions_at: AT,
  lending_positions_at: AT,
  holders: `(chain = 1, vault = '${vault}')`,
  latest_events: '(chain = 1)',
}

async function describedTables(): Promise<Described[]> {
  const tables = await engine.rows<{ name: string; comment: string }>(
    'SELECT name, comment FROM system.tables WHERE database = currentDatabase()',
  )
  return Promise.all(
    tables.map(async ({ name, comment }) => ({
      name,
      comment,
      columns: await engine.rows<Described['columns'][number]>(
        PARAMETERS[name] ? `DESCRIBE (SELECT * FROM ${name}${PARAMETERS[name]})` : `DESCRIBE TABLE ${name}`,
      ),
    })),
  )
}

interface GrafanaBoard {
  panels: { title: string; targets: { rawSql: string }[] }[]
  templating: { list: { name: string; type: string; query: string }[] }
}
/** Of families whose catalogue views leave out what nobody vouches for: here there is nothing else. */
const FAMILIES = /^(Fixed-term markets|Vaults of liquidity)$/

/** More than the name once more. */
const isSaid = (name: string, comment: string) =>
  comment.length > 3 && comment.toLowerCase() !== name.replaceAll('_', ' ')

async function expectRows(example: string): Promise<void> {
  const query = filled(example)
  expect((await engine.rows(query)).length, query).toBeGreaterThan(0)
}

const readText = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

describe('db/clickhouse/columns.ts', () => {
  it('has the columns of every table: `-u` writes them anew', async () => {
    const columns = await engine.rows<{ table: string; name: string; type: string }>(
      `SELECT table, name, type FROM system.columns WHERE database = currentDatabase()
         AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')
       ORDER BY table, position`,
    )
    await expect(columnsFile(columns)).toMatchFileSnapshot(
      fileURLToPath(new URL('../../../db/clickhouse/columns.ts', import.meta.url)),
    )
  })
})

describe('dbt', () => {
  it('has every table and view among its sources, described by its comments: `-u` writes them anew', async () => {
    const views = [...(await describedTables())].sort((a, b) => a.name.localeCompare(b.name))
    await expect(dbtSources(views, Object.keys(PARAMETERS))).toMatchFileSnapshot(
      fileURLToPath(new URL('../../../deploy/dbt/models/sources.yml', import.meta.url)),
    )
  })

  it.each(Object.entries(KEYS))('a row of %s has a key of its own', async (view, key) => {
    const columns = key.join(', ')
    expect(
      await engine.rows(`SELECT ${columns} FROM ${view} GROUP BY ${columns} HAVING count() > 1`),
    ).toEqual([])
  })

  it('tests values and relations that hold', async () => {
    let tests = 0
    for (const table of await describedTables()) {
      if (!KEYS[table.name]) continue
      for (const { name, comment } of commentsOf(table).columns) {
        const values = acceptedValues(comment)
        const catalogue = catalogueOf(table.name, name)
        if (values.length > 0) {
          tests++
          const rows = await engine.rows<{ value: string }>(
            `SELECT DISTINCT ${name} AS value FROM ${table.name}`,
          )
          for (const { value } of rows) expect(values, `${table.name}.${name}`).toContain(value)
        }
        if (catalogue) {
          tests++
          expect(
            await engine.rows(
              `SELECT ${name} FROM ${table.name} WHERE ${name} NOT IN (SELECT ${name} FROM ${catalogue}) LIMIT 3`,
            ),
            `${table.name}.${name}`,
          ).toEqual([])
        }
      }
    }
    expect(tests).toBeGreaterThan(15)
  })

  it('has a mart that finds rows, one for a vault and week', async () => {
    const sql = readText('deploy/dbt/models/marts/vault_weeks.sql')
      .replace(/\{\{ config\([^}]*\}\}/, '')
      .replaceAll(/\{\{ source\('vaultlog', '(\w+)'\) \}\}/g, '$1')
    expect(sql).not.toContain('{{')
    const rows = await engine.rows<{ chain_id: number; vault: string; week: string }>(sql)
    expect(rows.length).toBeGreaterThan(3)
    expect(new Set(rows.map(({ chain_id, vault, week }) => `${chain_id} ${vault} ${week}`)).size).toBe(
      rows.length,
    )
  })
})

describe('deploy/grafana/vaults.json', () => {
  const dashboard: GrafanaBoard = JSON.parse(readText('deploy/grafana/vaults.json'))
  /** As the data source plugin expands its macros. */
  const expanded = (sql: string) =>
    filled(
      sql
        .replaceAll(/\$\{chain\}/g, '1')
        .replaceAll(/\$\{vault\}/g, vault)
        .replaceAll(
          /\$__timeFilter\((\w+)\)/g,
          '$1 >= toDateTime(1600000000) AND $1 <= toDateTime(2000000000)',
        )
        .replaceAll(/\$__dateFilter\((\w+)\)/g, "$1 >= toDate('2020-01-01') AND $1 <= toDate('2033-01-01')"),
    )
  const queries = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ rawSql }) => ({ title, sql: rawSql })),
  )
  const variables = dashboard.templating.list.filter(({ type }) => type === 'query')

  it.each(queries)('$title: its query runs', async ({ title, sql }) => {
    const query = expanded(sql)
    expect(query).not.toMatch(/\$/)
    const rows = await engine.rows(query)
    if (!FAMILIES.test(title)) expect(rows.length, query).toBeGreaterThan(0)
  })

  it.each(variables)('variable $name finds values', async ({ query }) => {
    expect((await engine.rows(expanded(query))).length).toBeGreaterThan(0)
  })
})

describe('docs/questions.md', () => {
  it('has twenty-six', () => expect(questions).toHaveLength(26))
  it.each(questions)('$question', async ({ sql }) => {
    expect(sql).not.toBe('')
    await expectRows(sql)
  })
})

describe('db/clickhouse/README.md', () => {
  it('documents every table and view of the database, and nothing else', async () => {
    const tables = await engine.rows<{ name: string }>(
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    )
    expect(sections.map(({ name }) => name).sort()).toEqual(tables.map(({ name }) => name))
  })

  it('has a comment on every table and column', async () => {
    const tables = await describedTables()
    const without = tables.flatMap(table => {
      const { text, columns } = commentsOf(table)
      return [
        ...(text.length > 10 ? [] : [table.name]),
        ...columns.flatMap(({ name, comment }) => (isSaid(name, comment) ? [] : [`${table.name}.${name}`])),
      ]
    })
    expect(without).toEqual([])
  })

  it('says what the comments say: `npx vitest run test/db/clickhouse/readme.int.test.ts -u` writes it anew', async () => {
    await expect(describeIn(readme, await describedTables())).toMatchFileSnapshot(fileURLToPath(file))
  })

  it.each(sections)('$name: the examples run, and find rows', async ({ examples }) => {
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      await engine.rows(example)
      await expectRows(example)
    }
  })

  it('leaves retracted rows out wherever a table keeps them', async () => {
    const heads = ['holder', 'account_vault', 'daily_flow_head', 'retracted']
    const tables = await engine.rows<{ table: string }>(
      `SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'position'
         AND table IN (SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree')`,
    )
    const keeping = tables.map(({ table }) => table).filter(name => !heads.includes(name))
    expect(keeping.length).toBeGreaterThan(30)
    for (const { name, examples } of sections) {
      if (!keeping.includes(name)) continue
      for (const example of examples)
        expect(example, name).toMatch(/position\)? NOT IN \(SELECT (chain_id, )?position FROM retracted/)
    }
  })

  it('says of every vault how it came to be known', async () => {
    const events = chain.canonical().map(({ event }) => event)
    const made = new Set(events.flatMap(({ type, data }) => (type === 'VaultCreated' ? [data.vault] : [])))
    const standings = events.flatMap(({ type, contract }) =>
      type === 'VaultDiscovered'
        ? [[contract, contract === vault ? 'listed' : made.has(contract) ? 'made' : 'found']]
        : [],
    )
    standings.push([LARGE, 'listed'])
    expect(new Set(standings.map(([, standing]) => standing))).toEqual(new Set(['listed', 'made', 'found']))
    for (const view of ['vaults', 'vault_standings', '(SELECT DISTINCT vault, standing FROM tvl_usd)']) {
      const rows = await engine.rows<{ vault: string; standing: string }>(
        `SELECT vault, standing FROM ${view}`,
      )
      expect(rows.map(({ vault, standing }) => [vault, standing]).sort(), view).toEqual([...standings].sort())
    }
  })

  it.each([
    ['fixed_term_figures', 'fixed_term_state', 'market'],
    ['amm_figures', 'amm_state', 'vault'],
  ])('%s has every state of those it has', async (view, table, key) => {
    const rows = await engine.rows<{ key: string; states: number; shown: number }>(
      `SELECT key, states, shown
       FROM (SELECT ${key} AS key, uniqExact(position) AS states FROM ${table}
         WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY key) AS all
       INNER JOIN (SELECT ${key} AS key, uniqExact(position) AS shown FROM ${view} GROUP BY key) AS seen USING key`,
    )
    expect(Math.max(...rows.map(({ states }) => states))).toBeGreaterThan(1)
    for (const { key, states, shown } of rows) expect(shown, key).toBe(states)
  })

  it('has no view that joins ANY INNER, which keeps one row of a key on both sides', async () => {
    expect(
      await engine.rows(
        "SELECT name FROM system.tables WHERE engine = 'View' AND position(create_table_query, 'ANY INNER JOIN') > 0 AND startsWith(database, currentDatabase())",
      ),
    ).toEqual([])
  })

  it('counts no flow that a fork took back', async () => {
    const sums = new Map<string, bigint>()
    const flows = (log: readonly Positioned[]) =>
      log.flatMap(({ event }) =>
        (event.type === 'Deposited' || event.type === 'Redeemed') && event.contract === vault ? [event] : [],
      )
    for (const { type, data } of flows(chain.canonical())) {
      const key = `${data.owner} ${type === 'Deposited' ? 'deposit' : 'redeem'}`
      sums.set(key, (sums.get(key) ?? 0n) + data.assets)
    }
    expect(flows(chain.log).length).toBeGreaterThan(flows(chain.canonical()).length)
    const example = sections.find(({ name }) => name === 'flow')?.examples[0] ?? ''
    const rows = await engine.rows<{ account: string; kind: string; assets: string }>(
      `SELECT account, kind, toString(assets) AS assets FROM (${filled(example)})`,
    )
    expect(new Map(rows.map(row => [`${row.account} ${row.kind}`, BigInt(row.assets)]))).toEqual(sums)
  })

  it('values a vault in USD by the feed price at or before the sample', async () => {
    const rows = await engine.rows<{
      vault: string
      sampled_at: string
      tvl: number | null
      price_usd: number | null
      tvl_usd: number | null
    }>(`SELECT * FROM tvl_usd WHERE vault = '${vault}' ORDER BY sampled_at`)
    const prices = chain
      .canonical()
      .flatMap(({ event, block }) =>
        event.type === 'PriceReported' && event.data.feed === feed
          ? [{ at: block.timestamp, price: Number(event.data.answer) / 1e8 }]
          : [],
      )
    expect(rows.length).toBeGreaterThan(5)
    for (const row of rows) {
      const at = Date.parse(`${row.sampled_at}Z`) / 1000
      const possible = prices.filter(price => price.at <= at)
      const newest = possible.filter(price => price.at === possible.at(-1)?.at).map(({ price }) => price)
      if (newest.length === 0) expect(row.price_usd).toBeNull()
      else if (row.price_usd !== null) {
        expect(newest.some(price => Math.abs(price - (row.price_usd ?? 0)) < 1e-12)).toBe(true)
        if (row.tvl !== null) expect(row.tvl_usd).toBeCloseTo(row.tvl * row.price_usd, 6)
      } else {
        // Three days after it a report is no price any more.
        const isOld = at - (possible.at(-1)?.at ?? at) > 3 * 86_400
        expect(isOld || !newest.every(price => price > 0)).toBe(true)
      }
    }
  })
})
