import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** What /documentation says of the shape of values, held against the documents themselves. */

interface Schema {
  $ref?: string
  type?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  additionalProperties?: Schema | boolean
}
interface Body {
  content: Record<string, { schema: Schema }>
}
interface Document {
  components: { schemas: Record<string, Schema> }
  paths?: Record<
    string,
    Record<string, { operationId: string; requestBody?: Body; responses: Record<string, Body> }>
  >
}
interface Field {
  name: string
  of: Schema
  isRequired: boolean
}
const script = new URL('../../../read-api/explore/page/schema.js', import.meta.url).href
const { kindOf, resolved, variantsOf } = (await import(script)) as {
  kindOf(schema: Schema, document: Document): string
  resolved(schema: Schema, document: Document): Schema
  variantsOf(schema: Schema, document: Document): Field[][]
}

const FOLDER = join(import.meta.dirname, '../../../docs/openapi')

/** Names of the fields anywhere in a schema. */
function namesIn(schema: Schema, document: Document, seen = new Set<string>()): string[] {
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [], additionalProperties } = schema
  const parts = [...Object.values(properties), items, ...anyOf, ...oneOf, ...allOf, additionalProperties]
  if ($ref && !seen.has($ref)) {
    seen.add($ref)
    parts.push(document.components.schemas[$ref.split('/').at(-1) ?? ''])
  }
  const inside = parts.filter(part => typeof part === 'object')
  return [...Object.keys(properties), ...inside.flatMap(part => namesIn(part, document, seen))]
}

/** The fields that one comes to who opens everything. */
function opened(schema: Schema, document: Document, within: string[] = []): Field[] {
  const fields = variantsOf(schema, document).flat()
  return fields.flatMap(field => {
    const text = JSON.stringify(field.of)
    return [field, ...(within.includes(text) ? [] : opened(field.of, document, [...within, text]))]
  })
}

describe('the shape of values', () => {
  for (const file of readdirSync(FOLDER).filter(name => name.endsWith('.json')))
    it(`${file}: each field of what is sent and answered is come to, and none of them is anything`, () => {
      const document: Document = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))
      const operations = Object.values(document.paths ?? {}).flatMap(methods => Object.values(methods))
      expect(operations.length).toBeGreaterThan(10)
      for (const { operationId, requestBody, responses } of operations)
        for (const body of [requestBody, responses['200']]) {
          const schema = body?.content['application/json']?.schema
          if (!schema) continue
          const fields = opened(schema, document)
          const names = new Set(fields.map(({ name }) => name))
          expect(
            namesIn(schema, document).filter(name => !names.has(name)),
            operationId,
          ).toEqual([])
          for (const { name, of } of fields)
            expect(kindOf(of, document), `${operationId}: ${name}`).not.toContain('anything')
        }
    })

  it('of several put together the later one counts; each object of a union and the values of a record are told', () => {
    const document = {
      components: {
        schemas: {
          Amount: {
            type: 'object',
            description: 'Of the asset.',
            properties: { native: { type: 'string' } },
            required: ['native'],
          },
        },
      },
    }
    const amount = { $ref: '#/components/schemas/Amount' }
    const worth = {
      allOf: [amount, { description: 'Of the vault.', properties: { usd: { type: 'number' } } }],
    }
    expect(kindOf(worth, document)).toBe('object')
    expect(resolved(worth, document).description).toBe('Of the vault.')
    expect(variantsOf(worth, document)).toMatchObject([
      [
        { name: 'native', isRequired: true },
        { name: 'usd', isRequired: false },
      ],
    ])
    const either = { type: 'array', items: { anyOf: [amount, { properties: { why: { type: 'string' } } }] } }
    expect(variantsOf(either, document).map(fields => fields.map(({ name }) => name))).toEqual([
      ['native'],
      ['why'],
    ])
    const [values] = variantsOf({ type: 'object', additionalProperties: amount }, document).flat()
    expect(variantsOf(values?.of ?? {}, document).flat()).toMatchObject([{ name: 'native' }])
    expect(variantsOf({ type: 'object', additionalProperties: {} }, document)).toEqual([])
  })
})
