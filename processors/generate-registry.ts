import { existsSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const PROTOCOLS = join(import.meta.dirname, 'protocols')

/** Files of db/registry that follow from published packages, by name, as each protocol's registry.ts makes them. */
export async function generated(): Promise<Map<string, () => unknown>> {
  const modules = (await readdir(PROTOCOLS))
    .map(name => join(PROTOCOLS, name, 'registry.ts'))
    .filter(file => existsSync(file))
  const made = await Promise.all(
    modules.sort().map(async file => (await import(pathToFileURL(file).href)) as { default: Made }),
  )
  return new Map(made.flatMap(({ default: files }) => Object.entries(files)))
}
type Made = Record<string, () => unknown>

/** Writes them. `npm run registry` after a package was updated. */
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, make] of await generated()) {
    const path = join(import.meta.dirname, '../db/registry', `${file}.json`)
    writeFileSync(path, `${JSON.stringify(make(), null, 1)}\n`)
  }
}
