import type { DomainEvent, EventType } from './vocabulary.ts'
import { vocabulary } from './vocabulary.ts'

/**
 * How an event's data is stored: JSON with integers beyond 2^53 as decimal strings. Text that Postgres refuses
 * (NUL characters, lone surrogates: real token symbols hold them) is cleaned; nothing else changes.
 */
export function encodeEventData(data: DomainEvent['data']): string {
  let json = ''
  for (const key in data) {
    const value = (data as Record<string, unknown>)[key]
    if (value === undefined) continue
    const name = `${json === '' ? '{' : ','}"${key}":`
    if (typeof value === 'bigint') json += `${name}"${value}"`
    else if (typeof value === 'string')
      json += PLAIN.test(value) ? `${name}"${value}"` : name + JSON.stringify(cleanText(value))
    else json += name + JSON.stringify(value)
  }
  return json === '' ? '{}' : `${json}}`
}

/** ASCII without quotes, backslashes and control characters: its own JSON. */
const PLAIN = /^[ !#-[\]-~]*$/

/** Without what Postgres takes in no text or JSON. */
export function cleanText(value: string): string {
  const text = value.isWellFormed() ? value : value.toWellFormed()
  return text.includes('\0') ? text.replaceAll('\0', '') : text
}

/** The reverse of encodeEventData: fields that the vocabulary declares bigint become bigint again. Throws ZodError on strangers. */
export function decodeEventData<T extends EventType>(
  type: T,
  json: Record<string, unknown>,
): DomainEvent<T>['data'] {
  const integers = bigintFields(type)
  const data: Record<string, unknown> = { ...json }
  for (const field of integers) {
    const value = data[field]
    if (typeof value === 'string' && /^-?\d+$/.test(value)) data[field] = BigInt(value)
  }
  return vocabulary[type].parse(data) as DomainEvent<T>['data']
}

const integerFields = new Map<EventType, string[]>()

function bigintFields(type: EventType): string[] {
  let fields = integerFields.get(type)
  if (!fields) {
    fields = Object.entries(vocabulary[type].shape)
      .filter(([, schema]) => isBigint(schema))
      .map(([name]) => name)
    integerFields.set(type, fields)
  }
  return fields
}

function isBigint(schema: { safeParse(value: unknown): { success: boolean } }): boolean {
  return schema.safeParse(1n).success
}
