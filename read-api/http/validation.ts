import { misspelt } from '../../db/process/nearest.ts'
import { InvalidRequestError, RefusedError } from './errors.ts'
import type { z } from './zod.ts'

type Part = 'query' | 'path' | 'body'

const LABELS: Record<Part, string> = {
  query: 'query parameter',
  path: 'path parameter',
  body: 'body field',
}

/** Wrong parameters and unknown keys that one message names. */
const MOST_NAMED = 5

/** Reads one part of a request. What does not fit is a 400 that names the parameter and says what would be right. */
export function parseStrictly(
  what: Part,
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
  if (!parsed.success) throw new InvalidRequestError(describe(what, schema, parsed.error.issues, value))
  if (what === 'query') refuseEmptyRanges(parsed.data as Record<string, unknown>, value as object)
  return parsed.data
}

/** One sentence for each parameter that is wrong. */
function describe(
  what: Part,
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
): string {
  const sentences = new Map<string, string>()
  for (const issue of issues) {
    const name = issue.path.join('.')
    if (!sentences.has(name)) sentences.set(name, describeIssue(what, schema, issue, value))
  }
  return [...sentences.values()].slice(0, MOST_NAMED).join(' ') || `The ${what} cannot be read.`
}

function describeIssue(what: Part, schema: z.ZodType, issue: z.core.$ZodIssue, value: unknown): string {
  const name = issue.path.join('.')
  if (issue.code === 'unrecognized_keys') {
    const where = name ? ` in "${name}"` : ''
    const keys = issue.keys.slice(0, MOST_NAMED).map(key => `"${shortened(key)}"`)
    return `Unknown ${what} key${keys.length > 1 ? 's' : ''}${where}: ${keys.join(', ')}. Valid ones: ${keysAt(schema, issue.path).join(', ')}.`
  }
  if (name === '') {
    return `The ${what} ${issue.code === 'invalid_type' ? 'must be a JSON object' : lowerFirst(issue.message)}.`
  }
  const given = issue.path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key as PropertyKey],
    value,
  )
  if (given === undefined) {
    const right = issue.message.startsWith('must be one of') ? `it ${issue.message}` : 'it is required'
    return `The ${LABELS[what]} "${name}" is missing: ${right}.`
  }
  return `The ${LABELS[what]} "${name}" ${lowerFirst(issue.message)}${describeGiven(given)}.`
}

/** The keys that an object inside a schema may have. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  type Node = { shape?: Record<PropertyKey, Node>; unwrap?: () => Node }
  let at: Node | undefined = schema as Node
  for (const key of path) {
    at = at?.shape?.[key]
    while (at?.unwrap) at = at.unwrap()
  }
  return Object.keys(at?.shape ?? {})
}

function describeGiven(given: unknown): string {
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') return ''
  return `, not "${shortened(String(given))}"`
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function lowerFirst(text: string): string {
  return text.startsWith('must') ? text : text.charAt(0).toLowerCase() + text.slice(1)
}

function refuseUnknown(given: string[], known: string[]): void {
  for (const name of given) {
    if (known.includes(name)) continue
    if (known.length === 0) {
      throw new InvalidRequestError(`Unknown query parameter "${shortened(name)}": this endpoint takes none.`)
    }
    const meant = misspelt(name, known)
    throw new InvalidRequestError(
      `Unknown query parameter "${shortened(name)}". ${meant ? `Did you mean "${meant}"? ` : ''}Valid ones: ${known.join(', ')}.`,
    )
  }
}

const ENDS = [
  { low: 'min', high: 'max', word: 'above', nothing: 'nothing could pass' },
  { low: 'from', high: 'to', word: 'after', nothing: 'the window would be empty' },
] as const

/** A lower bound above the upper one (minTvl and maxTvl, fromDate and toDate) is a 422, wherever there is such a pair. */
function refuseEmptyRanges(query: Record<string, unknown>, raw: object): void {
  for (const [name, low] of Object.entries(query)) {
    for (const { low: prefix, high: other, word, nothing } of ENDS) {
      if (!name.startsWith(prefix)) continue
      const otherName = `${other}${name.slice(prefix.length)}`
      const high = query[otherName]
      if (typeof low !== 'number' || typeof high !== 'number' || low <= high) continue
      const said = (of: string) => `"${of}" (${(raw as Record<string, unknown>)[of]})`
      throw new RefusedError(`${said(name)} is ${word} ${said(otherName)}: ${nothing}.`)
    }
  }
}
