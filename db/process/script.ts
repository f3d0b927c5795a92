import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const isBuilt = import.meta.url.endsWith('.js')

/** Node's arguments before a script of ours: sources run by tsx, what tsc has built by itself. */
export const LOADER: readonly string[] = isBuilt
  ? []
  : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]

/** The URL of a module of this tree: `jobs/main`. */
export const moduleUrl = (module: string) =>
  new URL(`../../${module}.${isBuilt ? 'js' : 'ts'}`, import.meta.url).href

/** Where it lies, whatever folder this process was started in. */
export const scriptOf = (module: string) => fileURLToPath(moduleUrl(module))
