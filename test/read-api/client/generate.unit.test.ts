import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { type Call, everyCall, hasPython, writePrograms } from './programs.ts'

let calls: Call[]
let written: ReturnType<typeof writePrograms>
beforeAll(async () => {
  calls = everyCall(await loadEndpoints())
  written = writePrograms(calls)
})
afterAll(() => written?.remove())

it('a program that calls every operation type-checks, and one that calls wrongly does not', () => {
  expect(calls.length).toBeGreaterThan(70)
  const tsc = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')
  const checked = spawnSync(process.execPath, [tsc, '-p', written.folder], { encoding: 'utf8' })
  expect(checked.stdout).toBe('')
  expect(checked.status).toBe(0)
})

// Skipped where there is no Python from 3.11.
it.skipIf(!hasPython)('the types in Python hold, and there is a method for each operation', () => {
  const program = `
import inspect, json, typing
from vaultlog_client import Answer, VaultlogClient, types
count = 0
for value in vars(types).values():
    if typing.is_typeddict(value) and value is not typing.TypedDict:
        typing.get_type_hints(value, include_extras=True)
        count += 1
methods = {}
for name, method in inspect.getmembers(VaultlogClient, inspect.isfunction):
    if not name.startswith("_"):
        hints = typing.get_type_hints(method)
        assert typing.get_origin(hints["return"]) is Answer, name
        methods[name] = sorted(set(hints) - {"return"})
print(json.dumps([count, methods]))
`
  const ran = spawnSync('python3', ['-W', 'error', '-c', program], {
    cwd: join(written.folder, 'python'),
    encoding: 'utf8',
  })
  expect(ran.stderr).toBe('')
  const [count, methods] = JSON.parse(ran.stdout) as [number, Record<string, string[]>]
  expect(count).toBeGreaterThan(100)
  expect(Object.keys(methods)).toEqual(calls.map(({ id }) => id.replaceAll('-', '_')).sort())
  for (const { id, inPath, query } of calls)
    expect(methods[id.replaceAll('-', '_')]).toEqual(
      expect.arrayContaining([...Object.keys(inPath), ...Object.keys(query)]),
    )
})
