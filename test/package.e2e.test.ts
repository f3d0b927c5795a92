import { execFileSync, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from './chain/anvil-process.ts'
import { deployVault, deposit } from './chain/deploy.ts'
import { type Node, startNode } from './chain/node.ts'
import { root } from './faults/command.ts'

/** What `npm pack` makes, beside the dependencies of this checkout, in a folder of somebody who has no repository. */
let node: Node
let folder: string
let files: string[]
let url: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vaultlog-package-'))
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: root, stdio: 'pipe' })
  const [packed] = (await readdir(folder)).filter(name => name.endsWith('.tgz'))
  execFileSync('tar', ['xzf', packed ?? '', '-C', folder], { cwd: folder })
  files = execFileSync('tar', ['tzf', packed ?? ''], { cwd: folder, encoding: 'utf8' })
    .trim()
    .split('\n')
  await symlink(join(root, 'node_modules'), join(folder, 'package/node_modules'))
  await mkdir(join(folder, 'home'))
  node = await startNode()
})
afterAll(async () => {
  await node?.stop()
  await rm(folder, { recursive: true, force: true })
  await rm(join(root, 'dist'), { recursive: true, force: true })
})

function vaultlog(args: string[], { input = '' }: { input?: string } = {}) {
  const child = spawn(process.execPath, [join(folder, 'package/dist/jobs/cli.js'), ...args], {
    cwd: join(folder, 'home'),
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk
    })
  child.stdin.end(input)
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  return { child, said: () => said, ended }
}

const health = () => fetch(`${url}/v2/health`).then(({ status }) => status, String)

async function command(...args: string[]): Promise<string> {
  const { ended, said } = vaultlog(args)
  expect({ code: await ended, said: said() }).toMatchObject({ code: 0 })
  return said()
}

test('the package has JavaScript and what it reads, and neither tests nor sources', () => {
  expect(files).toContain('package/dist/jobs/cli.js')
  expect(files).toContain('package/.env.example')
  expect(files).toContain('package/README.md')
  expect(files.filter(name => /\.ts$|\/test\/|\/bench\//.test(name))).toEqual([])
  for (const read of ['db/migrations/0001_event_store.sql', 'read-api/ops/page.html', 'db/schema.graphql'])
    expect(files).toContain(`package/dist/${read}`)
})

test('it makes an .env, indexes a chain with it, and answers', { timeout: 300_000 }, async () => {
  const vault = await deployVault(node, { symbol: 'PACKED' })
  await deposit(node, { vault, user: node.accounts[1] ?? vault.address, assets: 10n ** 18n })
  const made = vaultlog(['init'], { input: `mainnet\n${node.rpcUrl}\nn\n` })
  expect({ code: await made.ended, said: made.said() }).toMatchObject({ code: 0 })
  const [api, graphql, postgres, clickhouse] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const dotEnv = join(folder, 'home/.env')
  await writeFile(
    dotEnv,
    `\nAPI_PORT=${api}\nGRAPHQL_PORT=${graphql}\nEMBEDDED_POSTGRES_PORT=${postgres}\nEMBEDDED_CLICKHOUSE_PORT=${clickhouse}
PROCESSOR_METRICS_PORT=off\nWORKER_METRICS_PORT=off\nAPI_METRICS_PORT=off\nFINALITY_MAINNET=1\nLOG_FORMAT=json\nSHOW_UNLISTED=true\n`,
    { flag: 'a' },
  )
  const everything = vaultlog(['dev'])
  try {
    url = `http://127.0.0.1:${api}`
    await expect.poll(health, { timeout: 120_000, message: everything.said() }).toBe(200)
    const key = (await command('keys', 'create', 'me')).split('\n').find(line => /^[\w-]{20,}$/.test(line))
    const answer = async () => {
      const asked = await fetch(`${url}/v2/detailed-vaults/mainnet/${vault.address}`, {
        headers: { 'x-api-key': key ?? '' },
      })
      return { status: asked.status, address: ((await asked.json()) as { address?: string }).address }
    }
    await expect.poll(answer, { timeout: 120_000 }).toMatchObject({ status: 200 })
    expect((await answer()).address?.toLowerCase()).toBe(vault.address.toLowerCase())
    const graph = async () => {
      const asked = await fetch(`http://127.0.0.1:${graphql}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ events(limit: 5, where: { type_eq: "Deposited" }) { type } }' }),
      }).catch(() => undefined)
      return asked?.json()
    }
    await expect.poll(graph, { timeout: 60_000 }).toEqual({ data: { events: [{ type: 'Deposited' }] } })
    expect(await command('verify', '--chain', 'mainnet', '--rpc', node.rpcUrl)).toContain('ranges equal')
  } finally {
    everything.child.kill('SIGINT')
  }
  expect({ code: await everything.ended, said: everything.said().slice(-2000) }).toMatchObject({ code: 0 })
})

test('killed, it leaves nothing running', { timeout: 120_000 }, async () => {
  const everything = vaultlog(['dev'])
  await expect.poll(health, { timeout: 60_000 }).toBe(200)
  everything.child.kill('SIGKILL')
  await expect.poll(health, { timeout: 30_000 }).toMatch(/fetch failed/)
})
