import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface FoundModule {
  /** Below the folder, without the extension: `aave-v3`, `v2/vaults`. */
  name: string
  /** Where it lies, for messages. */
  file: string
  /** Its default export; undefined where there is none. */
  value: unknown
}

/** A module, not its type declarations. */
const MODULE = /(?<!\.d)\.[jt]s$/

/**
 * What is found by being there: the default exports of a folder's modules, in order of name.
 * `files` are those in it, `tree` those below it at any depth, `folders` the index of each folder in it.
 */
export async function findModules(
  folder: string,
  which: 'files' | 'tree' | 'folders',
): Promise<FoundModule[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: which === 'tree' })
  const paths =
    which === 'folders'
      ? entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
      : entries
          .filter(entry => entry.isFile() && MODULE.test(entry.name))
          .map(entry => relative(folder, join(entry.parentPath, entry.name)))
  return Promise.all(
    paths.sort().map(async path => {
      const file = which === 'folders' ? await indexOf(join(folder, path)) : join(folder, path)
      const module = file && ((await import(pathToFileURL(file).href)) as { default?: unknown })
      return {
        name: path.replace(MODULE, ''),
        file: file ?? join(folder, path, 'index.ts'),
        value: module ? module.default : undefined,
      }
    }),
  )
}

async function indexOf(folder: string): Promise<string | undefined> {
  const index = (await readdir(folder)).find(file => /^index\.[jt]s$/.test(file))
  return index && join(folder, index)
}
