import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { log } from '../process/log.ts'
import { Engine } from './clickhouse-engine.ts'
import { ClickHouseHttp } from './clickhouse-http.ts'
import { DirectoryLock } from './directory-lock.ts'

/**
 * The process that owns a chDB data directory. Started by clickhouse.ts, which sends its options (there are passwords
 * among them) over the IPC channel; says
 * `{ready: true}` or `{failed: code, message}` over its IPC channel. It ends when the channel closes, that is also
 * when its parent was killed, unless it was started detached.
 */
export const serverOptions = z.object({
  dir: z.string(),
  port: z.number().int(),
  identity: z.string(),
  memoryBytes: z.number().int(),
  configFile: z.string().optional(),
  isDetached: z.boolean(),
  password: z.string(),
  readOnly: z.object({ user: z.string(), password: z.string() }),
  limits: z.object({
    maxExecutionSeconds: z.number(),
    maxResultRows: z.number(),
    maxMemoryBytes: z.number(),
  }),
  allowance: z.object({
    atOnce: z.number().int(),
    queriesPerHour: z.number().int(),
    secondsPerHour: z.number(),
  }),
})
export type ServerOptions = z.infer<typeof serverOptions>
export type ServerMessage = { ready: true } | { failed: string; message: string }

async function main(): Promise<void> {
  const options = serverOptions.parse(await new Promise(resolve => process.once('message', resolve)))
  const tell = (message: ServerMessage) => process.send?.(message)
  process.on('SIGINT', () => {})
  mkdirSync(options.dir, { recursive: true })
  const lock = new DirectoryLock(join(options.dir, 'server.lock'))
  const owner = lock.acquire({ port: options.port })
  if (owner) {
    tell({
      failed: 'DIRECTORY_IN_USE',
      message: `${options.dir} belongs to process ${owner.pid}, which listens on port ${owner.port}`,
    })
    process.exit(1)
  }
  // The engine takes these characters of a file name for a pattern.
  const spoolDir = /[*?{}]/.test(options.dir)
    ? join(tmpdir(), `vaultlog-spool-${options.identity}`)
    : join(options.dir, 'spool')
  rmSync(spoolDir, { recursive: true, force: true })
  mkdirSync(spoolDir, { recursive: true })

  let engine: Engine | undefined
  const server = new ClickHouseHttp({
    engine: () => engine,
    spoolDir,
    identity: options.identity,
    password: options.password,
    readOnly: options.readOnly,
    limits: options.limits,
    allowance: options.allowance,
  })
  // The port first: who does not get it must not open the data.
  await new Promise<void>((resolve, reject) => {
    server.http.once('error', reject)
    server.http.listen(options.port, '127.0.0.1', resolve)
  }).catch((error: NodeJS.ErrnoException) => {
    lock.release()
    tell({ failed: error.code ?? 'LISTEN', message: error.message })
    process.exit(1)
  })
  const { memoryBytes, configFile } = options
  engine = new Engine({ dir: join(options.dir, 'data'), memoryBytes, configFile, concurrency: 24 })
  await server.prepare(engine)

  let isStopping = false
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    await server.close()
    engine?.close()
    lock.release()
    // Not process.exit: the engine's static destructors crash now and then while its threads are still there, and
    // the data need none of them.
    process.kill(process.pid, 'SIGKILL')
  }
  process.on('SIGTERM', () => void stop())
  if (!options.isDetached) process.on('disconnect', () => void stop())
  tell({ ready: true })
  if (options.isDetached) process.disconnect?.()
  log.info({ port: options.port, dir: options.dir }, 'embedded ClickHouse is ready')
}

main().catch((error: unknown) => {
  log.fatal({ err: error }, 'embedded ClickHouse could not start')
  const message: ServerMessage = {
    failed: 'START',
    message: error instanceof Error ? error.message : String(error),
  }
  if (process.send) process.send(message, () => process.exit(1))
  else process.exit(1)
})
