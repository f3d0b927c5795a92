import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { LOADER, scriptOf } from '../../db/process/script.ts'
import { type Node, startNode } from '../chain/node.ts'

let node: Node
let other: Node
let folder: string
beforeAll(async () => {
  node = await startNode()
  other = await startNode({ chainId: 8453 })
})
afterAll(async () => {
  await node?.stop()
  await other?.stop()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-init-'))
  return () => rm(folder, { recursive: true, force: true })
})

/** `vaultlog init` in an empty folder, with these answers. */
async function init(answers: readonly string[], ...args: string[]) {
  const child = spawn(process.execPath, [...LOADER, scriptOf('jobs/cli'), 'init', ...args], { cwd: folder })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk
    })
  child.stdin.end(answers.map(answer => `${answer}\n`).join(''))
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { code, said }
}

const written = () => readFile(join(folder, '.env'), 'utf8')

test('asks for networks and nodes until the answers are right, and writes an .env that explains itself', async () => {
  const ws = node.rpcUrl.replace('http', 'ws')
  const { code, said } = await init([
    'mainnett',
    'Mainnet, base',
    'node.example',
    'http://127.0.0.1:1',
    other.rpcUrl,
    `${ws}, ${node.rpcUrl}`,
    'n',
    other.rpcUrl,
    '',
  ])
  expect({ code, said }).toMatchObject({ code: 0 })
  expect(said).toContain('did you mean mainnet?')
  expect(said).toContain('It must begin with http://')
  expect(said).toContain('It does not answer as a node does')
  expect(said).toContain('It is a node of chain 8453; mainnet is 1.')
  expect(said.match(/a node of mainnet, at block \d+, .* an archive/g)).toHaveLength(2)
  expect(said).toContain('Wrote .env with 2 networks')
  const text = await written()
  const example = await readFile(new URL('../../.env.example', import.meta.url), 'utf8')
  const expected = {
    ...parseEnv(example),
    RPC_MAINNET: `${ws},${node.rpcUrl}`,
    RPC_BASE: other.rpcUrl,
    PORTAL_BASE: 'sqd',
  }
  expect(parseEnv(text)).toEqual(expected)
  expect(text).toContain('# First block to index; unset')
  expect((await stat(join(folder, '.env'))).mode & 0o777).toBe(0o600)
})

test('writes nothing over an .env that is there, nor where the answers end', async () => {
  await writeFile(join(folder, '.env'), 'LOG_LEVEL=warn\n')
  const refused = await init(['mainnet'])
  expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('There is an .env here already') })
  const ended = await init(['mainnet'], '--force')
  expect(ended).toMatchObject({ code: 1, said: expect.stringContaining('nothing was written') })
  expect(await written()).toBe('LOG_LEVEL=warn\n')
  const forced = await init(['mainnet', node.rpcUrl, ''], '--force')
  expect(forced).toMatchObject({ code: 0 })
  expect(parseEnv(await written())).toMatchObject({ RPC_MAINNET: node.rpcUrl, PORTAL_MAINNET: 'sqd' })
})
