import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import {
  appendEvents,
  type BlockEvents,
  lockStreamHead,
  registerStream,
} from '../../db/events/event-store.ts'
import { inTransaction } from '../../db/postgres.ts'
import { mirrorStream } from '../../jobs/mirror.ts'
import { loadProjections, type Projection } from '../../jobs/projection.ts'
import { planRange } from '../../jobs/ranges.ts'
import { applyRange, runProjection } from '../../jobs/runner.ts'
import { ask } from '../../read-api/moment/query.ts'
import { drawdowns } from '../../read-api/vaults/history-queries.ts'
import { seededRandom } from '../chain/random.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { describeRecorded, RECORDINGS } from '../recordings.ts'
import { Engine } from './engine.ts'
import { naiveDrawdown, naiveHourly, samplesOf, sqlTime, WINDOWS } from './naive.ts'
import { hex, type Positioned, store } from './streams.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

async function projectionNamed(name: string): Promise<Projection> {
  const found = (await loadProjections()).find(projection => projection.name === name)
  if (!found) throw new RangeError(`no projection ${name}`)
  return found
}

/** The recording has no times: a second a block, from a moment that ClickHouse reads as unix seconds. */
const timeOf = (block: number) => 1_500_000_000 + block

describeRecorded('all transfers of one token, from event store to balances', () => {
  const TOKEN = hex('70', 0)
  let postgres: TestPostgres
  let engine: Engine
  const transfers = gunzipSync(readFileSync(join(RECORDINGS, 'balances/transfer_logs.csv.gz')))
    .toString()
    .trim()
    .split('\n')
    .map(line => {
      const [block = '', from = '', to = '', amount = ''] = line.split(',')
      return { block: Number(block), from: from.toLowerCase(), to: to.toLowerCase(), amount: BigInt(amount) }
    })

  beforeAll(async () => {
    postgres = await createPostgres()
    engine = await Engine.create()
    const blocks = new Map<number, BlockEvents>()
    for (const [i, { block, from, to, amount }] of transfers.entries()) {
      const entry = blocks.get(block) ?? {
        block: { number: block, hash: hex('b', block, 64), timestamp: timeOf(block) },
        events: [],
      }
      blocks.set(block, entry)
      entry.events.push({
        type: 'ShareTransferred',
        contract: TOKEN,
        logIndex: i,
        transactionHash: hex('7', i, 64),
        data: { from, to, shares: amount },
      })
    }
    await registerStream(postgres.pool, 1, 'ethereum', 'evm')
    await inTransaction(postgres.pool, async tx => {
      const head = await appendEvents(tx, 1, await lockStreamHead(tx, 1), [...blocks.values()])
      await tx.query(
        'UPDATE stream SET head = $1, head_height = 13662469, head_time = 13662469 WHERE id = 1',
        [head],
      )
    })
    await mirrorStream(postgres.pool, engine.client, 1)
    await runProjection(postgres.pool, engine.client, await projectionNamed('balance'), 1, {
      limits: { batch: 4_000 },
    })
  })
  afterAll(async () => {
    await engine.drop()
    await postgres.drop()
  })

  it('agrees with balanceOf for 2,734 of 2,735 accounts; the one is the genesis minter', async () => {
    const onChain = Object.entries(
      JSON.parse(readFileSync(join(RECORDINGS, 'balances/balances_at_13662469.json'), 'utf8')) as Record<
        string,
        string
      >,
    )
    expect(onChain.length).toBe(2735)
    const rows = await engine.rows<{ holder: string; balance: string }>(
      `SELECT holder, toString(balance) AS balance FROM holder FINAL WHERE chain_id = 1 AND vault = '${TOKEN}'`,
    )
    const held = new Map(rows.map(row => [row.holder, row.balance]))
    const different = onChain.filter(
      ([account, balance]) => (held.get(account.toLowerCase()) ?? '0') !== balance,
    )
    // The first log of the token is the minter handing out a million that no log gave to it: its mint came from no
    // zero address, so the ledger of logs shows exactly that million below zero, where the contract says 0.
    expect(different).toEqual([['0x0111011001100001011011000111010101100101', '0']])
    expect(held.get('0x0111011001100001011011000111010101100101')).toBe(`${-(10n ** 24n)}`)
  })

  it('gives every balance at any earlier block', async () => {
    const random = seededRandom(99).next
    for (let n = 0; n < 5; n++) {
      const at = transfers[Math.floor(random() * transfers.length)]?.block ?? 0
      const expected = new Map<string, bigint>()
      for (const { block, from, to, amount } of transfers) {
        if (block > at) break
        expected.set(from, (expected.get(from) ?? 0n) - amount)
        expected.set(to, (expected.get(to) ?? 0n) + amount)
      }
      expected.delete('0x0000000000000000000000000000000000000000')
      const rows = await engine.rows<{ holder: string; balance: string }>(
        `SELECT holder, toString(argMax(balance, position)) AS balance FROM balance WHERE timestamp <= '${sqlTime(timeOf(at))}' GROUP BY holder`,
      )
      const found = new Map(
        rows.filter(({ balance }) => balance !== '0').map(row => [row.holder, BigInt(row.balance)]),
      )
      expect(found).toEqual(new Map([...expected].filter(([, balance]) => balance !== 0n)))
    }
  })
})

/** A decimal number as an integer of 18 decimals. */
function fixed18(text: string): bigint {
  const [whole = '0', part = ''] = (/e/i.test(text) ? Number(text).toFixed(18) : text).split('.')
  return BigInt(whole) * 10n ** 18n + BigInt(part.slice(0, 18).padEnd(18, '0'))
}

describeRecorded('recorded hourly share prices', () => {
  // The last is how many of the four windows have a value for a row at the least: mainnet's rows are hours apart.
  const files = [
    [
      'hemi',
      gunzipSync(readFileSync(join(RECORDINGS, 'vaults/share-prices-hemi-1h.csv.gz'))).toString(),
      19_254,
      3,
    ],
    ['mainnet', readFileSync(join(RECORDINGS, 'vaults/share-prices-ipor-mainnet-1h.csv'), 'utf8'), 379, 1.5],
  ] as const

  function read(csv: string): Positioned[] {
    const rows = csv
      .trim()
      .split('\n')
      .slice(1)
      .map(line => {
        const [, vault = '', block = '', time = '', price = '', assets = '', supply = ''] = line.split(',')
        return {
          vault,
          block: Number(block),
          at: Date.parse(`${time.replace(' ', 'T')}Z`) / 1000,
          price,
          assets,
          supply,
        }
      })
      .sort((a, b) => a.at - b.at || a.block - b.block)
    return rows.map(({ vault, block, at, price, assets, supply }, i) => ({
      position: i + 1,
      block: { number: block, hash: hex('b', block, 64), timestamp: at },
      event: {
        type: 'StateSampled',
        contract: vault,
        data: {
          vault,
          reason: 'hourly',
          ...(price ? { sharePrice: fixed18(price) } : {}),
          ...(assets ? { totalAssets: fixed18(assets) } : {}),
          ...(supply ? { totalSupply: fixed18(supply) } : {}),
          decimals: 18,
          assetDecimals: 18,
        },
      },
    }))
  }

  it.each(files)('%s: APYs and drawdowns are those of plain loops', async (_, csv, count, windows) => {
    const log = read(csv)
    expect(log.length).toBe(count)
    const engine = await Engine.create()
    try {
      await store(engine, 1, log)
      const target = { position: log.length, block_number: 0, block_time: 0 }
      for (const name of ['vault_hourly', 'drawdown', 'vault_sample']) {
        const projection = await projectionNamed(name)
        for (let from = 0; from < log.length; ) {
          const range = await planRange(engine.client, 1, from, Math.min(log.length, from + 1_500), target)
          await applyRange(engine.client, projection, 1, range)
          from = range.to
        }
      }

      const expected = naiveHourly(log)
      const found = await engine.rows('SELECT * FROM vault_hourly FINAL ORDER BY position')
      expect(found.length).toBe(expected.length)
      let known = 0
      for (const [i, row] of expected.entries()) {
        for (const name of Object.keys(WINDOWS)) {
          const want = row[name] as number | null
          const have = found[i]?.[name] as number | null
          if (want === null || have === null) expect(have, `${name} at ${row.position}`).toBe(want)
          else {
            known++
            expect(
              Math.abs(have - want) / (1 + Math.abs(want)),
              `${name} at ${row.position}: ${have} for ${want}`,
            ).toBeLessThan(1e-9)
          }
        }
      }
      expect(known).toBeGreaterThan(count * windows)

      const all = samplesOf(log)
      for (const vault of new Set(all.map(sample => sample.vault))) {
        const samples = all.filter(sample => sample.vault === vault)
        const end = samples.at(-1)?.at ?? 0
        const starts = [30, 90, 365].map(days => end - days * 86_400)
        const fallen = await ask(engine.client, drawdowns, {
          chain: 1,
          p: log.length,
          starts,
          since: Math.min(...starts),
          days: starts.map(start => new Date(start * 1000).toISOString().slice(0, 10)),
          vaults: [vault],
        })
        for (const begin of starts) {
          const prices = samples.flatMap(({ at, price }) =>
            at >= begin && price !== undefined ? [price] : [],
          )
          const found = fallen.find(({ start }) => start === begin)?.drawdown ?? 0
          expect(found, `${vault} from ${begin}`).toBeCloseTo(naiveDrawdown(prices), 12)
        }
      }
    } finally {
      await engine.drop()
    }
  })
})
