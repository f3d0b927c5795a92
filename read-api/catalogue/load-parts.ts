import { join } from 'node:path'
import { ConfigError } from '../../db/process/errors.ts'
import { findModules } from '../../db/process/modules.ts'
import type { CataloguePart } from './part.ts'

/** Every module of catalogue/parts, those first that others stand on. A part is found by being there. */
export const catalogueParts = (await findModules(join(import.meta.dirname, 'parts'), 'files'))
  .map(({ file, value }) => {
    if (!value)
      throw new ConfigError(`${file} has no part as its default export: export default definePart({…}).`)
    return value as CataloguePart
  })
  .sort((a, b) => a.rank - b.rank)

/** Tables of read models that the catalogue is made of. */
export const PART_TABLES: ReadonlySet<string> = new Set(catalogueParts.flatMap(({ tables }) => tables))
