import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OpenApiDocument, Operation } from '../../../read-api/client/document.ts'
import { generateClients } from '../../../read-api/client/generate.ts'
import { tiersOf } from '../../../read-api/http/endpoint.ts'
import type { LoadedEndpoint } from '../../../read-api/http/load-endpoints.ts'
import { stand } from '../stand.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** A call of an operation by its example. */
export interface Call {
  id: string
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  inPath: Record<string, unknown>
  query: Record<string, unknown>
  body?: unknown
  /** Settings without which it is answered with 503. */
  needs: readonly string[]
}

export function everyCall(endpoints: readonly LoadedEndpoint[]): Call[] {
  // What is deleted is asked for before.
  const inTurn = endpoints.toSorted(
    (a, b) => Number(a.endpoint.method === 'delete') - Number(b.endpoint.method === 'delete'),
  )
  return inTurn.flatMap(({ endpoint }) =>
    tiersOf(endpoint).map(tier => {
      const document = JSON.parse(
        readFileSync(join(ROOT, `docs/openapi/${tier}.json`), 'utf8'),
      ) as OpenApiDocument
      const path = `/${tier}${endpoint.path}`
      const operation = document.paths[path]?.[endpoint.method]
      if (!operation) throw new Error(`${path} is in no document`)
      const { params = {}, query = {}, body } = endpoint.example
      return {
        id: operation.operationId,
        method: endpoint.method.toUpperCase() as Call['method'],
        path,
        inPath: typed(operation, params),
        query: typed(operation, query),
        ...(body === undefined ? {} : { body }),
        needs: endpoint.needs ?? [],
      }
    }),
  )
}

/** Values as the document has them, where the example has texts. */
function typed(
  { parameters = [] }: Operation,
  values: Readonly<Record<string, string | string[]>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const { type } = parameters.find(one => one.name === name)?.schema ?? {}
      const texts = (Array.isArray(value) ? value : [value]).map(one => stand[one] ?? one)
      const [text = ''] = texts
      if (type === 'array') return [name, texts]
      if (type === 'integer' || type === 'number') return [name, Number(text)]
      return [name, type === 'boolean' ? text === 'true' : text]
    }),
  )
}

/** A folder with both clients and programs that call every operation. */
export function writePrograms(calls: readonly Call[]): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'vaultlog-clients-'))
  generateClients(folder)
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'program.ts'), typescriptProgram(calls))
  writeFileSync(join(folder, 'program.py'), PYTHON_PROGRAM)
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function typescriptProgram(calls: readonly Call[]): string {
  const each = calls.map(({ id, method, path, inPath, query, body }) => {
    const request = {
      params: {
        ...(Object.keys(inPath).length > 0 ? { path: inPath } : {}),
        ...(Object.keys(query).length > 0 ? { query } : {}),
      },
      ...(body === undefined ? {} : { body }),
    }
    return `note(${JSON.stringify(id)}, await client.${method}(${JSON.stringify(path)}, ${JSON.stringify(request)}))\n`
  })
  return `import { createClient, type schemas } from './typescript/index.js'

const client = createClient({ baseUrl: process.env['BASE_URL'] ?? '', apiKey: process.env['API_KEY'] ?? '' })
const said: Record<string, unknown> = {}
function note(id: string, { response, data, error }: { response: Response; data?: unknown; error?: unknown }) {
  said[id] = { status: response.status, data: data ?? error }
}

/** Never called: what it does wrong has to be seen before it runs. */
export async function wrong() {
  // @ts-expect-error there is no such parameter
  await client.GET('/v2/detailed-vaults', { params: { query: { perpage: 5 } } })
  // @ts-expect-error there is no such path
  await client.GET('/v2/vault', {})
  // @ts-expect-error the path takes no POST
  await client.POST('/v2/vaults', {})
  // @ts-expect-error the network is wanted
  await client.GET('/v2/benchmarks/{network}', { params: { query: { code: 'usd' } } })
  const { data } = await client.GET('/v2/detailed-vaults', {})
  const right: string | undefined = data?.data[0]?.tvl.native
  // @ts-expect-error an amount is a text
  const amount: number | undefined = data?.data[0]?.tvl.native
  const tvl: schemas['Tvl'] | undefined = data?.data[0]?.tvl
  return [right, amount, tvl]
}

${each.join('')}
console.log(JSON.stringify(said))
`
}

const PYTHON_PROGRAM = `import json
import os
import sys

sys.path.insert(0, "python")
from vaultlog_client import VaultlogClient, VaultlogError

client = VaultlogClient(os.environ["BASE_URL"], os.environ["API_KEY"])
said = {}
for call in json.load(sys.stdin):
    try:
        answer = getattr(client, call["id"].replace("-", "_"))(**call["arguments"])
        said[call["id"]] = {"status": 200, "data": answer.data, "asOf": dict(answer.as_of_block), "used": answer.credits_used}
    except VaultlogError as error:
        said[call["id"]] = {"status": error.status, "data": {"message": error.message, "errorId": error.error_id}}
json.dump(said, sys.stdout)
`

export const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))']).status === 0
