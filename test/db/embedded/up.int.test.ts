import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { isAlive, startOf } from '../../../db/embedded/directory-lock.ts'
import { assertRoom } from '../../../db/embedded/folder.ts'
import { startEmbedded } from '../../../db/embedded/up.ts'
import type { Env } from '../../../db/process/env.ts'
import { PortInUseError } from '../../../db/process/errors.ts'
import { canMount, mountSmallDisk } from '../../faults/small-disk.ts'
import { signed } from './clickhouse-place.ts'
import { ownPlace } from './places.ts'

const isGone = (pid: number) => !isAlive(pid) || startOf(pid) === 'zombie'
const places: { remove(): void }[] = []
const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const place of places.splice(0)) place.remove()
})

async function place(overrides: Record<string, string> = {}): Promise<Env> {
  const made = await ownPlace(overrides)
  places.push(made)
  return made.env
}

/** A main of its own that starts everything and says the ids of what it started. */
async function main(env: Env): Promise<{ child: ChildProcess; pids: number[] }> {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), fileURLToPath(new URL('./main.fixture.ts', import.meta.url))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        LOG_LEVEL: 'silent',
        VAULTLOG_DIR: env.VAULTLOG_DIR,
        EMBEDDED_POSTGRES_PORT: String(env.EMBEDDED_POSTGRES_PORT),
        EMBEDDED_CLICKHOUSE_PORT: String(env.EMBEDDED_CLICKHOUSE_PORT),
      },
    },
  )
  children.push(child)
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString()))
    child.once('exit', code => reject(new Error(`the main ended with ${code}`)))
  })
  return { child, pids: JSON.parse(line) }
}

describe('everything embedded', () => {
  it('starts, shares itself, stops, and leaves no process', async () => {
    const env = await place()
    const up = await startEmbedded(env)
    const pids = up.pids()
    expect(pids).toHaveLength(2)
    expect(up).toMatchObject({
      databaseUrl: expect.stringMatching(
        new RegExp(`^postgres://vaultlog:[\\w-]{32}@127\\.0\\.0\\.1:${env.EMBEDDED_POSTGRES_PORT}/vaultlog$`),
      ),
      clickhouseUrl: expect.stringMatching(
        new RegExp(`^http://default:[\\w-]{32}@127\\.0\\.0\\.1:${env.EMBEDDED_CLICKHOUSE_PORT}$`),
      ),
    })
    expect(up.redisUrl).toBeUndefined()
    const guest = await startEmbedded(env)
    expect(guest.pids()).toEqual([])
    expect(guest.clickhouseUrl).toBe(up.clickhouseUrl)
    await guest.stop()
    expect(pids.some(isGone)).toBe(false)
    await Promise.all([up.stop(), up.stop()])
    expect(pids.every(isGone)).toBe(true)
  })

  it('starts nothing that a URL is given for', async () => {
    const given = { DATABASE_URL: 'postgres://h/db', CLICKHOUSE_URL: 'http://h:1', REDIS_URL: 'redis://h:2' }
    const up = await startEmbedded(await place(given))
    expect(up.pids()).toEqual([])
    expect(up).toMatchObject({
      databaseUrl: 'postgres://h/db',
      clickhouseUrl: 'http://h:1',
      redisUrl: 'redis://h:2',
    })
    await up.stop()
  })

  it('takes down what it has started when another part cannot start', async () => {
    const env = await place()
    const squatter = createServer().listen(env.EMBEDDED_CLICKHOUSE_PORT, '127.0.0.1')
    try {
      await expect(startEmbedded(env)).rejects.toThrow(PortInUseError)
    } finally {
      squatter.close()
    }
    const up = await startEmbedded(env)
    expect(up.pids()).toHaveLength(2)
    await up.stop()
  })

  it.skipIf(!canMount)('says what to do where the disk is too full, and writes nothing there', async () => {
    const env = await place()
    const small = join(env.VAULTLOG_DIR, 'small')
    const disk = mountSmallDisk(small, 200)
    try {
      await expect(startEmbedded({ ...env, VAULTLOG_DIR: small })).rejects.toThrow(
        /^(199|200) MiB are free in \S+small\S*, where .* they need 512 to begin\. .* VAULTLOG_DIR/,
      )
      expect(existsSync(join(small, 'postgres/data'))).toBe(false)
      assertRoom(small, false)
      disk.fill(10 * 2 ** 20)
      expect(() => assertRoom(small, false)).toThrow(/^10 MiB are free .* they need 64 to go on\./)
    } finally {
      disk.unmount()
    }
  })

  it('dies with its main when that is killed, and starts again without repair', async () => {
    const env = await place()
    for (let round = 0; round < 2; round++) {
      const { child, pids } = await main(env)
      expect(pids).toHaveLength(2)
      child.kill('SIGKILL')
      await expect.poll(() => pids.every(isGone)).toBe(true)
    }
    const { child, pids } = await main(env)
    for (const pid of [...pids, child.pid ?? 0]) process.kill(pid, 'SIGKILL')
    await expect.poll(() => pids.every(isGone)).toBe(true)
    const up = await startEmbedded(env)
    expect(up.pids()).toHaveLength(2)
    await up.stop()
  })

  it('stops cleanly on SIGINT and exits 0', async () => {
    const { child, pids } = await main(await place())
    const exited = new Promise(resolve => child.once('exit', (code, signal) => resolve(signal ?? code)))
    child.kill('SIGINT')
    expect(await exited).toBe(0)
    expect(pids.every(isGone)).toBe(true)
  })

  it('outlives its main when started detached', async () => {
    const env = await place()
    const up = await startEmbedded(env, { isDetached: true })
    const guest = await startEmbedded(env)
    expect(guest.pids()).toEqual([])
    const { origin, headers } = signed(guest.clickhouseUrl)
    expect(await (await fetch(`${origin}/?query=SELECT+1`, { headers })).text()).toBe('1\n')
    const pids = up.pids()
    await up.stop()
    expect(pids.every(isGone)).toBe(true)
  })
})
