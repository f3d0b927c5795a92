/**
 * What a TypeScript declaration file says its methods answer with, as JSON schemas: of the types that generated clients
 * consist of (objects, arrays, unions, literals, Record), written out in place.
 */
export type Schema = Record<string, unknown>

const TOKEN = /"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z_$][\w$]*|\d+|[{}[\]()<>|?:;,]/g
const PLAIN: Record<string, Schema> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  null: { type: 'null' },
  unknown: {},
  never: { not: {} },
  true: { const: true },
  false: { const: false },
}

class Reader {
  private readonly tokens: string[]
  private at = 0
  constructor(source: string) {
    this.tokens = source.match(TOKEN) ?? []
  }

  private peek(): string {
    return this.tokens[this.at] ?? ''
  }
  private next(): string {
    return this.tokens[this.at++] ?? ''
  }
  private take(token: string): void {
    const found = this.next()
    if (found !== token) throw new SyntaxError(`Expected ${token}, found ${found} (token ${this.at})`)
  }
  private skip(token: string): boolean {
    if (this.peek() !== token) return false
    this.at++
    return true
  }

  type(): Schema {
    this.skip('|')
    const members = [this.repeated()]
    while (this.skip('|')) members.push(this.repeated())
    const [only] = members
    return members.length === 1 && only ? only : { anyOf: members }
  }

  private repeated(): Schema {
    let schema = this.single()
    while (this.skip('[')) {
      this.take(']')
      schema = { type: 'array', items: schema }
    }
    return schema
  }

  private single(): Schema {
    const token = this.next()
    if (token === '{') return this.object()
    if (token === '(') {
      const inner = this.type()
      this.take(')')
      return inner
    }
    if (token === 'Record') {
      this.take('<')
      this.type()
      this.take(',')
      const additionalProperties = this.type()
      this.take('>')
      return { type: 'object', additionalProperties }
    }
    if (/^["']/.test(token)) return { const: token.slice(1, -1) }
    if (/^\d/.test(token)) return { const: Number(token) }
    const plain = PLAIN[token]
    if (!plain) throw new SyntaxError(`A type that is not understood: ${token} (token ${this.at})`)
    return plain
  }

  private object(): Schema {
    const properties: Record<string, Schema> = {}
    const required: string[] = []
    let others: Schema | undefined
    while (!this.skip('}')) {
      // An index signature: [name: string]: Type
      if (this.skip('[')) {
        while (!this.skip(']')) this.next()
        this.take(':')
        others = this.type()
        this.skip(';')
        continue
      }
      const name = this.next().replaceAll(/["']/g, '')
      const isOptional = this.skip('?')
      this.take(':')
      properties[name] = this.type()
      if (!isOptional) required.push(name)
      this.skip(';')
    }
    return { type: 'object', properties, required, ...(others ? { additionalProperties: others } : {}) }
  }
}

/** Name of each public method of a declared class → what it resolves to. */
export function declaredAnswers(declarations: string, className: string): Map<string, Schema> {
  const [, body = ''] = declarations.split(`declare class ${className} {`)
  const answers = new Map<string, Schema>()
  for (const match of body.matchAll(/^ {4}(\w+)\(.*?\): Promise</gm)) {
    answers.set(match[1] ?? '', new Reader(body.slice(match.index + match[0].length)).type())
  }
  return answers
}

/** Path of each declared endpoint → the type of its query; `never` where it takes none. */
export function declaredQueries(declarations: string): Map<string, Schema> {
  const [paths = '', operations = ''] = declarations
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('interface operations {')
  const queries = new Map<string, Schema>()
  for (const [, path = '', operation] of paths.matchAll(
    /^ {4}'([^']+)': \{[\s\S]*?operations\['(\w+)'\]/gm,
  )) {
    const [, body = ''] = operations.split(new RegExp(`^ {4}${operation}: \\{\\s+parameters:`, 'm'))
    const { query } = new Reader(body).type()['properties'] as { query: Schema }
    queries.set(path, query)
  }
  return queries
}
