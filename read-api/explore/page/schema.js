// What an OpenAPI document says of the shape of values, as a tree that is opened where one wants to know more.
import { h } from './dom.js'

/** @typedef {Record<string, any>} Schema */

/** A schema that stands elsewhere in the document. @param {Schema | undefined} schema @param {Schema} document @returns {Schema} */
export function resolved(schema, document) {
  const place = schema?.['$ref']
  return place === undefined
    ? (schema ?? {})
    : resolved(document['components'].schemas[place.split('/').at(-1)], document)
}

/** Its kind in words. @param {Schema | undefined} given @param {Schema} document @returns {string} */
export function kindOf(given, document) {
  const schema = resolved(given, document)
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (choices) return choices.map((/** @type {Schema} */ one) => kindOf(one, document)).join(' or ')
  if (schema['enum'])
    return schema['enum'].map((/** @type {unknown} */ one) => JSON.stringify(one)).join(' | ')
  if (schema['const'] !== undefined) return JSON.stringify(schema['const'])
  if (schema['type'] === 'array') return `list of ${kindOf(schema['items'], document)}`
  const kinds = [schema['type'] ?? (schema['properties'] ? 'object' : 'anything')].flat()
  return kinds.join(' or ')
}

/** The object whose fields are worth showing. @param {Schema | undefined} given @param {Schema} document @returns {Schema | undefined} */
function objectIn(given, document) {
  const schema = resolved(given, document)
  if (schema['properties']) return schema
  if (schema['items']) return objectIn(schema['items'], document)
  for (const one of schema['anyOf'] ?? schema['oneOf'] ?? []) {
    const found = objectIn(one, document)
    if (found) return found
  }
  return undefined
}

/**
 * The fields of a value; those of values inside of it come when they are opened.
 * @param {Schema | undefined} given @param {Schema} document
 */
export function fieldsOf(given, document) {
  const schema = objectIn(given, document)
  if (!schema) return h('p', {}, kindOf(given, document))
  const required = new Set(schema['required'] ?? [])
  return h(
    'ul',
    {},
    Object.entries(schema['properties']).map(([name, of]) => {
      const said = resolved(of, document)['description'] ?? of.description
      const line = [
        h('code', {}, name),
        ' ',
        h('span.kind', {}, kindOf(of, document)),
        required.has(name) ? '' : h('span.quiet', {}, ' optional'),
        said && h('span.quiet', {}, ` ${said}`),
      ]
      if (!objectIn(of, document)) return h('li', {}, line)
      const inside = h('div')
      const open = () => {
        if (inside.childNodes.length === 0) inside.append(fieldsOf(of, document))
      }
      return h('li', {}, h('details', { ontoggle: open }, h('summary', {}, line), inside))
    }),
  )
}
