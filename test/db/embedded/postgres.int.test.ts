import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type EmbeddedPostgres, startPostgres } from '../../../db/embedded/postgres.ts'
import { binariesIn, findBinaries, findUser } from '../../../db/embedded/postgres-binaries.ts'
import { makeRunnable } from '../../../db/embedded/postgres-place.ts'
import type { Env } from '../../../db/process/env.ts'
import { PortInUseError } from '../../../db/process/errors.ts'
import { canMount, mountSmallDisk } from '../../faults/small-disk.ts'
import { ownPlace } from './places.ts'

let place: { env: Env; remove(): void }
let server: EmbeddedPostgres

beforeAll(async () => {
  place = await ownPlace()
  server = await startPostgres(place.env)
})
afterAll(async () => {
  await server?.stop()
  place?.remove()
})

async function ask<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

describe('embedded Postgres', () => {
  it('is a real server: UTF-8, C order, flushed', async () => {
    const [row] = await ask(
      server.url,
      `SELECT current_database() AS name, pg_encoding_to_char(encoding) AS encoding, datcollate AS collation,
              current_setting('fsync') AS fsync, current_setting('full_page_writes') AS pages,
              current_setting('synchronous_commit') AS commit, current_setting('listen_addresses') AS addresses,
              current_setting('server_version_num')::int / 10000 AS version
       FROM pg_database WHERE datname = current_database()`,
    )
    expect(row).toEqual({
      name: 'vaultlog',
      encoding: 'UTF8',
      collation: 'C',
      fsync: 'on',
      pages: 'on',
      commit: 'on',
      addresses: '127.0.0.1',
      version: 18,
    })
  })

  it('is owned by one who is no superuser, with a password that others cannot read', async () => {
    expect(await ask(server.url, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([
      { rolsuper: false },
    ])
    await expect(ask(server.url, "COPY (SELECT 1) TO PROGRAM 'true'")).rejects.toThrow(/permission denied/)
    await expect(ask(server.url, "SELECT pg_read_file('/etc/hostname')")).rejects.toThrow(/permission denied/)
    const known = server.url.replace(/:[^:@]+@/, ':vaultlog@')
    await expect(ask(known, 'SELECT 1')).rejects.toThrow(/password authentication failed/)
    expect(statSync(join(place.env.VAULTLOG_DIR, 'passwords.json')).mode & 0o777).toBe(0o600)
    const reader = server.graphqlUrl
    await expect(ask(reader, 'CREATE TABLE mine (a int)')).rejects.toThrow(/permission denied|read-only/)
    expect(
      await ask(
        reader,
        "SELECT current_setting('statement_timeout') AS t, current_setting('temp_file_limit') AS f",
      ),
    ).toEqual([{ t: '10s', f: '256MB' }])
  })

  it('is shared by a second start', async () => {
    const second = await startPostgres({ ...place.env, EMBEDDED_POSTGRES_PORT: 1 })
    expect(second).toMatchObject({ url: server.url, isOwned: false })
    await second.stop()
    expect(await ask(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('starts once where two processes start it at once on a new directory', async () => {
    const fresh = await ownPlace()
    const program = `
      import { startPostgres } from './db/embedded/postgres.ts'
      const { isOwned, url } = await startPostgres(${JSON.stringify(fresh.env)})
      console.log(JSON.stringify({ isOwned, url }))
      process.stdin.resume().on('end', () => process.exit())`
    const starts = [1, 2].map(() => {
      const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program])
      let complaint = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
      const ended = new Promise(resolve => child.once('close', resolve))
      const said = new Promise<string>(resolve => child.stdout.setEncoding('utf8').once('data', resolve))
      return { child, ended, said: Promise.race([said, ended.then(() => complaint)]) }
    })
    const answers = await Promise.all(starts.map(({ said }) => said))
    try {
      expect(answers).toEqual([expect.stringMatching(/^\{.*\}$/m), expect.stringMatching(/^\{.*\}$/m)])
      const found = answers.map(text => JSON.parse(text) as { isOwned: boolean; url: string })
      expect(found.map(({ isOwned }) => isOwned).sort()).toEqual([false, true])
      expect(found[0]?.url).toBe(found[1]?.url)
    } finally {
      for (const { child } of starts) child.stdin.end()
      await Promise.all(starts.map(({ ended }) => ended))
      await expect
        .poll(() => existsSync(join(fresh.env.VAULTLOG_DIR, 'postgres/data/postmaster.pid')))
        .toBe(false)
      fresh.remove()
    }
  })

  it('keeps what was committed when its postmaster is killed, and comes back', async () => {
    await ask(server.url, 'CREATE TABLE kept (a int)')
    for (let round = 1; round <= 3; round++) {
      await ask(server.url, `INSERT INTO kept SELECT ${round} FROM generate_series(1, 1000)`)
      const pid = server.pid() ?? 0
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => [undefined, pid].includes(server.pid())).toBe(false)
      expect(await ask(server.url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1000 * round }])
    }
  })

  it('says which setting to change when its port is taken', async () => {
    const other = await ownPlace()
    const env = { ...other.env, EMBEDDED_POSTGRES_PORT: place.env.EMBEDDED_POSTGRES_PORT }
    await expect(startPostgres(env)).rejects.toThrow(PortInUseError)
    await expect(startPostgres(env)).rejects.toThrow(/EMBEDDED_POSTGRES_PORT/)
    other.remove()
  })

  it('starts on existing data, over a stale pid file, and stops twice', async () => {
    const own = await ownPlace()
    const first = await startPostgres(own.env)
    await ask(first.url, 'CREATE TABLE t AS SELECT 7 AS a')
    await first.stop()
    await first.stop()
    await expect(ask(first.url, 'SELECT 1')).rejects.toThrow()
    // As a killed server leaves it, but with the id of a process that is alive and no Postgres: this one.
    const stale = [
      process.pid,
      join(own.env.VAULTLOG_DIR, 'postgres', 'data'),
      0,
      own.env.EMBEDDED_POSTGRES_PORT,
      '',
      '127.0.0.1',
      '',
    ]
    writeFileSync(join(own.env.VAULTLOG_DIR, 'postgres', 'data', 'postmaster.pid'), stale.join('\n'))
    // And a start that was killed while it made the cluster.
    writeFileSync(join(own.env.VAULTLOG_DIR, 'postgres', 'data.new'), '')
    const second = await startPostgres(own.env)
    expect(await ask(second.url, 'SELECT a FROM t')).toEqual([{ a: 7 }])
    await second.stop()
    own.remove()
  })

  it.skipIf(process.getuid?.() !== 0)(
    'runs as root where only root may enter, server and data, and finds its data again',
    async () => {
      const own = await ownPlace()
      // As a checkout below root's home: the package of the server is in a closed folder, too.
      chmodSync(own.env.VAULTLOG_DIR, 0o700)
      const checkout = join(own.env.VAULTLOG_DIR, 'checkout')
      cpSync(findBinaries().folder, join(checkout, 'native'), { recursive: true, verbatimSymlinks: true })
      cpSync(join(findBinaries().folder, '../package.json'), join(checkout, 'package.json'))
      const user = await findUser()
      const runnable = await makeRunnable(binariesIn(join(checkout, 'native')), user, own.env.VAULTLOG_DIR)
      expect(runnable.folder.startsWith(checkout)).toBe(false)
      expect(readdirSync(runnable.folder).sort()).toEqual(['bin', 'lib', 'pg-symlinks.json', 'share'])
      const link = join(own.env.VAULTLOG_DIR, 'postgres/data')
      try {
        const first = await startPostgres(own.env)
        await ask(first.url, 'CREATE TABLE t AS SELECT 7 AS a')
        const guest = await startPostgres(own.env)
        expect(guest).toMatchObject({ url: first.url, isOwned: false })
        await first.stop()
        expect(statSync(link).uid).toBe(user.uid)
        const second = await startPostgres(own.env)
        expect(await ask(second.url, 'SELECT a FROM t')).toEqual([{ a: 7 }])
        await second.stop()
      } finally {
        const data = readlinkSync(link)
        expect(data.startsWith(own.env.VAULTLOG_DIR)).toBe(false)
        rmSync(join(data, '..'), { recursive: true })
        own.remove()
      }
    },
  )

  it('says in a line what to set where it cannot write', async () => {
    const own = await ownPlace()
    writeFileSync(join(own.env.VAULTLOG_DIR, 'file'), '')
    const env = { ...own.env, VAULTLOG_DIR: join(own.env.VAULTLOG_DIR, 'file') }
    await expect(startPostgres(env)).rejects.toThrow(/Cannot write in .*file .*Set VAULTLOG_DIR/)
    own.remove()
  })

  it.skipIf(!canMount)(
    'runs from a checkout that may only be read, with a copy of the server whose links are there',
    async () => {
      const own = await ownPlace()
      const checkout = join(own.env.VAULTLOG_DIR, 'checkout')
      const disk = mountSmallDisk(checkout, 256)
      try {
        const native = join(checkout, 'native')
        const isNoLink = (file: string) => !lstatSync(file).isSymbolicLink()
        cpSync(findBinaries().folder, native, { recursive: true, filter: isNoLink })
        cpSync(join(findBinaries().folder, '../package.json'), join(checkout, 'package.json'))
        execFileSync('mount', ['-o', 'remount,ro', checkout])
        const dir = join(own.env.VAULTLOG_DIR, 'postgres')
        mkdirSync(dir)
        const runnable = await makeRunnable(binariesIn(native), {}, dir)
        expect(runnable.folder.startsWith(dir)).toBe(true)
        const links: { target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
        expect(links.length).toBeGreaterThan(5)
        for (const { target } of links)
          expect(existsSync(join(runnable.folder, relative('native', target))), target).toBe(true)
        expect(await makeRunnable(binariesIn(native), {}, dir)).toEqual(runnable)
      } finally {
        disk.unmount()
        own.remove()
      }
    },
  )

  it('restores the links of the package when its install script did not run', () => {
    const { postgres } = findBinaries()
    const lib = join(postgres, '..', '..', 'lib')
    const manifest: { source: string; target: string }[] = JSON.parse(
      readFileSync(join(lib, '..', 'pg-symlinks.json'), 'utf8'),
    )
    // A link that the server does not load, so that others on this machine are not disturbed.
    const name = manifest
      .map(link => link.target.slice('native/lib/'.length))
      .find(target => target === 'libecpg_compat.so')
    expect(name).toBeDefined()
    rmSync(join(lib, name ?? ''))
    findBinaries()
    expect(readdirSync(lib)).toContain(name)
    expect(() => symlinkSync('x', join(lib, name ?? ''))).toThrow('EEXIST')
  })
})
