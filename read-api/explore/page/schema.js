// What an OpenAPI document says of the shape of values, as a tree that is opened where one wants to know more.
import { h } from './dom.js'

/** @typedef {Record<string, any>} Schema */

/** A schema that stands elsewhere in the document, or is put together of several: the later one counts. @param {Schema | undefined} schema @param {Schema} document @returns {Schema} */
export function resolved(schema, document) {
  const place = schema?.['$ref']
  if (place !== undefined) return resolved(document['components'].schemas[place.split('/').at(-1)], document)
  if (!schema?.['allOf']) return schema ?? {}
  const { allOf, ...own } = schema
  const parts = [...allOf, own].map(part => resolved(part, document))
  const whole = Object.assign({}, ...parts)
  if (whole.properties) whole.properties = Object.assign({}, ...parts.map(part => part['properties']))
  if (whole.required) whole.required = parts.flatMap(part => part['required'] ?? [])
  return whole
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

/**
 * The objects that a value, or an item of it, may be.
 * @param {Schema | undefined} given @param {Schema} document @returns {Schema[]}
 */
function objectsIn(given, document) {
  const schema = resolved(given, document)
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (choices) return choices.flatMap((/** @type {Schema} */ one) => objectsIn(one, document))
  if (schema['items']) return objectsIn(schema['items'], document)
  return schema['properties'] || isKnown(schema['additionalProperties']) ? [schema] : []
}

/** @param {unknown} values of a record */
const isKnown = values => typeof values === 'object' && values !== null && Object.keys(values).length > 0

/** @typedef {{ name: string, of: Schema, isRequired: boolean, isAny?: boolean }} Field isAny: stands for every name of a record */

/**
 * The fields of a value, for each of the objects that it may be.
 * @param {Schema | undefined} given @param {Schema} document @returns {Field[][]}
 */
export const variantsOf = (given, document) =>
  objectsIn(given, document).map(({ properties = {}, required = [], additionalProperties }) => [
    ...Object.entries(properties).map(([name, of]) => ({ name, of, isRequired: required.includes(name) })),
    ...(isKnown(additionalProperties)
      ? [{ name: 'any name', of: additionalProperties, isRequired: true, isAny: true }]
      : []),
  ])

/**
 * The fields of a value; those of values inside of it come when they are opened.
 * @param {Schema | undefined} given @param {Schema} document @returns {HTMLElement}
 */
export function fieldsOf(given, document) {
  const variants = variantsOf(given, document)
  if (variants.length === 0) return h('p', {}, kindOf(given, document))
  const lists = variants.map(fields =>
    h(
      'ul',
      {},
      fields.map(field => h('li', {}, fieldOf(field, document))),
    ),
  )
  return h(
    'div',
    {},
    lists.flatMap((one, i) => (lists.length > 1 ? [h('p.quiet', {}, i === 0 ? 'either' : 'or'), one] : one)),
  )
}

/** @param {Field} field @param {Schema} document */
function fieldOf({ name, of, isRequired, isAny }, document) {
  const said = resolved(of, document)['description'] ?? of['description']
  const line = [
    isAny ? h('em', {}, name) : h('code', {}, name),
    ' ',
    h('span.kind', {}, kindOf(of, document)),
    isRequired ? '' : h('span.quiet', {}, ' optional'),
    said && h('span.quiet', {}, ` ${said}`),
  ]
  if (variantsOf(of, document).length === 0) return line
  const inside = h('div')
  const open = () => {
    if (inside.childNodes.length === 0) inside.append(fieldsOf(of, document))
  }
  return h('details', { ontoggle: open }, h('summary', {}, line), inside)
}
