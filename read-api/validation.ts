import { nearestName } from '../db/process/nearest.ts'
import { InvalidRequestError } from './errors.ts'
import type { z } from './schemas/zod.ts'

/** Reads one part of a request. What does not fit is a 400 that names the parameter and says what would be right. */
export function parseStrictly(
  what: 'query' | 'path' | 'body',
  schema: z.ZodObject | z.ZodType | undefined,
  value: unknown,
): unknown {
  if (!schema) {
    if (what === 'query') refuseUnknown(Object.keys((value ?? {}) as object), [])
    return undefined
  }
  if (what === 'query' && 'shape' in schema)
    refuseUnknown(Object.keys(value as object), Object.keys(schema.shape))
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new InvalidRequestError(describeIssue(what, issue, value))
}

function describeIssue(
  what: 'query' | 'path' | 'body',
  issue: z.core.$ZodIssue | undefined,
  value: unknown,
): string {
  if (!issue) return `The ${what} cannot be read.`
  if (issue.code === 'unrecognized_keys') {
    const where = issue.path.length > 0 ? ` in "${issue.path.join('.')}"` : ''
    return `Unknown ${what} key${issue.keys.length > 1 ? 's' : ''}${where}: ${issue.keys.map(key => `"${key}"`).join(', ')}.`
  }
  const name = issue.path.join('.')
  const given = issue.path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key as PropertyKey],
    value,
  )
  const label = what === 'query' ? 'query parameter' : what === 'path' ? 'path parameter' : 'body field'
  if (name === '')
    return `The ${what} ${issue.message === 'Invalid input' ? 'cannot be read' : lowerFirst(issue.message)}.`
  if (given === undefined) {
    const right = issue.message.startsWith('must be one of') ? `it ${issue.message}` : 'it is required'
    return `The ${label} "${name}" is missing: ${right}.`
  }
  return `The ${label} "${name}" ${lowerFirst(issue.message)}${describeGiven(given)}.`
}

function describeGiven(given: unknown): string {
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') return ''
  const text = String(given)
  return `, not "${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`
}

function lowerFirst(text: string): string {
  return text.startsWith('must') ? text : text.charAt(0).toLowerCase() + text.slice(1)
}

function refuseUnknown(given: string[], known: string[]): void {
  for (const name of given) {
    if (known.includes(name)) continue
    if (known.length === 0) {
      throw new InvalidRequestError(`Unknown query parameter "${name}": this endpoint takes none.`)
    }
    const nearest = nearestName(name, known)
    throw new InvalidRequestError(
      `Unknown query parameter "${name}". ${nearest ? `Did you mean "${nearest}"? ` : ''}Valid ones: ${known.join(', ')}.`,
    )
  }
}
