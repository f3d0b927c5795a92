import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { access, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registerStream } from '../../db/events/event-store.ts'
import { CHAIN_STATE } from '../../db/events/snapshot.ts'
import type { ProgressBoard } from '../../jobs/progress.ts'
import {
  chainByName,
  exportSnapshot,
  importSnapshot,
  type Manifest,
  readManifest,
} from '../../jobs/snapshot.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline, quiet } from '../pipeline.ts'
import { appendBlocks } from '../read-api/append.ts'
import { RandomChain } from './streams.ts'

const MAINNET = 1

let source: Pipeline
let target: TestPostgres
let folder: string
let snapshot: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-snapshot-'))
  snapshot = join(folder, 'made')
  source = await createPipeline()
  target = await createPostgres()
  const blocks = new RandomChain(77).grow(60, { forks: true }).log
  await appendBlocks(
    source.postgres.pool,
    MAINNET,
    'mainnet',
    blocks.map(({ block, event }) => ({ block, events: [event] })),
  )
  await source.postgres.pool.query(
    `UPDATE stream SET final_hash = '0xab', head_hash = '0xcd', head_height = head_height + 3 WHERE id = 1`,
  )
  await keepState(source.postgres.pool)
  await exportSnapshot(chainByName('mainnet'), {
    pool: source.postgres.pool,
    folder: snapshot,
    progress: quiet,
  })
}, 300_000)
afterAll(async () => {
  await source?.drop()
  await target?.drop()
  await rm(folder, { recursive: true, force: true })
})

/** A row, or a few, in every table that goes with the events. */
async function keepState(pool: pg.Pool): Promise<void> {
  await pool.query(`
    INSERT INTO hot_block VALUES (1, 900, '0x01', 5, 9), (1, 901, '0x02', 1, 0);
    INSERT INTO watched_source (stream, kind, contract, from_block, cursor, learned) VALUES (1, 'vault', '0xaa', 0, NULL, false), (1, 'vault', '0xbb', 4, 70, true);
    INSERT INTO older_logs (stream, kind, contract, cursor, to_block) VALUES (1, 'vault', '0xcc', 3, 8);
    INSERT INTO waiting_contract VALUES (1, '0xdd', 'erc4626', true, 55, 2, NULL);
    INSERT INTO log_budget VALUES (1, '0xee', 19000, 2001, 60, NULL);
    INSERT INTO sampling_round VALUES (1, 'found', 2000, 3);
    INSERT INTO teaching_type VALUES (1, 'erc4626', 'VaultDiscovered');
    INSERT INTO teaching_event VALUES (1, 2, ARRAY['0xaa', 'odd " , one'], false);
    INSERT INTO dead_letter (stage, stream, reason, payload) VALUES ('decode', 1, E'tab\\tand ünïcode', '{"a": [1, "2"]}'), ('project', 1, 'of the read models', '{}'), ('decode', 10, 'of another chain', '{}')`)
}

const take = async (postgres: TestPostgres, from = snapshot) =>
  importSnapshot(await readManifest(from), { pool: postgres.pool, folder: from, progress: quiet })

async function stored({ pool }: TestPostgres): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {}
  for (const table of ['event_log', 'stream', ...CHAIN_STATE]) {
    const { rows } = await pool.query<{ row: string }>(
      `SELECT (to_jsonb(t) - '{id,recorded_at,updated_at}'::text[])::text AS row FROM ${table} t
       WHERE ${table === 'stream' ? 'id' : 'stream'} = 1 ${table === 'dead_letter' ? `AND stage = 'decode'` : ''} ORDER BY row`,
    )
    found[table] = rows.map(({ row }) => row)
  }
  return found
}

/** A copy of the snapshot with something done to it; of a manifest that is told so, the hashes are right. */
async function changed(name: string, change: (path: string, manifest: Manifest) => Promise<unknown>) {
  const path = join(folder, name)
  await cp(snapshot, path, { recursive: true })
  const manifest = await readManifest(path)
  await change(path, manifest)
  return path
}
const rewrite = (path: string, manifest: Manifest) =>
  writeFile(join(path, 'manifest.json'), JSON.stringify(manifest))

describe('a snapshot', () => {
  test('that is imported is what was exported: events, cursor, and what the processor keeps', async () => {
    await take(target)
    const expected = await stored(source.postgres)
    for (const [table, rows] of Object.entries(expected)) expect(rows.length, table).toBeGreaterThan(0)
    expect(await stored(target)).toEqual(expected)
    await expect(take(target)).rejects.toThrow(/mainnet has blocks up to \d+ .* goes into one that has none/)
  })

  test('is Parquet that other readers read', async () => {
    const { parts } = await readManifest(snapshot)
    await source.clickhouse.command(
      'test',
      `CREATE TABLE read_back (position UInt64, type String, protocol String, block_number Int64, block_hash String, block_time Int64,
        tx_hash Nullable(String), log_index Nullable(Int64), contract Nullable(String), data String) ENGINE = Memory`,
    )
    for (const { file } of parts)
      await source.clickhouse.client.insert({
        table: 'read_back',
        values: createReadStream(join(snapshot, file)),
        format: 'Parquet',
      })
    const read = await source.rows<Record<string, unknown>>('SELECT * FROM read_back ORDER BY position')
    const { rows } = await source.postgres.pool.query(
      `SELECT position::text, type, protocol, block_number::text, '0x' || encode(block_hash, 'hex') AS block_hash, block_time::text,
        '0x' || encode(tx_hash, 'hex') AS tx_hash, log_index::text, '0x' || encode(contract, 'hex') AS contract, data::text
       FROM event_log e WHERE stream = 1 ORDER BY e.position`,
    )
    const asText = (row: Record<string, unknown>) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, String(value)]))
    expect(read.map(asText)).toEqual(rows.map(asText))
  })

  test('of which any byte was changed is refused, by the file’s name, and nothing is stored', async () => {
    const postgres = await createPostgres()
    try {
      const { parts, state } = await readManifest(snapshot)
      for (const [i, { file, bytes }] of [...parts, state].entries()) {
        const path = await changed(`flipped-${i}`, async at => {
          const content = await readFile(join(at, file))
          const place = Math.floor(bytes / 2)
          content[place] = (content[place] ?? 0) ^ 1
          await writeFile(join(at, file), content)
        })
        await expect(take(postgres, path)).rejects.toThrow(
          new RegExp(`^${file} is not what the manifest says: .* Nothing was stored`),
        )
        await rm(join(path, file))
        await expect(take(postgres, path)).rejects.toThrow(`${file} cannot be read`)
      }
      const { rows } = await postgres.pool.query('SELECT FROM stream WHERE id = 1')
      expect(rows).toEqual([])
    } finally {
      await postgres.drop()
    }
  })

  const LIES: [string, RegExp, (manifest: Manifest, path: string) => unknown][] = [
    [
      'of another version',
      /of another version of Vaultlog: .* as of 0001_x.sql/,
      it => Object.assign(it, { migration: '0001_x.sql' }),
    ],
    [
      'of another chain’s number',
      /The manifest says stream 10 of mainnet, which is 1/,
      it => Object.assign(it, { stream: 10 }),
    ],
    ['of a chain nobody knows', /no network atlantis/, it => Object.assign(it, { network: 'atlantis' })],
    ['with a file less', /end at position 0; the manifest says \d+/, it => Object.assign(it, { parts: [] })],
    [
      'that begins later',
      /after position 0 comes .* with 2/,
      it => Object.assign(it.parts[0] ?? {}, { from: 2 }),
    ],
    [
      'that says to end elsewhere',
      /ends at position \d+; the manifest says/,
      it => it.parts[0] && it.parts[0].to++,
    ],
    [
      'with a file that is no Parquet',
      /events-000001.parquet cannot be read as Parquet/,
      async (it, path) => {
        const [part] = it.parts
        if (!part) throw new Error('no part')
        await writeFile(join(path, part.file), 'no parquet at all')
        part.sha256 = createHash('sha256').update('no parquet at all').digest('hex')
      },
    ],
    [
      'with state of a table that is not the chain’s',
      /a line is no state of a chain/,
      async (it, path) => {
        const line = '{"table":"api_key","row":{"code":"me"}}\n'
        await writeFile(join(path, it.state.file), line)
        it.state.sha256 = createHash('sha256').update(line).digest('hex')
      },
    ],
  ]
  test.each(LIES)('%s is refused', async (name, reason, lie) => {
    const postgres = await createPostgres()
    try {
      const path = await changed(name, async (at, manifest) => {
        await lie(manifest, at)
        await rewrite(at, manifest)
      })
      await expect(take(postgres, path)).rejects.toThrow(reason)
      const { rows } = await postgres.pool.query('SELECT FROM stream WHERE id = 1')
      expect(rows).toEqual([])
    } finally {
      await postgres.drop()
    }
  })

  test('goes into a new folder alone, and of nothing there is none', async () => {
    const { pool } = source.postgres
    const mainnet = chainByName('mainnet')
    await expect(exportSnapshot(mainnet, { pool, folder: snapshot, progress: quiet })).rejects.toThrow(
      'is there already',
    )
    await registerStream(pool, 10, 'optimism', 'evm')
    const nothing = join(folder, 'nothing')
    await expect(
      exportSnapshot(chainByName('optimism'), { pool, folder: nothing, progress: quiet }),
    ).rejects.toThrow('Nothing final is stored of optimism')
    await expect(access(nothing)).rejects.toThrow()
    await expect(access(`${nothing}.part`)).rejects.toThrow()
    await expect(readManifest(folder)).rejects.toThrow('is no snapshot')
  })

  test('that is interrupted leaves nothing, on either side', async () => {
    const stop = new AbortController()
    const progress: ProgressBoard = {
      start: title => ({
        update: () => {
          if (!title.includes('hashes')) stop.abort()
        },
        finish() {},
      }),
      close() {},
    }
    const postgres = await createPostgres()
    try {
      stop.abort()
      const half = join(folder, 'half')
      const { pool } = source.postgres
      await expect(
        exportSnapshot(chainByName('mainnet'), { pool, folder: half, progress, signal: stop.signal }),
      ).rejects.toThrow('Interrupted')
      await expect(access(half)).rejects.toThrow()
      await expect(access(`${half}.part`)).rejects.toThrow()
      await expect(
        importSnapshot(await readManifest(snapshot), {
          pool: postgres.pool,
          folder: snapshot,
          progress,
          signal: stop.signal,
        }),
      ).rejects.toThrow('Interrupted')
      expect((await postgres.pool.query('SELECT FROM stream WHERE id = 1')).rows).toEqual([])
    } finally {
      await postgres.drop()
    }
  })

  test('has every table that knows a stream, or says why it is of one installation', async () => {
    const { rows } = await source.postgres.pool.query<{ name: string }>(
      `SELECT DISTINCT c.table_name AS name FROM information_schema.columns c JOIN pg_class t ON t.relname = c.table_name
       WHERE table_schema = current_schema() AND column_name = 'stream' AND t.relkind IN ('r', 'p') AND NOT t.relispartition`,
    )
    /** Read models and what was compared, by whoever compared it. */
    const ofAnInstallation = ['checkpoint', 'replay', 'verification', 'completeness']
    expect(rows.map(({ name }) => name).sort()).toEqual(
      ['event_log', ...CHAIN_STATE, ...ofAnInstallation].sort(),
    )
  })

  test('is made and taken by commands', { timeout: 120_000 }, async () => {
    const postgres = await createPostgres()
    try {
      const made = join(folder, 'by-command')
      const exported = await vaultlog(
        { DATABASE_URL: source.postgres.url },
        'snapshot',
        'export',
        'mainnet',
        made,
      )
      expect(exported.code, exported.stderr).toBe(0)
      expect(exported.stdout).toMatch(/\d+ events of mainnet up to block \d+ \(final to \d+\), in 1 files/)
      expect(exported.stderr).toContain('mainnet: writing')
      const asked = await vaultlog(
        { DATABASE_URL: postgres.url, RPC_MAINNET: '' },
        'snapshot',
        'import',
        made,
      )
      expect({ code: asked.code, said: asked.stderr }).toEqual({
        code: 1,
        said: expect.stringContaining('No node to ask'),
      })
      const taken = await vaultlog({ DATABASE_URL: postgres.url }, 'snapshot', 'import', made, '--unchecked')
      expect(taken.code, taken.stderr).toBe(0)
      expect(taken.stdout).toContain('No node was asked about them')
      expect(await stored(postgres)).toEqual(await stored(source.postgres))
    } finally {
      await postgres.drop()
    }
  })
})
