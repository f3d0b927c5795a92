import { readdir } from 'node:fs/promises'
import { ConfigError } from '../../db/process/errors.ts'
import type { CataloguePart } from './part.ts'

/** Every module of catalogue/parts, those first that others stand on. A part is found by being there. */
async function loadParts(): Promise<CataloguePart[]> {
  const folder = new URL('./parts/', import.meta.url)
  const files = (await readdir(folder))
    .filter(file => /\.[jt]s$/.test(file) && !file.endsWith('.d.ts'))
    .sort()
  const parts = await Promise.all(
    files.map(async file => {
      const module = (await import(new URL(file, folder).href)) as { default?: CataloguePart }
      if (!module.default)
        throw new ConfigError(
          `read-api/catalogue/parts/${file} has no part as its default export: export default definePart({…}).`,
        )
      return module.default
    }),
  )
  return parts.sort((a, b) => a.rank - b.rank)
}

export const catalogueParts = await loadParts()

/** Tables of read models that the catalogue is made of. */
export const PART_TABLES: ReadonlySet<string> = new Set(catalogueParts.flatMap(({ tables }) => tables))
