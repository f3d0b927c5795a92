import { docOf, type OpenApiDocument, type Operation, type Schema } from './document.ts'

/** The documents as TypeScript: `paths` as openapi-fetch takes them, and `schemas` by name. */
export function typescriptOf(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${docOf(schema.description, '  ')}  ${quoted(name)}: ${typeOf(schema, '  ')}\n`,
  )
  const paths = Object.entries(document.paths).map(([path, methods]) => pathOf(path, methods))
  return `/* Made of the OpenAPI documents by \`npm run clients\`. */

export interface schemas {
${schemas.join('')}}

export interface paths {
${paths.join('')}}
`
}

const METHODS = ['get', 'post', 'put', 'delete', 'options', 'head', 'patch', 'trace']

function pathOf(path: string, methods: Readonly<Record<string, Operation>>): string {
  const each = METHODS.map(method => {
    const operation = methods[method]
    return operation
      ? `${docOf(operation.summary, '    ')}    ${method}: ${operationOf(operation)}\n`
      : `    ${method}?: never\n`
  })
  return `  ${quoted(path)}: {\n    parameters: { query?: never; header?: never; path?: never; cookie?: never }\n${each.join('')}  }\n`
}

function operationOf({ parameters = [], requestBody, responses }: Operation): string {
  const of = (where: string) => {
    const found = parameters.filter(parameter => parameter.in === where)
    if (found.length === 0) return `${where}?: never`
    const isOptional = found.every(({ required }) => !required)
    const fields = found.map(
      ({ name, required, schema }) =>
        `${docOf(schema.description, '          ')}          ${quoted(name)}${required ? '' : '?'}: ${typeOf(schema, '          ')}\n`,
    )
    return `${where}${isOptional ? '?' : ''}: {\n${fields.join('')}        }`
  }
  const body = requestBody
    ? `requestBody: { content: { 'application/json': ${typeOf(requestBody.content['application/json'].schema, '      ')} } }`
    : 'requestBody?: never'
  const answers = Object.entries(responses).map(([status, { content }]) => {
    const type = content
      ? `{ 'application/json': ${typeOf(content['application/json'].schema, '        ')} }`
      : 'never'
    return `        ${status}: { headers: { [name: string]: unknown }; content${content ? '' : '?'}: ${type} }\n`
  })
  return `{
      parameters: {
        ${of('query')}
        header?: never
        ${of('path')}
        cookie?: never
      }
      ${body}
      responses: {
${answers.join('')}      }
    }`
}

/** A schema as a type. What it says of the form of a text goes into words, not into types. */
function typeOf(schema: Schema, indent: string): string {
  if (schema.$ref) return `schemas[${JSON.stringify(schema.$ref.split('/').at(-1))}]`
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(one => typeOf(one, indent)).join(' | ')
  if (schema.allOf) return schema.allOf.map(one => typeOf(one, indent)).join(' & ')
  if (Array.isArray(schema.type))
    return schema.type.map(type => typeOf({ ...schema, type }, indent)).join(' | ')
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `(${typeOf(schema.items ?? {}, indent)})[]`
    case 'object':
      return objectOf(schema, indent)
    default:
      return 'unknown'
  }
}

function objectOf({ properties, required = [], additionalProperties }: Schema, indent: string): string {
  if (!properties)
    return typeof additionalProperties === 'object'
      ? `Record<string, ${typeOf(additionalProperties, indent)}>`
      : 'Record<string, unknown>'
  const inner = `${indent}  `
  const fields = Object.entries(properties).map(
    ([name, schema]) =>
      `${docOf(schema.description, inner)}${inner}${quoted(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)}\n`,
  )
  return `{\n${fields.join('')}${indent}}`
}

function quoted(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `'${name.replaceAll("'", "\\'")}'`
}
