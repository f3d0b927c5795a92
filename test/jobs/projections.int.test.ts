import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { internalView } from '../../db/clickhouse/migrate.ts'
import { rowsOfView } from '../../db/clickhouse/views.ts'
import { vocabulary } from '../../db/events/vocabulary.ts'
import { loadProjections, type Projection, partsOf, tablesOf } from '../../jobs/projection.ts'
import { planRange, type Range } from '../../jobs/ranges.ts'
import { applyRange, tokenOf } from '../../jobs/runner.ts'
import { seededRandom } from '../chain/random.ts'
import { Engine } from './engine.ts'
import { naiveBalances, naiveClaims, naiveDrawdowns, naiveFlows, naiveHourly, type Row } from './naive.ts'
import { type Positioned, RandomChain, renumbered, store } from './streams.ts'

// Hundreds of small batches: seconds on a free machine, minutes on a busy one.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 })

const projections = await loadProjections()
const ofChains = projections.filter(({ streams }) => streams === 'evm')
const STREAM = 1
/** Another history with the slow tests. */
const SEEDS = (process.env['HISTORIES'] ?? '1').split(',').map(Number)

let engine: Engine
const engines: Engine[] = []
afterAll(async () => {
  for (const each of engines) await each.drop()
})

/** Another database with nothing but these events, which the helpers below use from here on. */
async function fresh(log: readonly Positioned[]): Promise<Engine> {
  engine = await Engine.create()
  engines.push(engine)
  await store(engine, STREAM, log)
  return engine
}

/** Applies everything, in batches of at most `size()` positions before they are cut as the runner cuts them. */
async function applyAll(
  list: readonly Projection[],
  log: readonly Positioned[],
  size: () => number,
  { times = 1, leaveOutTo = 0 } = {},
): Promise<number[]> {
  const last = log.length
  const target = { position: last, block_number: 0, block_time: 0 }
  const ends: number[] = []
  for (let from = 0; from < last; ) {
    const range = await planRange(engine.client, STREAM, from, Math.min(last, from + size()), target, {
      leaveOutTo,
    })
    for (const projection of list) {
      for (let time = 0; time < times; time++) await applyAgain(projection, range, time)
    }
    ends.push(range.to)
    from = range.to
  }
  return ends
}

/** A second time without the help of the deduplication token, which forgets. */
async function applyAgain(projection: Projection, range: Range, time: number): Promise<void> {
  const again: Projection = { ...projection, version: projection.version + time }
  await applyRange(engine.client, again, STREAM, range)
}

const HEADS = new Set(
  projections.flatMap(({ beside = [] }) => beside.filter(({ isHead }) => isHead).map(({ name }) => name)),
)

/** What a reader pinned at `position` sees of a table (of a head: what it is). */
function visible(table: string, position: number): string {
  return HEADS.has(table)
    ? `SELECT * FROM ${table} FINAL`
    : `SELECT * FROM ${table} FINAL WHERE position <= ${position}
       AND position NOT IN (SELECT position FROM retracted WHERE retracted_by <= ${position})`
}

async function checksums(): Promise<Record<string, string>> {
  const sums: Record<string, string> = {}
  for (const table of ofChains.flatMap(tablesOf)) {
    const [row] = await engine.rows<{ sum: string }>(
      `SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(*)))))) AS sum FROM ${table} FINAL`,
    )
    sums[table] = row?.sum ?? ''
  }
  return sums
}

async function rowsOf(table: string, position: number, columns = '*'): Promise<Row[]> {
  const [{ list } = { list: '' }] = await engine.rows<{ list: string }>(
    `SELECT arrayStringConcat(groupArray(if(match(type, '256'), concat('toString(', name, ') AS ', name), name)), ', ') AS list
     FROM (SELECT * FROM system.columns WHERE database = currentDatabase() AND table = '${table}' ORDER BY position)`,
  )
  return engine.rows(`SELECT ${columns === '*' ? list : columns} FROM (${visible(table, position)})`)
}

const key = (row: Row) =>
  [row.holder, row.account, row.key, row.market, row.asset, row.side].reduce<string>(
    (text, part) => `${text} ${part ?? ''}`,
    String(row.position).padStart(9, '0'),
  )
const sorted = (rows: Row[]) => [...rows].sort((a, b) => (key(a) < key(b) ? -1 : 1))

function expectRows(found: Row[], expected: Row[], what: string): void {
  expect(found.length, `${what}: rows`).toBe(expected.length)
  const have = sorted(found)
  sorted(expected).forEach((row, i) => {
    for (const [column, value] of Object.entries(row)) {
      const cell = have[i]?.[column]
      const at = `${what} ${column} at ${row.position}`
      if (typeof value === 'number' && ![value, cell].every(Number.isSafeInteger)) {
        expect(typeof cell, at).toBe('number')
        expect(Math.abs(Number(cell) - value), `${at}: ${cell} for ${value}`).toBeLessThanOrEqual(
          1e-8 * (1 + Math.abs(value)),
        )
      } else expect(cell, at).toEqual(value)
    }
  })
}

describe('every projection', () => {
  it('is listed', () => {
    expect(projections.map(({ name, version }) => `${name} ${version}`)).toMatchInlineSnapshot(`
      [
        "aave_liquidity 1",
        "aave_reserve 1",
        "aave_revision 1",
        "amm_vault 1",
        "asset 1",
        "attributed_flow 1",
        "balance 2",
        "bridge_received 1",
        "bridge_sent 1",
        "comet_market 1",
        "daily_flow 1",
        "drawdown 1",
        "evk_status 1",
        "feed_price 1",
        "fixed_term_market 1",
        "flow 1",
        "lending_event 1",
        "lending_setting 1",
        "morpho_market 1",
        "morpho_rate 1",
        "morpho_sampled_rate 1",
        "oracle_price 1",
        "registry_fact 1",
        "reward_claim 1",
        "reward_period 1",
        "reward_stream 1",
        "svm_balance 1",
        "svm_farm 1",
        "svm_flow 1",
        "svm_holders_listed 1",
        "svm_mint 1",
        "svm_price 1",
        "svm_stake 1",
        "svm_vault_sample 1",
        "svm_vault 1",
        "vault_hourly 1",
        "vault_sample 1",
        "vault_setting 1",
        "vault 1",
      ]
    `)
  })

  it('has the columns of the table in its view, and of every row its place in the stream', async () => {
    const { database } = (await fresh([])).house
    // LowCardinality is the table's own affair.
    const plain = (columns: { name: string; type: string }[]) =>
      columns.map(({ name, type }) => [name, type.replace(/LowCardinality\((.*)\)/, '$1')])
    const nested: string[] = []
    for (const projection of projections) {
      for (const { name, into = name } of partsOf(projection)) {
        const table = await engine.rows<{ name: string; type: string }>(
          `SELECT name, type FROM system.columns WHERE database = '${database}' AND table = '${into}' ORDER BY position`,
        )
        const view = await engine.rows<{ name: string; type: string }>(
          `DESCRIBE (SELECT * FROM ${internalView(engine.client, `${name}_rows`)}(stream = 1, from = 0, to = 0))`,
        )
        const written = await rowsOfView(engine.client, `${name}_rows`, { stream: 1, from: 0, to: 0 })
        if (written.includes('_internal')) nested.push(name)
        // Rows go from one into the other by place.
        expect(plain(view), name).toEqual(plain(table))
        expect(
          plain(await engine.rows<{ name: string; type: string }>(`DESCRIBE (SELECT * FROM ${written})`)),
          name,
        ).toEqual(plain(table))
        const place = ['position', 'block_number', 'timestamp']
        if (projection.streams !== 'registry') place.push('chain_id')
        expect(
          table.map(column => column.name),
          name,
        ).toEqual(expect.arrayContaining(place))
      }
    }
    expect(nested).toEqual([])
  })

  it('says of every table which types it reads: exactly those that its view names', async () => {
    await fresh([])
    const views = await engine.rows<{ name: string; text: string }>(
      "SELECT name, create_table_query AS text FROM system.tables WHERE database = concat(currentDatabase(), '_internal')",
    )
    const text = new Map(views.map(view => [view.name, view.text]))
    const namedIn = (name: string): string[] => {
      const found = text.get(name) ?? ''
      return [
        ...[...found.matchAll(/'(\w+)'/g)].map(match => match[1] ?? '').filter(type => type in vocabulary),
        ...[...found.matchAll(/(\w+)`?\(stream = /g)].flatMap(match => namedIn(match[1] ?? '')),
      ]
    }
    for (const projection of projections) {
      for (const table of partsOf(projection)) {
        if (table.into) {
          expect(table.handles, table.name).toEqual(['BlockRetracted'])
          continue
        }
        const named = new Set(namedIn(`${table.name}_rows`))
        // Heads take retractions back, which they find in `retracted`.
        const said = new Set(table.handles?.filter(type => type !== 'BlockRetracted') ?? named)
        expect([...said].sort(), table.name).toEqual([...named].sort())
        if (!table.handles) for (const type of named) expect(projection.handles, table.name).toContain(type)
      }
    }
  })

  describe.each(SEEDS)('on random history %i', seed => {
    const chain = new RandomChain(seed).grow(110)
    const { log } = chain
    const random = seededRandom(seed * 7919).next
    let whole: Record<string, string>
    let ends: number[]

    let once: Engine
    beforeAll(async () => {
      once = await fresh(log)
      ends = await applyAll(ofChains, log, () => 1_000_000)
      whole = await checksums()
    })

    it('has forks in its history, some of many blocks', () => {
      expect(log.filter(({ event }) => event.type === 'BlockRetracted').length).toBeGreaterThan(10)
      expect(chain.canonical().length).toBeGreaterThan(200)
    })

    it('gives what plain loops over the canonical events give, at every batch end', async () => {
      engine = once
      for (const position of [log.length, ...ends.filter((_, i) => i % 3 === 0)]) {
        const events = chain.canonical(position)
        const balances = naiveBalances(events)
        const flows = naiveFlows(events)
        expectRows(await rowsOf('balance', position), balances.balance, 'balance')
        expectRows(await rowsOf('position_change', position), balances.position_change, 'position_change')
        expectRows(await rowsOf('flow', position), flows.flow, 'flow')
        expectRows(await rowsOf('daily_flow', position), flows.daily_flow, 'daily_flow')
        expectRows(await rowsOf('attributed_flow', position), flows.attributed_flow, 'attributed_flow')
        expectRows(await rowsOf('reward_claim', position), naiveClaims(events), 'reward_claim')
        expectRows(await rowsOf('vault_hourly', position), naiveHourly(events), 'vault_hourly')
        expectRows(await rowsOf('drawdown', position), naiveDrawdowns(events), 'drawdown')
        for (const [table, type] of [
          ['vault', 'VaultDiscovered'],
          ['vault_made', 'VaultCreated'],
          ['vault_sample', 'StateSampled'],
          ['feed_price', 'PriceReported'],
          ['reward_stream', 'RewardStreamSampled'],
          ['reward_period', 'RewardPeriodFunded'],
        ] as const) {
          const found = await rowsOf(table, position, 'position')
          expect(
            found.map(row => row.position).sort((a, b) => Number(a) - Number(b)),
            table,
          ).toEqual(events.filter(({ event }) => event.type === type).map(entry => entry.position))
        }
      }
      const { holder } = naiveBalances(chain.canonical())
      for (const [table, column] of [
        ['holder', 'holder'],
        ['account_vault', 'account'],
      ] as const) {
        const found = await rowsOf(table, log.length)
        expect(
          new Set(
            found.filter(row => row.balance !== '0').map(row => `${row.vault} ${row[column]} ${row.balance}`),
          ),
        ).toEqual(
          new Set(
            [...holder].filter(([, balance]) => balance !== '0').map(([who, balance]) => `${who} ${balance}`),
          ),
        )
      }
    })

    it('has the days of flows as they are now in their head', async () => {
      engine = once
      const lastOf = new Map<string, Row>()
      for (const row of naiveFlows(chain.canonical()).daily_flow) lastOf.set(`${row.vault} ${row.day}`, row)
      const figures = ({ vault, day, ...row }: Row) =>
        [
          vault,
          day,
          row.total_deposits,
          row.total_redemptions,
          row.deposit_count,
          row.redemption_count,
          row.unique_depositors,
          row.unique_redeemers,
        ].join(' ')
      const found = (await rowsOf('daily_flow_head', log.length)).filter(
        row => Number(row.deposit_count) + Number(row.redemption_count) > 0,
      )
      expect(lastOf.size).toBeGreaterThan(5)
      expect(found.map(figures).sort()).toEqual([...lastOf.values()].map(figures).sort())
    })

    it('applied a second time changes nothing', async () => {
      await fresh(log)
      await applyAll(ofChains, log, () => 1 + Math.floor(random() * 1_600), { times: 2 })
      expect(await checksums()).toEqual(whole)
    })

    it('finds the heads that a large batch goes on from, which it looks for in another way', async () => {
      const long = new RandomChain(seed + 100).grow(500)
      await fresh(long.log)
      const balances = ofChains.filter(({ name }) => name === 'balance')
      const cuts = await applyAll(balances, long.log, () => 1_200, { leaveOutTo: long.log.length })
      expect(cuts.filter((end, i) => i > 0 && end - (cuts[i - 1] ?? 0) > 1_000).length).toBeGreaterThan(2)
      expectRows(await rowsOf('balance', long.log.length), naiveBalances(long.canonical()).balance, 'balance')
    })

    it('does not depend on how the history is cut', async () => {
      await fresh(log)
      await applyAll(ofChains, log, () => 1 + Math.floor(random() ** 2 * 600))
      expect(await checksums()).toEqual(whole)
    })

    it('shows the same where forks are left out instead of taken back', async () => {
      const tables = ofChains.flatMap(tablesOf)
      const heads = new Map(ofChains.flatMap(partsOf).map(({ name, emptyWhere }) => [name, emptyWhere]))
      // A head may name a change that was taken back as its last, or none: its figures are the same.
      const shown = async (name: string) =>
        HEADS.has(name)
          ? engine.rows(
              `SELECT toString(tuple(* EXCEPT (position, block_number, timestamp))) AS figures FROM ${name} FINAL
               WHERE NOT (${heads.get(name)}) ORDER BY figures`,
            )
          : sorted(await rowsOf(name, log.length))
      engine = once
      const before: Record<string, unknown[]> = {}
      for (const name of tables) before[name] = await shown(name)
      const half = ends[ends.length >> 1] ?? 0
      for (const [leaveOutTo, size] of [
        [log.length, 1_000_000],
        [half, 800],
      ] as const) {
        await fresh(log)
        const fewer = await applyAll(ofChains, log, () => 1 + Math.floor(random() * size), { leaveOutTo })
        if (size > log.length) expect(fewer.length).toBeLessThan(ends.length / 2)
        for (const name of tables)
          expect(await shown(name), `${name} up to ${leaveOutTo}`).toEqual(before[name])
      }
      const takenBack = async (of: Engine) => {
        const [row] = await of.rows<{ n: string }>(
          `SELECT count() AS n FROM flow WHERE position IN (SELECT position FROM retracted WHERE retracted_by <= ${half})`,
        )
        return Number(row?.n)
      }
      expect(await takenBack(engine)).toBeLessThan(await takenBack(once))
    })

    it('shows after retractions what a history without them shows', async () => {
      const before: Record<string, Row[]> = {}
      const order = chain.canonical().map(({ position }) => position)
      engine = once
      const tables = ofChains.flatMap(tablesOf).filter(name => !HEADS.has(name))
      for (const name of tables) before[name] = await rowsOf(name, log.length)
      const canonical = renumbered(chain.canonical())
      await fresh(canonical)
      await applyAll(ofChains, canonical, () => 1_000_000)
      for (const name of tables) {
        const rows = await rowsOf(name, canonical.length)
        const mapped = rows.map(row => ({ ...row, position: order[Number(row.position) - 1] }))
        expect(sorted(mapped), name).toEqual(sorted(before[name] ?? []))
      }
    })
  })

  it('completes a batch of which a killed ClickHouse knows the tokens and has no rows', async () => {
    const chain = new RandomChain(11).grow(14)
    const before = chain.log.length
    // Blocks enough that nearly every table has rows of them.
    const { log } = chain.grow(80, { forks: false })
    const last = log.length
    await fresh(log)
    await applyAll(ofChains, log, () => 1_000_000)
    const whole = await checksums()
    await fresh(log)
    await applyAll(ofChains, log.slice(0, before), () => 1_000_000)
    const target = { position: last, block_number: 0, block_time: 0 }
    const range = await planRange(engine.client, STREAM, before, last, target, { isBegun: true })
    for (const projection of ofChains) {
      for (const part of partsOf(projection)) {
        const { name, into = name } = part
        const token = tokenOf({ projection, part, stream: STREAM }, range, [])
        await engine.house.command(
          'test',
          `INSERT INTO ${into} (chain_id, position) SETTINGS insert_deduplication_token = '${token}' SELECT ${STREAM}, 0`,
        )
        await engine.house.command('test', `DELETE FROM ${into} WHERE position = 0`)
      }
    }
    const killed = await checksums()
    // So the tokens are those of the batch.
    for (const projection of ofChains)
      await applyRange(engine.client, projection, STREAM, { ...range, isRepeated: false })
    expect(await checksums()).toEqual(killed)
    // Of every table that such a history has rows of at all.
    const filled = Object.keys(whole).filter(table => !whole[table]?.startsWith('0 '))
    expect(filled.length).toBeGreaterThan(50)
    for (const table of filled) expect(killed[table], table).not.toBe(whole[table])
    for (let time = 1; time <= 2; time++) {
      for (const projection of ofChains) await applyRange(engine.client, projection, STREAM, range)
      expect(await checksums()).toEqual(whole)
    }
  })

  it('does not depend on the cut when every block is a batch of its own', async () => {
    const { log } = new RandomChain(11).grow(14)
    await fresh(log)
    await applyAll(ofChains, log, () => 1_000_000)
    const whole = await checksums()
    await fresh(log)
    const ends = await applyAll(ofChains, log, () => 1)
    expect(ends.length).toBeGreaterThan(11)
    expect(await checksums()).toEqual(whole)
  })
})
