import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { verify } from '../../jobs/verify.ts'
import { type RangeAnswer, rangePrinter } from '../../jobs/verify-chain.ts'
import { start, vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'

/** What `verify` says and leaves where it cannot come to its end, or has nothing to do. */
const FINAL = 3
let pipeline: Pipeline
let env: Record<string, string>
let nothing: Awaited<ReturnType<typeof vaultlog>>

const block = (number: number): BlockEvents => ({
  block: { number, hash: `0x${String(number).padStart(64, '0')}`, timestamp: 1_000_000 + number },
  events: [
    {
      type: 'PriceReported',
      contract: `0x${'a1'.repeat(20)}`,
      logIndex: 0,
      data: { source: 'chainlink', feed: `0x${'a2'.repeat(20)}`, answer: 1n, decimals: 8, reportedAt: 1 },
    },
  ],
})

beforeAll(async () => {
  pipeline = await createPipeline()
  const { pool, url } = pipeline.postgres
  env = {
    DATABASE_URL: url,
    CLICKHOUSE_URL: inject('clickhouseUrl'),
    CLICKHOUSE_DATABASE: pipeline.clickhouse.database,
  }
  nothing = await vaultlog(env, 'verify')
  await appendBlocks(pool, 1, 'mainnet', [block(1), block(2), block(FINAL)])
  await pipeline.project()
})
afterAll(() => pipeline?.drop())

test('an empty store is said to be empty, not to be equal', () => {
  expect(nothing.stdout).toBe('Nothing is stored yet: there was nothing to compare.\n')
  expect(nothing.code).toBe(0)
})

test('interrupted it leaves nothing behind, and does not say that it would go on', async () => {
  const { pool } = pipeline.postgres
  const stop = new AbortController()
  const verified = verify({
    pool,
    clickhouse: pipeline.clickhouse,
    projections: pipeline.projections.filter(({ name }) => name === 'feed_price'),
    streams: await listStreams(pool),
    batch: 1,
    progress: { start: () => ({ update: () => stop.abort(), finish() {} }), close() {} },
    signal: stop.signal,
  })
  await expect(verified).rejects.toThrow(/^Interrupted\..* begins anew\.$/)
  expect((await pool.query('SELECT FROM replay')).rowCount).toBe(0)
  const shadows = "SELECT name FROM system.databases WHERE name = concat(currentDatabase(), '_verify')"
  expect(await pipeline.rows(shadows)).toEqual([])
})

test('against a chain it fails where there is no block to compare, and ends when it is told to, with its own process', async () => {
  const chainOf = ['verify', '--chain', 'mainnet', '--rpc']
  const above = vaultlog(env, ...chainOf, 'http://127.0.0.1:1', '--from', String(FINAL + 1))
  // A node that does not answer.
  const sockets: Socket[] = []
  const node = createServer(socket => sockets.push(socket.on('error', () => {}).resume()))
  await once(node.listen(0, '127.0.0.1'), 'listening')
  const { port } = node.address() as { port: number }
  const asked = once(node, 'connection')
  const running = start(['jobs/cli.ts', ...chainOf, `http://127.0.0.1:${port}`], env)
  await asked
  const closed = once(sockets[0] ?? node, 'close')
  running.child.kill('SIGTERM')
  const { code, stderr } = await running.ended
  expect([code, stderr.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(/^Interrupted\./)])
  await closed
  node.close()
  const refused = await above
  expect(refused.stderr).toMatch(/no block to compare from 4 to 3, the newest that is final in the store/)
  expect([refused.code, refused.stdout]).toEqual([1, ''])
})

test('a range is printed when it comes, and what was not compared is named', () => {
  const lines: string[] = []
  const ranges = rangePrinter(text => lines.push(text))
  const sum = { events: 2, checksum: 'ab' }
  const range = (from: number, differences: string[]): RangeAnswer => ({
    from,
    to: from + 9,
    chain: sum,
    store: sum,
    equal: differences.length === 0,
    differences,
  })
  ranges.add(range(0, []))
  expect(lines).toHaveLength(2)
  expect(lines[1]).toMatch(/^0 +9 +2 +2 +ab +ab +equal$/)
  ranges.add(range(10, ['log 3: not in the store']))
  expect(lines.slice(2)).toEqual([expect.stringMatching(/^10 .* DIFFERENT$/), 'log 3: not in the store'])
  expect(ranges.close({ to: 30 })).toBe(1)
  expect(lines.slice(4)).toEqual([
    'Not compared: blocks 20 to 30, which are not final in the store.',
    '1 of 2 ranges differ.',
  ])
})
