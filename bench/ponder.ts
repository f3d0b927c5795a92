import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Node } from '../test/chain/node.ts'
import type { Stage } from './bench.ts'

export const PONDER_VERSION = '0.16.10'

/** Installed for the bench, not dependencies of ours. */
const PACKAGES = { ponder: PONDER_VERSION, viem: '2.57.1', hono: '4.12.9' }

/** What is to be indexed: logs of one vault. */
interface Ranged {
  vault: string
  first: number
  last: number
  logs: number
}

/** Installs Ponder from the registry into a folder of its own, once for a run of the bench. */
export async function installPonder(stage: Stage): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-bench-ponder-'))
  stage.afterwards(() => rm(folder, { recursive: true, force: true }))
  const files = {
    'package.json': JSON.stringify({
      private: true,
      type: 'module',
      dependencies: PACKAGES,
      overrides: { viem: PACKAGES.viem },
    }),
    'ponder.config.ts': `import { createConfig } from 'ponder'
import { parseAbi } from 'viem'
export default createConfig({
  database: { kind: 'postgres', connectionString: process.env.DATABASE_URL },
  chains: { mainnet: { id: 1, rpc: process.env.RPC_URL, maxRequestsPerSecond: 100_000 } },
  contracts: {
    Vault: {
      chain: 'mainnet',
      abi: parseAbi([
        'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
        'event Transfer(address indexed from, address indexed to, uint256 value)',
      ]),
      address: process.env.VAULT,
      startBlock: Number(process.env.FIRST),
      endBlock: Number(process.env.LAST),
    },
  },
})
`,
    'ponder.schema.ts': `import { onchainTable } from 'ponder'
export const entry = onchainTable('entry', t => ({
  id: t.text().primaryKey(),
  kind: t.text().notNull(),
  account: t.hex().notNull(),
  assets: t.bigint(),
  shares: t.bigint().notNull(),
}))
`,
    'src/index.ts': `import { ponder } from 'ponder:registry'
import { entry } from 'ponder:schema'
ponder.on('Vault:Deposit', async ({ event, context }) => {
  const { owner, assets, shares } = event.args
  await context.db.insert(entry).values({ id: event.id, kind: 'deposit', account: owner, assets, shares })
})
ponder.on('Vault:Transfer', async ({ event, context }) => {
  await context.db.insert(entry).values({ id: event.id, kind: 'transfer', account: event.args.to, shares: event.args.value })
})
`,
    'src/api/index.ts': `import { Hono } from 'hono'
export default new Hono()
`,
  }
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  stage.say(`installing Ponder ${PACKAGES.ponder}`)
  const install = spawn(
    'npm',
    ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  const [code] = await once(install, 'close')
  if (code !== 0) throw new TypeError(`npm install of Ponder ended with ${code}`)
  return folder
}

/** Has Ponder index the range into tables of a database of its own: from its first request to the last row. */
export async function indexWithPonder(
  stage: Stage,
  folder: string,
  node: Node,
  range: Ranged,
): Promise<{ ms: number }> {
  const { pool, url } = await stage.postgres()
  const child = spawn(
    join(folder, 'node_modules/.bin/ponder'),
    ['start', '--schema', 'ponder', '--log-format', 'json', '--port', '0'],
    {
      cwd: folder,
      env: {
        ...process.env,
        DATABASE_URL: url,
        RPC_URL: node.rpcUrl,
        VAULT: range.vault,
        FIRST: String(range.first),
        LAST: String(range.last),
        PONDER_TELEMETRY_DISABLED: '1',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  let began = 0
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk
    if (began === 0 && /"Started/.test(said)) began = performance.now()
  })
  try {
    for (;;) {
      if (child.exitCode !== null) throw new TypeError(`Ponder ended: ${said.slice(-2000)}`)
      const { rows } = await pool
        .query<{ count: number }>('SELECT count(*)::int AS count FROM ponder.entry')
        .catch(() => ({ rows: [] }))
      if (rows[0]?.count === range.logs) return { ms: performance.now() - began }
      await setTimeout(50)
    }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
}
