import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './command.ts'

/** The last migrations it has. */
const LAST = { 'db/clickhouse/migrations': '0005', 'db/migrations': '0005' }

export interface OlderBuild {
  folder: string
  /** Tables of the projections of chains that it has. */
  projections: string[]
  remove(): Promise<void>
}

/** This build before its later migrations were written, and the projections whose tables they make. */
export async function makeOlderBuild(): Promise<OlderBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-older-'))
  for (const part of ['abi', 'db', 'jobs', 'processors', 'read-api', 'package.json', 'tsconfig.json'])
    await cp(join(root, part), join(folder, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))

  let made = ''
  for (const [migrations, last] of Object.entries(LAST)) {
    for (const file of await readdir(join(folder, migrations))) {
      const path = join(folder, migrations, file)
      if (file.slice(0, last.length) > last) await rm(path)
      else made += await readFile(path, 'utf8')
    }
  }
  const projections: string[] = []
  for (const file of await readdir(join(folder, 'jobs/projections'))) {
    const path = join(folder, 'jobs/projections', file)
    const table = file.replace(/\.ts$/, '').replaceAll('-', '_')
    if (!made.includes(`CREATE TABLE IF NOT EXISTS ${table} (`)) await rm(path)
    else if (!(await readFile(path, 'utf8')).includes("streams: 'registry'")) projections.push(table)
  }
  return { folder, projections, remove: () => rm(folder, { recursive: true, force: true }) }
}
