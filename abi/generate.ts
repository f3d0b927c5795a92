import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AbiEvent, type AbiFunction, toEventSelector, toEventSignature, toFunctionSelector, toFunctionSignature } from 'viem'
import { z } from 'zod'
import { ConfigError } from '../db/process/errors.ts'

/**
 * Writes <Contract>.ts beside every <Contract>.json of this folder: per event its signature, topic0, layout and a
 * straight-line decoder; per function its selector. `node --import tsx abi/generate.ts` after an ABI has changed.
 */

interface Parameter {
  name?: string | undefined
  type: string
  indexed?: boolean | undefined
  components?: Parameter[] | undefined
}

const parameter: z.ZodType<Parameter> = z.lazy(() =>
  z.object({
    name: z.string().optional(),
    type: z.string(),
    indexed: z.boolean().optional(),
    components: z.array(parameter).optional(),
  }),
)
const entry = z.discriminatedUnion('type', [
  z.object({ type: z.literal('event'), name: z.string(), inputs: z.array(parameter), anonymous: z.literal(false) }),
  z.object({
    type: z.literal('function'),
    name: z.string(),
    stateMutability: z.string(),
    inputs: z.array(parameter),
    outputs: z.array(parameter),
  }),
])
const contractAbi = z.array(entry)

const isDynamic = (type: string) => type === 'string' || type === 'bytes' || type.endsWith('[]')

/** Words that a value takes in the head of an encoding. */
function headWords(p: Parameter): number {
  if (p.type !== 'tuple') return 1
  return (p.components ?? []).reduce((sum, c) => sum + headWords(c), 0)
}

/** The TypeScript expression that reads a value, and the type it has. */
function reader(p: Parameter, hex: string, at: number | string): { code: string; type: string } {
  const number = /^(u?)int(\d+)$/.exec(p.type)
  if (number) {
    const bits = Number(number[2])
    if (number[1] === '') {
      const code = `w.int(${hex}, ${at}, ${bits})`
      return bits <= 48 ? { code: `Number(${code})`, type: 'number' } : { code, type: 'bigint' }
    }
    return bits <= 48
      ? { code: `w.smallUint(${hex}, ${at}, ${bits})`, type: 'number' }
      : { code: `w.uint(${hex}, ${at}, ${bits})`, type: 'bigint' }
  }
  const list = /^uint(\d+)\[\]$/.exec(p.type)
  if (list) return { code: `w.uints(${hex}, ${at}, ${list[1]})`, type: 'bigint[]' }
  const fixed = /^bytes(\d+)$/.exec(p.type)
  if (fixed) return { code: `w.bytes(${hex}, ${at}, ${fixed[1]})`, type: 'string' }
  switch (p.type) {
    case 'address':
      return { code: `w.address(${hex}, ${at})`, type: 'string' }
    case 'bool':
      return { code: `w.bool(${hex}, ${at})`, type: 'boolean' }
    case 'string':
      return { code: `w.text(${hex}, ${at})`, type: 'string' }
    case 'bytes':
      return { code: `w.dynamicBytes(${hex}, ${at})`, type: 'string' }
    case 'tuple': {
      let offset = Number(at)
      const fields = (p.components ?? []).map((c, i) => {
        if (isDynamic(c.type)) throw new ConfigError(`Dynamic member ${c.name} of a tuple is not supported by abi/generate.ts`)
        const field = { name: c.name || `arg${i}`, ...reader(c, hex, offset) }
        offset += 64 * headWords(c)
        return field
      })
      return {
        code: `{ ${fields.map(f => `${f.name}: ${f.code}`).join(', ')} }`,
        type: `{ ${fields.map(f => `${f.name}: ${f.type}`).join('; ')} }`,
      }
    }
    default:
      throw new ConfigError(`ABI type ${p.type} is not supported by abi/generate.ts`)
  }
}

function eventCode(event: z.infer<typeof entry> & { type: 'event' }, exportName: string): string {
  let topic = 1
  let at = 2
  let head = 0
  let dynamic = 0
  const fields = event.inputs.map((input, i) => {
    const name = input.name || `arg${i}`
    if (input.indexed) {
      const hex = `w.topic(log, ${topic++})`
      // Of an indexed value of dynamic size the chain keeps only the hash.
      if (isDynamic(input.type) || input.type === 'tuple') return { name, code: hex, type: 'string' }
      return { name, ...(input.type === 'bytes32' ? { code: hex, type: 'string' } : reader(input, hex, 2)) }
    }
    const field = { name, ...reader(input, 'log.data', at) }
    if (isDynamic(input.type)) dynamic++
    at += 64 * headWords(input)
    head += 32 * headWords(input)
    return field
  })
  const signature = toEventSignature(event as AbiEvent)
  const length = dynamic === 0 ? `${head}` : `{ min: ${head + 32 * dynamic} }`
  const type = `{ ${fields.map(f => `${f.name}: ${f.type}`).join('; ')} }`
  return [
    `export const ${exportName}: w.EventAbi<${type}> = {`,
    `  name: '${event.name}',`,
    `  signature: '${signature}',`,
    `  topic0: '${toEventSelector(event as AbiEvent)}',`,
    `  topicCount: ${topic},`,
    `  dataLength: ${length},`,
    '  decode: log => ({',
    ...fields.map(f => `    ${f.name}: ${f.code},`),
    '  }),',
    '}',
    '',
  ].join('\n')
}

function functionCode(fn: z.infer<typeof entry> & { type: 'function' }): string {
  const inputs = fn.inputs.map(i => `'${i.type}'`).join(', ')
  const signature = toFunctionSignature(fn as AbiFunction)
  return `  ${fn.name}: { signature: '${signature}', selector: '${toFunctionSelector(fn as AbiFunction)}', inputs: [${inputs}] },`
}

/** The TypeScript module of one contract. Pure. */
export function generate(contract: string, json: unknown): string {
  const abi = contractAbi.parse(json)
  const events = abi.filter(e => e.type === 'event')
  const functions = abi.filter(e => e.type === 'function')
  const used = new Map<string, number>()
  const names = events.map(e => {
    const n = (used.get(e.name) ?? 0) + 1
    used.set(e.name, n)
    return n === 1 ? e.name : `${e.name}_${n}`
  })
  const parts = [`// Generated from ${contract}.json by abi/generate.ts. Do not edit.`, "import * as w from '../words.ts'", '']
  if (events.length === 0) parts[1] = "import type * as w from '../words.ts'"
  events.forEach((e, i) => {
    parts.push(eventCode(e, names[i] ?? e.name))
  })
  if (events.length > 0) parts.push(`export const events = [${names.join(', ')}] as const`, '')
  if (functions.length > 0) {
    parts.push('export const functions = {', ...functions.map(functionCode), '} as const satisfies Record<string, w.FunctionAbi>', '')
  }
  return parts.join('\n')
}

/** Every ABI of the folder: its path without extension and its parsed JSON. */
export function contracts(folder = import.meta.dirname): { path: string; family: string; contract: string; json: unknown }[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(d => d.isDirectory())
    .flatMap(family =>
      readdirSync(join(folder, family.name))
        .filter(f => f.endsWith('.json'))
        .sort()
        .map(f => {
          const contract = f.slice(0, -'.json'.length)
          const path = join(folder, family.name, contract)
          return { path, family: family.name, contract, json: JSON.parse(readFileSync(`${path}.json`, 'utf8')) as unknown }
        }),
    )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const { path, contract, json } of contracts()) writeFileSync(`${path}.ts`, generate(contract, json))
}
