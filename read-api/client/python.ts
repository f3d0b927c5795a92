import type { OpenApiDocument, Operation, Parameter, Schema } from './document.ts'

/** Types of the answers, as typed dictionaries: `types.py`. */
export function pythonTypesOf(document: OpenApiDocument): string {
  const book = new TypeBook()
  for (const [name, schema] of Object.entries(document.components.schemas)) book.define(name, schema)
  for (const operation of operationsOf(document)) {
    const { requestBody, responses, operationId } = operation
    const name = pascal(operationId)
    if (requestBody) book.define(`${name}Body`, requestBody.content['application/json'].schema)
    const answer = responses['200']?.content?.['application/json'].schema
    if (answer) book.define(`${name}Answer`, answer)
  }
  return `"""Made of the OpenAPI documents by \`npm run clients\`: what the API takes and answers."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, NotRequired, Optional, TypedDict, Union

${book.text}`
}

/** The methods, one for each operation: `operations.py`. */
export function pythonOperationsOf(document: OpenApiDocument): string {
  const methods = operationsOf(document).map(methodOf)
  return `"""Made of the OpenAPI documents by \`npm run clients\`: a method for each operation."""

from __future__ import annotations

from typing import Literal, Optional, Sequence

from . import types
from .transport import Answer, Transport


class Operations(Transport):
    """Parameters have the names that they have in the API. What is None is not sent."""

${methods.join('\n')}`
}

interface NamedOperation extends Operation {
  method: string
  path: string
}

function operationsOf({ paths }: OpenApiDocument): NamedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method, path })),
  )
}

function methodOf(operation: NamedOperation): string {
  const { operationId, method, path, parameters = [], requestBody, summary, description } = operation
  const name = operationId.replaceAll('-', '_')
  const ordered = [...parameters].sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false))
  const given = ordered.map(argumentOf)
  if (requestBody) given.unshift(`body: Optional[types.${pascal(operationId)}Body] = None`)
  const dictionary = (where: Parameter['in']) =>
    `{${parameters
      .filter(parameter => parameter.in === where)
      .map(parameter => `"${parameter.name}": ${parameter.name}`)
      .join(', ')}}`
  const type = `Answer[types.${pascal(operationId)}Answer]`
  return `    def ${name}(self${given.length > 0 ? `, *, ${given.join(', ')}` : ''}) -> ${type}:
        ${text([`${summary}.`, description].filter(Boolean).join(' '))}
        return self._ask("${method.toUpperCase()}", "${path}", ${dictionary('path')}, ${dictionary('query')}${requestBody ? ', body' : ''})
`
}

function argumentOf({ name, required, schema }: Parameter): string {
  const type = parameterType(schema)
  return required ? `${name}: ${type}` : `${name}: Optional[${type}] = None`
}

function parameterType({ type, enum: values, items }: Schema): string {
  if (values) return `Literal[${values.map(value => JSON.stringify(value)).join(', ')}]`
  if (type === 'array') return `Sequence[${parameterType(items ?? {})}]`
  return { integer: 'int', number: 'float', boolean: 'bool' }[String(type)] ?? 'str'
}

/** Names for objects as they are met: a dictionary inside another one is called after where it lies. */
class TypeBook {
  text = ''

  define(name: string, schema: Schema): void {
    if (schema.properties && !schema.$ref) this.object(name, schema)
    else this.text += `${name} = ${JSON.stringify(this.typeOf(name, schema)).replace(/^"|"$/g, '')}\n\n`
  }

  private object(name: string, { properties = {}, required = [], description }: Schema): void {
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = this.typeOf(`${name}_${field.replaceAll(/\W/g, '_')}`, schema)
      return `    ${JSON.stringify(field)}: ${JSON.stringify(required.includes(field) ? type : `NotRequired[${type}]`)},\n`
    })
    const comment = description ? `# ${description.replaceAll(/\s+/g, ' ')}\n` : ''
    // By call and not by class: fields like 7day are no names in Python.
    this.text += `${comment}${name} = TypedDict("${name}", {\n${fields.join('')}})\n\n`
  }

  private typeOf(name: string, schema: Schema): string {
    if (schema.$ref) return schema.$ref.split('/').at(-1) ?? 'Any'
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`
    if (schema.anyOf)
      return `Union[${schema.anyOf.map((one, index) => this.typeOf(`${name}_${index}`, one)).join(', ')}]`
    if (schema.allOf) return this.merged(name, schema.allOf)
    if (Array.isArray(schema.type)) {
      const [first = 'null'] = schema.type.filter(type => type !== 'null')
      return `Optional[${this.typeOf(name, { ...schema, type: first })}]`
    }
    if (schema.type === 'array') return `List[${this.typeOf(`${name}_item`, schema.items ?? {})}]`
    if (schema.type === 'object') {
      if (schema.properties) {
        this.object(name, schema)
        return name
      }
      const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {}
      return `Dict[str, ${this.typeOf(`${name}_value`, values)}]`
    }
    return (
      { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[
        String(schema.type)
      ] ?? 'Any'
    )
  }

  /** All of several: the documents say so of one that is referred to, and of what is said of it besides. */
  private merged(name: string, parts: readonly Schema[]): string {
    const [only] = parts.filter(({ $ref, properties }) => $ref || properties)
    return only ? this.typeOf(name, only) : 'Any'
  }
}

function literal(value: string | number | boolean): string {
  return typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value)
}

function pascal(operationId: string): string {
  return operationId
    .split('-')
    .map(word => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** A docstring. */
function text(words: string): string {
  return `"""${words.replaceAll('\\', '\\\\').replaceAll('"', "'").replaceAll(/\s+/g, ' ')}"""`
}
