import { join } from 'node:path'
import { ConfigError } from '../../db/process/errors.ts'
import { findModules } from '../../db/process/modules.ts'
import type { Endpoint } from './endpoint.ts'
import { tiersOf } from './endpoint.ts'

export interface LoadedEndpoint {
  endpoint: Endpoint
  /** Its module, below read-api/endpoints. */
  file: string
}

/** All endpoints: the modules below read-api/endpoints. Literal paths come before those with a parameter there. */
export async function loadEndpoints(): Promise<LoadedEndpoint[]> {
  const found = await findModules(join(import.meta.dirname, '../endpoints'), 'tree')
  const loaded = found.map(({ name, value }) => {
    const file = `${name}.ts`
    const endpoint = value as Endpoint | undefined
    checkEndpoint(endpoint, file)
    return { endpoint, file }
  })
  refuseDuplicates(loaded)
  return loaded.sort((a, b) => comparePaths(a.endpoint.path, b.endpoint.path))
}

function checkEndpoint(endpoint: Endpoint | undefined, file: string): asserts endpoint is Endpoint {
  const refuse = (why: string): never => {
    throw new ConfigError(`read-api/endpoints/${file} ${why}`)
  }
  if (!endpoint?.handler) return refuse('has no endpoint as its default export.')
  if (!endpoint.path.startsWith('/')) refuse(`has the path ${endpoint.path}; a path starts with a slash.`)
  if (!tiersOf(endpoint).includes(file.split('/')[0] as never))
    refuse('lies in the folder of a tier that it does not serve.')
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(match => match[1] as string)
  const declared = Object.keys(endpoint.params?.shape ?? {})
  if (inPath.slice().sort().join() !== declared.sort().join()) {
    refuse(`names {${inPath.join()}} in its path and {${declared.join()}} in its params.`)
  }
  for (const name of inPath)
    if (!endpoint.example.params?.[name]) refuse(`has no example for the parameter ${name}.`)
}

function refuseDuplicates(loaded: readonly LoadedEndpoint[]): void {
  const seen = new Map<string, string>()
  for (const { endpoint, file } of loaded) {
    for (const tier of tiersOf(endpoint)) {
      const route = `${endpoint.method} /${tier}${endpoint.path.replaceAll(/\{\w+\}/g, '{}')}`
      const other = seen.get(route)
      if (other)
        throw new ConfigError(
          `read-api/endpoints/${file} and read-api/endpoints/${other} both serve ${route}.`,
        )
      seen.set(route, file)
    }
  }
}

function comparePaths(a: string, b: string): number {
  const left = a.split('/')
  const right = b.split('/')
  for (const [i, segment] of left.entries()) {
    const other = right[i]
    if (other === undefined) return 1
    const isParameter = Number(segment.startsWith('{')) - Number(other.startsWith('{'))
    if (isParameter !== 0) return isParameter
    if (!segment.startsWith('{') && segment !== other) return segment < other ? -1 : 1
  }
  return left.length < right.length ? -1 : a < b ? -1 : a > b ? 1 : 0
}
