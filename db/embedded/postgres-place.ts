import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ConfigError } from '../process/errors.ts'
import { log } from '../process/log.ts'
import { binariesIn, makeWhole, type PostgresBinaries, type PostgresUser } from './postgres-binaries.ts'

/** Where a folder for root's servers can be: kept between starts of the machine, where that is possible. */
const STATE = ['/var/lib/vaultlog', '/var/tmp/vaultlog', join(tmpdir(), 'vaultlog')]

/** The folder that holds, or is to hold, `data`. The one of a running server is the same, whoever asks. */
export function homeOf(dir: string): string {
  const link = join(dir, 'data')
  return isLink(link) ? dirname(readlinkSync(link)) : dir
}

/**
 * The folder for the data: `dir`, or where the server's user cannot enter that (a checkout below root's home), one
 * beside the system's other state with a link to it. Its name is new each time: what an earlier link led to stays.
 */
export async function makeHome(dir: string, user: PostgresUser): Promise<string> {
  const home = homeOf(dir)
  if (user.uid === undefined || user.gid === undefined) return home
  if (existsSync(join(home, 'data', 'PG_VERSION'))) {
    if (await canEnter(join(home, 'data'), user)) return home
    throw new ConfigError(
      `The user \`postgres\` may not enter ${home}, where its data are. Open the folders above it for it (chmod o+x), or move ${dir} away to begin anew.`,
    )
  }
  if (existsSync(home) && (await canEnter(dirname(home), user))) {
    chownSync(home, user.uid, user.gid)
    return home
  }
  const state = await findState(user)
  const outside = mkdtempSync(join(state, 'postgres-'))
  chownSync(outside, user.uid, user.gid)
  rmSync(join(dir, 'data'), { force: true })
  symlinkSync(join(outside, 'data'), join(dir, 'data'))
  log.info({ data: outside }, `the data of Postgres are not in ${dir}, which its user may not enter`)
  return outside
}

/** The server's files where its user can run them: in their package, or a copy, for oneself in `dir`. */
export async function makeRunnable(
  binaries: PostgresBinaries,
  user: PostgresUser,
  dir: string,
): Promise<PostgresBinaries> {
  if (makeWhole(binaries) && (user.uid === undefined || (await canRun(binaries, user)))) return binaries
  const state = user.uid === undefined ? dir : await findState(user)
  const manifest = readFileSync(join(binaries.folder, '..', 'package.json'))
  const name = `server-${createHash('sha256').update(manifest).digest('hex').slice(0, 16)}`
  const copy = binariesIn(join(state, name))
  if (!existsSync(copy.folder)) {
    const fresh = mkdtempSync(join(state, 'copy-'))
    cpSync(binaries.folder, fresh, { recursive: true, verbatimSymlinks: true })
    await openForAll(fresh)
    makeWhole(binariesIn(fresh))
    try {
      renameSync(fresh, copy.folder)
    } catch (error) {
      rmSync(fresh, { recursive: true, force: true })
      // Another start was first.
      if (!existsSync(copy.folder)) throw error
    }
  }
  if (await canRun(copy, user)) return copy
  throw new ConfigError(
    user.uid === undefined
      ? `The server can be run neither in ${binaries.folder} nor in ${copy.folder}: does its file system allow that? Set VAULTLOG_DIR to a folder elsewhere, or set DATABASE_URL.`
      : `The user \`postgres\` can run the server neither in ${binaries.folder} nor in ${copy.folder}. Run as another user than root, or set DATABASE_URL.`,
  )
}

/** The first of the places that is root's alone to write and that the user may enter. */
async function findState(user: PostgresUser): Promise<string> {
  for (const folder of STATE) {
    try {
      mkdirSync(folder, { mode: 0o755, recursive: true })
      const { uid, mode } = lstatSync(folder)
      // Of a folder that others prepared, they choose what is run there.
      const isOurs = uid === 0 && (mode & 0o22) === 0 && !isLink(folder)
      if (isOurs && (await canEnter(folder, user))) return realpathSync(folder)
    } catch {
      // A file system that is read-only: the next one.
    }
  }
  throw new ConfigError(
    `The user \`postgres\` cannot enter this checkout, and there is no place for it in ${STATE.join(', ')}. Move the checkout out of root's home, or set DATABASE_URL.`,
  )
}

/** Packages installed under a narrow umask are readable by their owner alone. */
async function openForAll(folder: string): Promise<void> {
  chmodSync(folder, 0o755)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isDirectory()) chmodSync(path, 0o755)
    else if (entry.isFile()) chmodSync(path, lstatSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false
const canEnter = (folder: string, user: PostgresUser) => succeeds(['sh', '-c', 'cd "$0"', folder], user)

/** As initdb does: it asks for the right to read what it runs, too. */
const canRun = ({ initdb, postgres }: PostgresBinaries, user: PostgresUser) =>
  succeeds(['sh', '-c', 'test -r "$0" && test -x "$0" && "$1" --version', initdb, postgres], user)

function succeeds(command: readonly string[], user: PostgresUser): Promise<boolean> {
  return new Promise(resolve => {
    const [file = '', ...args] = command
    const child = spawn(file, args, { ...user, stdio: 'ignore', cwd: '/' })
    child.once('error', () => resolve(false))
    child.once('exit', code => resolve(code === 0))
  })
}
