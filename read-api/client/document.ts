/** As much of OpenAPI 3.1 as the documents use; what is not here, the generator refuses. */
export interface OpenApiDocument {
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  components: { schemas: Readonly<Record<string, Schema>> }
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  parameters?: readonly Parameter[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Readonly<Record<string, { content?: { 'application/json': { schema: Schema } } }>>
}

export interface Parameter {
  name: string
  in: 'query' | 'path'
  required?: boolean
  schema: Schema
}

export interface Schema {
  $ref?: string
  type?: string | readonly string[]
  enum?: readonly (string | number | boolean)[]
  anyOf?: readonly Schema[]
  allOf?: readonly Schema[]
  items?: Schema
  properties?: Readonly<Record<string, Schema>>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  description?: string
}

/** A description as a comment of one line; nothing where there is none. */
export function docOf(text: string | undefined, indent: string): string {
  return text ? `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll(/\s+/g, ' ')} */\n` : ''
}
