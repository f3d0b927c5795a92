import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { openClickHouse } from '../db/clickhouse/client.ts'
import { migrateClickHouse } from '../db/clickhouse/migrate.ts'
import { startEmbedded } from '../db/embedded/up.ts'
import { createKey } from '../db/keys/keys.ts'
import { networkOfChain } from '../db/networks.ts'
import { migratePostgres, openPostgres } from '../db/postgres.ts'
import { readEnv } from '../db/process/env.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { appendBlocks, recordFacts } from '../test/read-api/append.ts'
import { measure } from './load.ts'
import { NOW, pegsOf, recordedVaults } from './recorded-vaults.ts'

/**
 * The list endpoint over the real vaults of RECORDINGS_DIR (25,447 of them), beside a bare Express route that sends the
 * same bytes: `node --import tsx bench/read.ts [--seconds 4]`. Both in processes of their own, measured in turns.
 */
const seconds = Number(process.argv[process.argv.indexOf('--seconds') + 1]) || 4
const LIST =
  '/v2/detailed-vaults?allowedAssets=USDC,USDT,WETH&minTvl=1000&sortBy=apy7day&sortOrder=desc&perPage=10'

/** What there is to be compared with: one route, one ready buffer. */
async function bare(file: string): Promise<void> {
  const body = await readFile(file)
  const app = express()
  app.get('/list', (_request, response) => {
    response.type('application/json').send(body)
  })
  app.listen(Number(process.env['PORT']), () => console.info('listening'))
}

const freePort = () =>
  new Promise<number>(resolve => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })

async function started(args: string[], env: Record<string, string>, ready: RegExp): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => ready.test(chunk.toString()) && resolve()
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('exit', code => reject(new TypeError(`${args.join(' ')} ended with ${code}`)))
  })
  return child
}

/** With the processor time of a process per request, µs: what a busy machine does not change. */
async function withCpu<T extends { requests: number }>(
  child: ChildProcess | undefined,
  work: () => Promise<T>,
): Promise<T & { cpu: number }> {
  const ticks = async () => {
    const stat = await readFile(`/proc/${child?.pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  }
  const before = await ticks()
  const measured = await work()
  // Linux counts in hundredths of a second.
  return { ...measured, cpu: (((await ticks()) - before) * 10_000) / Math.max(1, measured.requests) }
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-bench-'))
  const env = readEnv({
    ...process.env,
    VAULTLOG_DIR: folder,
    EMBEDDED_POSTGRES_PORT: String(await freePort()),
    EMBEDDED_CLICKHOUSE_PORT: String(await freePort()),
  })
  const embedded = await startEmbedded(env)
  const pool = openPostgres(embedded.databaseUrl, 'bench', 4)
  const house = openClickHouse({ url: embedded.clickhouseUrl, database: env.CLICKHOUSE_DATABASE })
  const children: ChildProcess[] = []
  try {
    await migratePostgres(pool)
    await migrateClickHouse(house)
    const vaults = await recordedVaults()
    for (const [chain, blocks] of vaults)
      await appendBlocks(pool, chain, networkOfChain(chain)?.name ?? '', blocks)
    await recordFacts(pool, pegsOf(vaults), NOW)
    await catchUpAll({ pool, clickhouse: house.client, projections: await loadProjections() })
    const { key } = await createKey(pool, { name: 'bench', plan: 'unlimited' })

    const [apiPort, barePort] = [await freePort(), await freePort()]
    const common = {
      VAULTLOG_DIR: folder,
      DATABASE_URL: embedded.databaseUrl,
      CLICKHOUSE_URL: embedded.clickhouseUrl,
      NODE_ENV: 'production',
    }
    const prof = process.env['BENCH_PROFILE']
      ? ['--cpu-prof', `--cpu-prof-dir=${process.env['BENCH_PROFILE']}`]
      : []
    children.push(
      await started(
        [...prof, 'read-api/main.ts'],
        { ...common, API_PORT: String(apiPort), LOG_LEVEL: 'info' },
        /listening/,
      ),
    )
    const headers = { 'x-api-key': key }
    const answer = await fetch(`http://127.0.0.1:${apiPort}${LIST}`, { headers })
    const text = await answer.text()
    const body = join(folder, 'body.json')
    await writeFile(body, text)
    children.push(
      await started(['bench/read.ts', 'bare', body], { ...common, PORT: String(barePort) }, /listening/),
    )
    const { itemsOnPage } = JSON.parse(text)
    console.info(`${LIST}: ${answer.status}, ${itemsOnPage} vaults, ${text.length} characters`)

    const paced = await measure({
      port: apiPort,
      path: LIST,
      headers,
      connections: 32,
      seconds: seconds * 2,
      rate: 200,
    })
    console.info(
      `200 requests/s: p50 ${paced.p50.toFixed(2)} ms, p99 ${paced.p99.toFixed(2)} ms`,
      paced.statuses,
    )
    for (let round = 1; round <= 3; round++) {
      const ours = await withCpu(children[0], () =>
        measure({ port: apiPort, path: LIST, headers, connections: 64, seconds }),
      )
      const plain = await withCpu(children[1], () =>
        measure({ port: barePort, path: '/list', connections: 64, seconds }),
      )
      const ratio = (ours.perSecond / plain.perSecond).toFixed(2)
      console.info(
        `round ${round}: ${ours.perSecond.toFixed(0)}/s of ${ours.cpu.toFixed(0)} µs, bare ${plain.perSecond.toFixed(0)}/s of ${plain.cpu.toFixed(0)} µs; ratio ${ratio}, of processor time ${(plain.cpu / ours.cpu).toFixed(2)}`,
        ours.statuses,
      )
    }
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(
      children.map(child => child.exitCode ?? new Promise(resolve => child.once('exit', resolve))),
    )
    await house.close()
    await pool.end()
    await embedded.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

if (process.argv[2] === 'bare') await bare(process.argv[3] ?? '')
else await main()
