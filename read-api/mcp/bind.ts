import { ConfigError } from '../../db/process/errors.ts'
import { openApiDocument } from '../http/documentation.ts'
import type { Endpoint, Tier } from '../http/endpoint.ts'
import { tiersOf } from '../http/endpoint.ts'
import type { LoadedEndpoint } from '../http/load-endpoints.ts'
import { choicesOf, type Tool } from './tool.ts'

/** An endpoint as a tool asks it. */
export interface Route {
  endpoint: Endpoint
  /** With its tier, parameters in braces. */
  path: string
}

type Schema = Record<string, unknown>

/** A tool with the endpoints that it names, and what an agent is told of it. */
export interface BoundTool {
  tool: Tool
  routes: ReadonlyMap<string, Route>
  inputSchema: Schema & { type: 'object' }
}

/** Items that a page has where the caller does not say, and at most: an agent reads every one of them. */
export const PAGE = { usual: 10, most: 100 } as const

/**
 * Said once for all tools, shorter than the documents have it: an enumeration of all networks in each of them would be more than all the rest.
 * What is accepted and what a mistake is told stays with the endpoints.
 */
const IN_SHORT: Readonly<Record<string, string>> = {
  network: 'Name or CAIP-2, e.g. mainnet, base.',
  srcNetwork: 'From.',
  dstNetwork: 'To.',
  userAddress: 'The wallet.',
  vaultId: 'The vault, mostly its address.',
  vaultAddress: 'The vault, base58.',
  allowedNetworks: 'Names or CAIP-2.',
  allowedAssets: 'Symbols or addresses.',
  allowedProtocols: 'See list_names.',
  allowUnlisted: 'Also what nobody vouches for.',
  allowVaultsWithWarnings: '',
  attribution: 'none leaves out the public code of the API key.',
  simulate: 'With what it was seen to do when it was run.',
  fromTimestamp: 'Unix seconds.',
  toTimestamp: 'Unix seconds.',
  page: 'Zero-based.',
  amount: 'Base units, as a string.',
  amount0: 'Base units, as a string.',
  amount1: 'Base units, as a string.',
}

/**
 * Tools bound to endpoints.
 *
 * @throws ConfigError where one names an endpoint that there is not
 */
export function bindTools(tools: readonly Tool[], endpoints: readonly LoadedEndpoint[]): BoundTool[] {
  const routes = new Map(
    endpoints.flatMap(({ endpoint }) =>
      tiersOf(endpoint).map((tier): [string, Route] => {
        const path = `/${tier}${endpoint.path}`
        return [`${endpoint.method.toUpperCase()} ${path}`, { endpoint, path }]
      }),
    ),
  )
  const documents = new Map<Tier, Schema>()
  const documentOf = (tier: Tier) => {
    const known = documents.get(tier) ?? (openApiDocument(endpoints, tier) as unknown as Schema)
    documents.set(tier, known)
    return known
  }
  return tools.map(tool => {
    const named = Object.entries(choicesOf(tool)).map(([choice, operation]): [string, Route] => {
      const route = routes.get(operation)
      if (!route) throw new ConfigError(`The tool ${tool.name} asks ${operation}, which is not served.`)
      return [choice, route]
    })
    return { tool, routes: new Map(named), inputSchema: inputSchemaOf(tool, named, documentOf) }
  })
}

/** JSON Schema of a tool's arguments: the parameters of all its endpoints, from their documents. */
function inputSchemaOf(
  tool: Tool,
  routes: readonly [choice: string, route: Route][],
  documentOf: (tier: Tier) => Schema,
): BoundTool['inputSchema'] {
  const taken = routes.map(([choice, route]) => ({
    choice,
    route,
    parameters: parametersOf(route, documentOf).filter(({ name }) => !tool.without?.includes(name)),
  }))
  const names = [...new Set(taken.flatMap(({ parameters }) => parameters.map(({ name }) => name)))]
  const isAlwaysRequired = (name: string) =>
    taken.every(({ parameters }) => parameters.some(one => one.name === name && one.required))
  const properties = Object.fromEntries(
    names.map(name => [
      name,
      inShort(
        name,
        taken.flatMap(({ parameters }) => parameters.filter(one => one.name === name)).map(one => one.schema),
      ),
    ]),
  )
  const required = names.filter(isAlwaysRequired)
  if (typeof tool.asks !== 'string') {
    const wants = taken.flatMap(({ choice, parameters }) => {
      const more = parameters.filter(one => one.required && !required.includes(one.name)).map(one => one.name)
      return more.length > 0 ? [`${choice} needs ${more.join(', ')}`] : []
    })
    const [first] = routes
    const choices = routes.map(([choice]) => choice)
    return {
      type: 'object',
      properties: {
        [tool.asks.argument]: {
          enum: choices,
          default: first?.[0],
          ...(wants.length > 0 ? { description: `${wants.join('; ')}.` } : {}),
        },
        ...properties,
      },
      ...(required.length > 0 ? { required } : {}),
    }
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) }
}

interface Parameter {
  name: string
  required: boolean
  schema: Schema
}

/** Parameters of path and query, and the fields of a body. */
function parametersOf({ endpoint, path }: Route, documentOf: (tier: Tier) => Schema): Parameter[] {
  const document = documentOf(path.split('/')[1] as Tier)
  const operation = (document['paths'] as Record<string, Record<string, Schema>>)[path]?.[endpoint.method]
  const declared = (operation?.['parameters'] ?? []) as Parameter[]
  const body = operation?.['requestBody'] as
    | { content: { 'application/json': { schema: Schema } } }
    | undefined
  const fields = body && resolved(body.content['application/json'].schema, document)
  return [
    ...declared.map(({ name, required = false, schema }) => ({ name, required, schema })),
    ...Object.entries((fields?.['properties'] ?? {}) as Record<string, Schema>).map(([name, schema]) => ({
      name,
      required: ((fields?.['required'] ?? []) as string[]).includes(name),
      schema,
    })),
  ]
}

/** A schema without references: an agent sees no components. */
function resolved(schema: Schema, document: Schema): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1]
  if (name === undefined) return schema
  return (document['components'] as { schemas: Record<string, Schema> }).schemas[name] ?? {}
}

const KEPT = ['type', 'enum', 'items', 'default', 'minimum', 'format', 'properties', 'required'] as const

/** One parameter of several endpoints, in as few words as say it. */
function inShort(name: string, schemas: readonly Schema[]): Schema {
  const [first = {}] = schemas
  const short: Schema = {}
  for (const key of KEPT) if (first[key] !== undefined) short[key] = first[key]
  const description = IN_SHORT[name] ?? first['description']
  if (description) short['description'] = description
  if (/^(n|srcN|dstN)etwork$/.test(name)) delete short['enum']
  else if (short['enum']) short['enum'] = [...new Set(schemas.flatMap(of => (of['enum'] ?? []) as unknown[]))]
  if (short['enum']) delete short['type']
  // 0 and false go without saying.
  if (!short['default']) delete short['default']
  if (!short['minimum']) delete short['minimum']
  if (name === 'perPage') return { type: 'integer', minimum: 1, maximum: PAGE.most, default: PAGE.usual }
  return short
}
