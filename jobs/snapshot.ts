import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream/promises'
import { parquetReadObjects } from 'hyparquet'
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer'
import type pg from 'pg'
import { z } from 'zod'
import type { PackKeys } from '../db/events/packs.ts'
import {
  beginImport,
  endImport,
  importRows,
  importState,
  newestMigration,
  parseState,
  readCursor,
  readRows,
  readState,
  SnapshotError,
  type SnapshotEvent,
  type StateRow,
  streamCursor,
} from '../db/events/snapshot.ts'
import { networkByName } from '../db/networks.ts'
import { inTransaction } from '../db/postgres.ts'
import { ConfigError } from '../db/process/errors.ts'
import { SOLANA, type StreamKind } from '../db/streams.ts'
import type { ProgressBoard } from './progress.ts'

/** Events of one file: some 20 MB. */
const PART_EVENTS = 50_000
const MANIFEST = 'manifest.json'
const STATE = 'chain-state.jsonl'

const piece = z.strictObject({
  file: z.string().regex(/^[\w-]+\.(parquet|jsonl)$/),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** What a snapshot holds; manifest.json, written last. */
const manifestSchema = z.strictObject({
  format: z.literal('vaultlog-snapshot-1'),
  network: z.string(),
  stream: z.int(),
  /** Newest migration of the event store that it is of. */
  migration: z.string(),
  made: z.iso.datetime(),
  cursor: streamCursor,
  /** Files of events, in their order; positions from `from` to `to`, without a gap. */
  parts: z.array(piece.extend({ from: z.int(), to: z.int() })),
  /** What the processor keeps of its chain beside the events. */
  state: piece,
})
export type Manifest = z.infer<typeof manifestSchema>

interface Chain {
  id: number
  name: string
  kind: Exclude<StreamKind, 'registry'>
}

/** @throws ConfigError for what is no chain of ours */
export function chainByName(name: string): Chain {
  if (name === SOLANA.name) return { ...SOLANA, kind: 'svm' }
  const network = networkByName(name)
  return { id: network.chainId, name: network.name, kind: 'evm' }
}

interface SnapshotOptions {
  pool: pg.Pool
  folder: string
  progress: ProgressBoard
  signal?: AbortSignal
}

/**
 * Writes a chain's events, as they are at one moment, to Parquet files of `folder`, with a manifest of their hashes; the
 * folder is there when it is whole. Its processor may run meanwhile.
 */
export async function exportSnapshot(chain: Chain, options: SnapshotOptions): Promise<Manifest> {
  const { pool, folder, progress, signal } = options
  if (await stat(folder).catch(() => undefined))
    throw new ConfigError(`${folder} is there already. A snapshot goes into a new folder.`)
  const part = `${folder}.part`
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { recursive: true })
  try {
    const manifest = await inTransaction(pool, async tx => {
      await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
      const cursor = await readCursor(tx, chain.id, chain.name)
      const bar = progress.start(`${chain.name}: writing`, cursor.head, 'events')
      const parts: Manifest['parts'] = []
      for (let after = 0; after < cursor.head; after += PART_EVENTS) {
        stopWhere(signal)
        const rows = await readRows(tx, chain.id, after, Math.min(after + PART_EVENTS, cursor.head))
        const to = after + rows.length
        const file = `events-${String(parts.length + 1).padStart(6, '0')}.parquet`
        await writeFile(join(part, file), new Uint8Array(toParquet(rows)))
        parts.push({ ...(await describeFile(part, file)), from: after + 1, to })
        bar.update(to)
      }
      const state = await open(join(part, STATE), 'w')
      try {
        for await (const rows of readState(tx, chain.id))
          await state.write(rows.map(row => `${JSON.stringify(row)}\n`).join(''))
      } finally {
        await state.close()
      }
      bar.finish()
      return {
        format: 'vaultlog-snapshot-1' as const,
        network: chain.name,
        stream: chain.id,
        migration: await newestMigration(tx),
        made: new Date().toISOString(),
        cursor,
        parts,
        state: await describeFile(part, STATE),
      }
    })
    await writeFile(join(part, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    await rename(part, folder)
    return manifest
  } catch (error) {
    await rm(part, { recursive: true, force: true })
    throw error
  }
}

const COLUMNS: Omit<ColumnSource, 'data'>[] = [
  { name: 'position', type: 'INT64', nullable: false },
  { name: 'type', type: 'STRING', nullable: false },
  { name: 'protocol', type: 'STRING', nullable: false },
  { name: 'block_number', type: 'INT64', nullable: false },
  { name: 'block_hash', type: 'STRING', nullable: false },
  { name: 'block_time', type: 'INT64', nullable: false },
  { name: 'tx_hash', type: 'STRING' },
  { name: 'log_index', type: 'INT64' },
  { name: 'contract', type: 'STRING' },
  { name: 'data', type: 'STRING', nullable: false },
]

function toParquet(rows: readonly SnapshotEvent[]): ArrayBuffer {
  return parquetWriteBuffer({
    columnData: COLUMNS.map(column => ({
      ...column,
      data: rows.map(row => {
        const value = row[column.name as keyof SnapshotEvent]
        return typeof value === 'number' ? BigInt(value) : value
      }),
    })),
    createdBy: 'vaultlog',
  })
}

async function describeFile(folder: string, file: string) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(join(folder, file)), hash)
  return { file, bytes: (await stat(join(folder, file))).size, sha256: hash.digest('hex') }
}

/** Reads a snapshot's manifest. @throws SnapshotError */
export async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, MANIFEST)
  const text = await readFile(path, 'utf8').catch((error: Error) => {
    throw new ConfigError(`${folder} is no snapshot: ${error.message}`)
  })
  try {
    return manifestSchema.parse(JSON.parse(text))
  } catch (error) {
    throw new SnapshotError(`${path} is no manifest of a snapshot: ${(error as Error).message}`)
  }
}

/**
 * Takes a snapshot into an event store that has nothing of its chain, all of it or nothing. Every file's hash is compared
 * before anything is stored. Processor and workers go on from there by themselves.
 *
 * @throws SnapshotError, which names the file, for what is not as the manifest says
 */
export async function importSnapshot(manifest: Manifest, options: SnapshotOptions): Promise<void> {
  const { pool, folder, progress, signal } = options
  const chain = chainByName(manifest.network)
  if (chain.id !== manifest.stream)
    throw new SnapshotError(
      `The manifest says stream ${manifest.stream} of ${chain.name}, which is ${chain.id}.`,
    )
  const migration = await newestMigration(pool)
  if (manifest.migration !== migration)
    throw new SnapshotError(
      `The snapshot is of another version of Vaultlog: its event store is as of ${manifest.migration}, this one as of ${migration}. ` +
        'Import it with the version that made it, then migrate.',
    )
  await compareFiles(manifest, options)
  const { cursor, parts, state } = manifest
  const bar = progress.start(`${chain.name}: storing`, cursor.head, 'events')
  await inTransaction(pool, async tx => {
    await beginImport(tx, chain.id, chain.name, chain.kind)
    let head = 0
    const keys: PackKeys = new Map()
    for (const { file, from, to } of parts) {
      stopWhere(signal)
      if (from !== head + 1)
        throw new SnapshotError(`The manifest has a gap: after position ${head} comes ${file} with ${from}.`)
      head = await importRows(tx, chain.id, head, await readParquet(folder, file), file, keys)
      if (head !== to) throw new SnapshotError(`${file} ends at position ${head}; the manifest says ${to}.`)
      bar.update(head)
    }
    if (head !== cursor.head)
      throw new SnapshotError(`The files end at position ${head}; the manifest says ${cursor.head}.`)
    await storeState(tx, chain.id, folder, state.file)
    await endImport(tx, chain.id, cursor)
  })
  bar.finish()
}

async function compareFiles(
  { network, parts, state }: Manifest,
  { folder, progress, signal }: SnapshotOptions,
): Promise<void> {
  const bytes = [...parts, state].reduce((sum, one) => sum + one.bytes, 0)
  const bar = progress.start(`${network}: comparing hashes`, bytes, 'bytes')
  let done = 0
  for (const told of [...parts, state]) {
    stopWhere(signal)
    const found = await describeFile(folder, told.file).catch((error: Error) => {
      throw new SnapshotError(`${told.file} cannot be read: ${error.message}`)
    })
    if (found.sha256 !== told.sha256)
      throw new SnapshotError(
        `${told.file} is not what the manifest says: ${found.bytes} bytes with SHA-256 ${found.sha256}, instead of ${told.bytes} with ${told.sha256}. Nothing was stored.`,
      )
    done += found.bytes
    bar.update(done)
  }
  bar.finish()
}

async function readParquet(folder: string, name: string): Promise<unknown[]> {
  const bytes = await readFile(join(folder, name))
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  return parquetReadObjects({ file, columns: COLUMNS.map(column => column.name) }).catch((error: Error) => {
    throw new SnapshotError(`${name} cannot be read as Parquet: ${error.message}`)
  })
}

async function storeState(tx: pg.PoolClient, stream: number, folder: string, file: string): Promise<void> {
  let rows: StateRow[] = []
  const store = async () => {
    const [first] = rows
    if (first) await importState(tx, stream, first.table, rows)
    rows = []
  }
  for await (const line of createInterface({ input: createReadStream(join(folder, file)) })) {
    const row = parseState(line, file)
    if (rows.length >= 1_000 || (rows[0] && rows[0].table !== row.table)) await store()
    rows.push(row)
  }
  await store()
}

class SnapshotInterruptedError extends SnapshotError {
  constructor() {
    super('Interrupted: nothing is left of it.')
  }
}

function stopWhere(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new SnapshotInterruptedError()
}
