import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { newFolder } from './db/embedded/places.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const BUILT = 'VAULTLOG_TEST_BUILT'

export interface Built {
  remove(): Promise<void>
}

/**
 * What `npm run build` makes, in a folder of the test run; processes that tests start are those from here on, which takes half of the
 * time that sources take. Types are checked by `npm run check`.
 */
export async function build(): Promise<Built> {
  const folder = newFolder('vaultlog-test-built-')
  const node = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: root })
  const dist = join(folder, 'dist')
  await node('deploy/build.mjs', dist)
  const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
  await node(join(dirname(typescript), 'bin/tsc'), '-p', 'tsconfig.build.json', '--noCheck', '--outDir', dist)
  await copyFile(join(root, 'package.json'), join(folder, 'package.json'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  process.env[BUILT] = dist
  return { remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Node's arguments for a script of ours and its own: what has been built where there is such a run, sources by tsx elsewhere. */
export function argumentsOf(args: readonly string[]): string[] {
  const dist = process.env[BUILT]
  const asBuilt = args.map(arg => (dist ? join(dist, arg.replace(/\.ts$/, '.js')) : arg))
  const script = args.findIndex((arg, i) => arg.endsWith('.ts') && existsSync(asBuilt[i] ?? ''))
  if (!dist || script < 0) return ['--import', 'tsx', ...args]
  return args.map((arg, i) => (i === script ? (asBuilt[i] ?? arg) : arg))
}
