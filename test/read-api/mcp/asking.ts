import type { BoundTool, Route } from '../../../read-api/mcp/bind.ts'
import { stand } from '../stand.ts'

/** An example of an endpoint, as a tool takes it and as a request has it. */
export interface Asked {
  tool: string
  arguments: Record<string, unknown>
  method: string
  /** With the query, a page being as long as a tool's. */
  path: string
  body?: string
}

const fill = (value: string) => stand[value] ?? value

/** The example of one of a tool's endpoints, which is written down with the endpoint and knows nothing of tools. */
export function exampleOf({ tool }: BoundTool, choice: string, { endpoint, path }: Route): Asked {
  const { params = {}, query = {}, body } = endpoint.example
  const values = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, fill(value)]))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, fill(one)]),
    ),
  )
  if (endpoint.query?.shape['perPage']) search.set('perPage', '10')
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
  return {
    tool: tool.name,
    arguments: {
      ...(typeof tool.asks === 'string' ? {} : { [tool.asks.argument]: choice }),
      ...values,
      ...Object.fromEntries(
        Object.entries(query).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.map(fill) : fill(value),
        ]),
      ),
      ...(body as object | undefined),
    },
    method: endpoint.method.toUpperCase(),
    path: search.size > 0 ? `${filled}?${search}` : filled,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }
}

/** Every endpoint of every tool. */
export function everyExample(tools: readonly BoundTool[]): Asked[] {
  return tools.flatMap(bound => [...bound.routes].map(([choice, route]) => exampleOf(bound, choice, route)))
}
