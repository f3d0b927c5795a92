import type { OpenApiDocument, Operation, Parameter, Schema } from '../../../read-api/client/document.ts'

/**
 * What in a document would break a caller who was written by an older one: in words, a line each. More may be asked for less strictly and
 * answered more; nothing that was there may go, and nothing that was left out may be wanted.
 */
export function breakingChanges(before: OpenApiDocument, after: OpenApiDocument): string[] {
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const now = after.paths[path]?.[method]
      const where = `${method.toUpperCase()} ${path}`
      if (!now) return [`${where} is gone.`]
      return [
        ...ofParameters(operation.parameters ?? [], now.parameters ?? [], where),
        ...ofBody(operation, now, where, before, after),
        ...ofAnswers(operation, now, where, before, after),
      ]
    }),
  )
}

function ofParameters(before: readonly Parameter[], after: readonly Parameter[], where: string): string[] {
  const gone = before.flatMap(({ name, in: place, schema }) => {
    const now = after.find(one => one.name === name && one.in === place)
    if (!now) return [`${where}: the ${place} parameter "${name}" is gone.`]
    return narrowed(schema, now.schema, `${where}: the ${place} parameter "${name}"`)
  })
  const wanted = after
    .filter(({ required }) => required)
    .filter(
      ({ name, in: place }) => !before.some(one => one.name === name && one.in === place && one.required),
    )
    .map(({ name, in: place }) => `${where}: the ${place} parameter "${name}" is required now.`)
  return [...gone, ...wanted]
}

/** What a caller could send and no more can. */
function narrowed(before: Schema, after: Schema, what: string): string[] {
  const { minimum, maximum } = after as Bounds
  const bounds = before as Bounds
  return [
    ...(typesOf(before).every(type => typesOf(after).includes(type))
      ? []
      : [`${what} was ${typesOf(before).join(' or ')} and is ${typesOf(after).join(' or ')}.`]),
    ...(after.enum
      ? before.enum
        ? before.enum
            .filter(value => !after.enum?.includes(value))
            .map(value => `${what} does not take "${value}" any more.`)
        : [`${what} takes some values alone now.`]
      : []),
    ...(minimum !== undefined && minimum > (bounds.minimum ?? Number.NEGATIVE_INFINITY)
      ? [`${what} must be at least ${minimum} now.`]
      : []),
    ...(maximum !== undefined && maximum < (bounds.maximum ?? Number.POSITIVE_INFINITY)
      ? [`${what} must be at most ${maximum} now.`]
      : []),
  ]
}

interface Bounds {
  minimum?: number
  maximum?: number
}

function ofBody(
  before: Operation,
  after: Operation,
  where: string,
  old: OpenApiDocument,
  now: OpenApiDocument,
): string[] {
  const wanted = after.requestBody?.content['application/json'].schema
  if (!wanted) return before.requestBody ? [`${where} takes no body any more.`] : []
  const given = before.requestBody?.content['application/json'].schema
  if (!given) return [`${where} wants a body now.`]
  const [sent, taken] = [resolved(given, old), resolved(wanted, now)]
  return [
    ...Object.keys(sent.properties ?? {})
      .filter(name => !taken.properties?.[name])
      .map(name => `${where}: the body field "${name}" is gone.`),
    ...(taken.required ?? [])
      .filter(name => !sent.required?.includes(name))
      .map(name => `${where}: the body field "${name}" is required now.`),
  ]
}

function ofAnswers(
  before: Operation,
  after: Operation,
  where: string,
  old: OpenApiDocument,
  now: OpenApiDocument,
): string[] {
  const answer = (operation: Operation) => operation.responses['200']?.content?.['application/json'].schema
  const [said, says] = [answer(before), answer(after)]
  if (!said) return []
  if (!says) return [`${where} answers nothing any more.`]
  return lost(said, says, `${where} answer`, { old, now }, new Set())
}

interface Documents {
  old: OpenApiDocument
  now: OpenApiDocument
}

/** What a caller could read and no more can. `seen`: pairs that were compared, of schemas that hold themselves. */
function lost(before: Schema, after: Schema, at: string, documents: Documents, seen: Set<string>): string[] {
  const pair = `${before.$ref} ${after.$ref}`
  if (before.$ref && seen.has(pair)) return []
  seen.add(pair)
  const [was, is] = [resolved(before, documents.old), resolved(after, documents.now)]
  const changed = typesOf(is).filter(type => !typesOf(was).includes(type))
  // A whole number is a number, too.
  if (changed.some(type => !(type === 'integer' && typesOf(was).includes('number'))))
    return [`${at} was ${typesOf(was).join(' or ')} and is ${typesOf(is).join(' or ')}.`]
  const fields = Object.entries(was.properties ?? {}).flatMap(([name, schema]) => {
    const field = is.properties?.[name]
    const path = `${at}.${name}`
    if (!field) return [`${path} is gone.`]
    const isLeftOut = was.required?.includes(name) && !is.required?.includes(name)
    return [
      ...(isLeftOut ? [`${path} may be left out now.`] : []),
      ...lost(schema, field, path, documents, seen),
    ]
  })
  const items = was.items && is.items ? lost(was.items, is.items, `${at}[]`, documents, seen) : []
  return [...fields, ...items]
}

/** A schema itself: what it refers to, or what it is all of. */
function resolved(schema: Schema, document: OpenApiDocument): Schema {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return resolved(document.components.schemas[name] ?? {}, document)
  const [whole] = schema.allOf?.filter(({ $ref, properties }) => $ref || properties) ?? []
  return whole ? resolved(whole, document) : schema
}

function typesOf({ type, anyOf, enum: values }: Schema): string[] {
  if (anyOf) return [...new Set(anyOf.flatMap(typesOf))].sort()
  if (type === undefined) return values ? [...new Set(values.map(value => typeof value))] : ['anything']
  return typeof type === 'string' ? [type] : [...type].sort()
}
