import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import express from 'express'
import { z } from 'zod'
import { openClickHouse } from '../db/clickhouse/client.ts'
import { migrateClickHouse } from '../db/clickhouse/migrate.ts'
import { startEmbedded } from '../db/embedded/up.ts'
import type { BlockEvents } from '../db/events/event-store.ts'
import { appendEvents, appendFacts, lockStreamHead, registerStream } from '../db/events/event-store.ts'
import type { DomainEvent } from '../db/events/vocabulary.ts'
import { createKey } from '../db/keys/keys.ts'
import { networkOfChain } from '../db/networks.ts'
import { inTransaction, migratePostgres, openPostgres } from '../db/postgres.ts'
import { readEnv } from '../db/process/env.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { measure } from './load.ts'

/**
 * The list endpoint over the real vaults of RECORDINGS_DIR (25,447 of them), beside a bare Express route that sends the
 * same bytes: `node --import tsx bench/read.ts [--seconds 4]`. Both in processes of their own, measured in turns.
 */
const recordings = process.env['RECORDINGS_DIR'] ?? join(import.meta.dirname, '../../shared/data')
const seconds = Number(process.argv[process.argv.indexOf('--seconds') + 1]) || 4
const LIST =
  '/v2/detailed-vaults?allowedAssets=USDC,USDT,WETH&minTvl=1000&sortBy=apy7day&sortOrder=desc&perPage=10'
const HOUR = 3_600
const NOW = 1_765_000_800

const row = z.object({
  spec: z.object({ chain_id: z.number(), vault_address: z.string() }),
  row: z.object({
    Name: z.string().nullish(),
    Protocol: z.string().nullish(),
    NAV: z.union([z.string(), z.number()]).nullish(),
    Shares: z.union([z.string(), z.number()]).nullish(),
    _denomination_token: z
      .object({
        name: z.string().nullish(),
        symbol: z.string().nullish(),
        decimals: z.number().nullish(),
        address: z.string(),
      })
      .nullish(),
    _share_token: z.object({ symbol: z.string().nullish(), decimals: z.number().nullish() }).nullish(),
  }),
})

/** What there is to be compared with: one route, one ready buffer. */
async function bare(file: string): Promise<void> {
  const body = await readFile(file)
  const app = express()
  app.get('/list', (_request, response) => {
    response.type('application/json').send(body)
  })
  app.listen(Number(process.env['PORT']), () => console.info('listening'))
}

function digits(value: string | number | null | undefined, decimals: number): bigint {
  const [whole = '0', fraction = ''] = String(value ?? '').split('.')
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(fraction)) return 0n
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

async function vaultsByChain(): Promise<Map<number, BlockEvents[]>> {
  const lines = gunzipSync(await readFile(join(recordings, 'vaults/vault_metadata.jsonl.gz')))
    .toString('utf8')
    .trim()
    .split('\n')
  const found = new Map<number, DomainEvent[][]>()
  for (const line of lines) {
    const { spec, row: known } = row.parse(JSON.parse(line))
    if (!networkOfChain(spec.chain_id) || !known._denomination_token) continue
    const vault = spec.vault_address.toLowerCase()
    const decimals = known._share_token?.decimals ?? 18
    const assetDecimals = known._denomination_token.decimals ?? 18
    if (decimals > 36 || assetDecimals > 36) continue
    const totalAssets = digits(known.NAV, assetDecimals)
    const totalSupply = digits(known.Shares, decimals)
    const price =
      totalSupply > 0n ? (totalAssets * 10n ** BigInt(decimals)) / totalSupply : 10n ** BigInt(assetDecimals)
    const growth = BigInt(`0x${vault.slice(-4)}`) % 40n
    const [discovered, ...hours] = found.get(spec.chain_id) ?? [[], ...Array.from({ length: 26 }, () => [])]
    found.set(spec.chain_id, [discovered ?? [], ...hours])
    discovered?.push({
      type: 'VaultDiscovered',
      contract: vault,
      data: {
        vault,
        protocol: known.Protocol ?? 'erc4626',
        name: known.Name ?? '',
        symbol: known._share_token?.symbol ?? '',
        decimals,
        asset: known._denomination_token.address.toLowerCase(),
        assetName: known._denomination_token.name ?? '',
        assetSymbol: known._denomination_token.symbol ?? '',
        assetDecimals,
      },
    })
    for (const i of [0, 24, 25]) {
      hours[i]?.push({
        type: 'StateSampled',
        contract: vault,
        data: {
          vault,
          reason: 'hourly',
          totalAssets,
          totalSupply,
          sharePrice: price + (price * growth * BigInt(i)) / 1_000_000n,
          decimals,
          assetDecimals,
        },
      })
    }
    hours[0]?.push({
      type: 'ShareTransferred',
      contract: vault,
      transactionHash: `0x${'1'.repeat(64)}`,
      logIndex: hours[0].length,
      data: { from: `0x${'0'.repeat(40)}`, to: `0x${vault.slice(2, 42)}`, shares: totalSupply },
    })
  }
  return new Map(
    [...found].map(([chain, parts]) => [
      chain,
      parts.map((events, i) => ({
        block: {
          number: i + 1,
          hash: `0x${(i + 1).toString(16).padStart(64, '0')}`,
          timestamp: NOW - (26 - i) * HOUR,
        },
        events,
      })),
    ]),
  )
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
    const assets = new Map<string, string>()
    for (const [chain, blocks] of await vaultsByChain()) {
      const name = networkOfChain(chain)?.name ?? ''
      await registerStream(pool, chain, name, 'chain')
      await inTransaction(pool, async tx => {
        const head = await appendEvents(tx, chain, await lockStreamHead(tx, chain), blocks)
        const last = blocks.at(-1)?.block
        await tx.query(
          'UPDATE stream SET head = $2, head_height = $3, final_height = $3, head_time = $4 WHERE id = $1',
          [chain, head, last?.number ?? 0, last?.timestamp ?? 0],
        )
      })
      for (const { data } of blocks[0]?.events ?? []) {
        if (!('assetSymbol' in data)) continue
        const usd = /USD|DAI/i.test(data.assetSymbol)
          ? '1'
          : /ETH/i.test(data.assetSymbol)
            ? '3000'
            : undefined
        if (usd) assets.set(`asset:${chain}:${data.asset}`, usd)
      }
    }
    await registerStream(pool, 0, 'registry', 'registry')
    await inTransaction(pool, tx =>
      appendFacts(
        tx,
        0,
        [...assets].map(([subject, usd]) => ({
          type: 'FactRecorded',
          contract: '',
          data: { subject, kind: 'peg', value: JSON.stringify({ usd }) },
        })),
        NOW,
      ),
    )
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
