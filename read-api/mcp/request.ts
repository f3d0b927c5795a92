import { misspelt } from '../../db/process/nearest.ts'
import { InvalidRequestError, RequestError } from '../http/errors.ts'
import { parseStrictly } from '../http/validation.ts'
import { type BoundTool, PAGE, type Route } from './bind.ts'

/** A request of the API that a tool's arguments come to. */
export interface ApiRequest {
  method: 'GET' | 'POST'
  /** With the query. */
  path: string
  body?: string
}

export type Arguments = Readonly<Record<string, unknown>>

/** As the API bounds an address and its headers together, with room for the headers. */
const LONGEST_PATH = 12_000

class TooLongError extends RequestError {
  readonly code = 'TOO_LONG'
  readonly status = 431
}

/**
 * The request of arguments. Whatever is not a parameter of the path or a field of the body goes into the query, where the API
 * says what it knows and what was probably meant; null is left out.
 *
 * @throws RequestError in the words of the API
 */
export function requestOf(bound: BoundTool, given: Arguments): ApiRequest {
  const { endpoint, path, rest } = chosen(bound, given)
  const inPath = Object.keys(endpoint.params?.shape ?? {})
  const inBody = endpoint.body ? bodyFields(bound, endpoint) : []
  const query = new URLSearchParams()
  const body: Record<string, unknown> = {}
  const values: Record<string, string> = {}
  for (const [name, value] of Object.entries(rest)) {
    if (value === null || value === undefined) continue
    if (inBody.includes(name)) body[name] = value
    else if (inPath.includes(name)) values[name] = textOf(name, value)
    else for (const one of Array.isArray(value) ? value : [value]) query.append(name, textOf(name, one))
  }
  if (endpoint.query?.shape['perPage']) boundPage(query)
  for (const name of inPath) {
    // Without it there is no path to ask.
    if (!values[name]) parseStrictly('path', endpoint.params, values)
  }
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent((values[name] ?? '').toWellFormed()),
  )
  const text = query.size > 0 ? `${filled}?${query}` : filled
  if (text.length > LONGEST_PATH)
    throw new TooLongError(`The arguments are too long: ${LONGEST_PATH / 1_000} kB at most.`)
  return endpoint.method === 'get'
    ? { method: 'GET', path: text }
    : { method: 'POST', path: text, body: JSON.stringify(body) }
}

/** The endpoint that answers, and the arguments that are for it. */
function chosen({ tool, routes }: BoundTool, given: Arguments): Route & { rest: Arguments } {
  if (typeof tool.asks === 'string') {
    const [route] = routes.values()
    if (!route) throw new InvalidRequestError(`The tool ${tool.name} asks nothing.`)
    return { ...route, rest: given }
  }
  const { argument } = tool.asks
  const { [argument]: wanted, ...rest } = given
  const names = [...routes.keys()]
  const name = wanted ?? names[0]
  const route = typeof name === 'string' ? routes.get(name) : undefined
  if (route) return { ...route, rest }
  const text = textOf(argument, wanted).slice(0, 80)
  const meant = misspelt(text, names)
  throw new InvalidRequestError(
    `The argument "${argument}" must be one of ${names.join(', ')}, not "${text}".${meant ? ` Did you mean "${meant}"?` : ''}`,
  )
}

/** Fields of a body, as far as the tool takes them. */
function bodyFields({ inputSchema }: BoundTool, { params, query }: Route['endpoint']): string[] {
  return Object.keys(inputSchema['properties'] as object).filter(
    name => !params?.shape[name] && !query?.shape[name],
  )
}

/** A value as a URL has it. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  // JSON's numbers are doubles by the time they are here: what an amount was before nobody knows.
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new InvalidRequestError(
      `The argument "${name}" is a number beyond 2^53, which arrives rounded: send it as a string of digits.`,
    )
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new InvalidRequestError(
    `The argument "${name}" must be a text, a number, a boolean, or a list of them.`,
  )
}

function boundPage(query: URLSearchParams): void {
  const asked = query.getAll('perPage')
  if (asked.length === 0) query.set('perPage', String(PAGE.usual))
  // What is no number at all, the API refuses itself.
  else if (asked.some(text => Number(text) > PAGE.most))
    throw new InvalidRequestError(
      `The argument "perPage" must be an integer from 1 to ${PAGE.most}, not "${asked[0]?.slice(0, 80)}". nextPage of an answer says whether there is more.`,
    )
}
