import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { networkOfChain } from '../db/networks.ts'
import { recordFacts } from '../db/registry/registry.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { freePort } from '../test/chain/anvil-process.ts'
import { start } from '../test/faults/command.ts'
import { appendBlocks } from '../test/read-api/append.ts'
import { startApi } from './api.ts'
import { type Bench, peakMemory, type Result, type Stage } from './bench.ts'
import { measure } from './load.ts'
import { NOW, pegsOf, recordedVaults } from './recorded-vaults.ts'

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5)
const ROUNDS = 3
const LIST =
  '/v2/detailed-vaults?allowedAssets=USDC,USDT,WETH&minTvl=1000&sortBy=apy7day&sortOrder=desc&perPage=10'

export const bench: Bench = {
  about:
    `The list endpoint over the 25,447 recorded vaults (\`${LIST}\`), beside a bare Express route that sends the same bytes ` +
    'from a ready buffer; each in a process of its own, measured in turns by 64 connections, the round in the middle of three.',
  async run(stage) {
    const { api, port, key } = await fillAndStart(stage)
    const headers = { 'x-api-key': key }
    const answer = await fetch(`http://127.0.0.1:${port}${LIST}`, { headers })
    const text = await answer.text()
    if (!answer.ok) throw new TypeError(`${answer.status} ${text}`)
    const barePort = await startBare(stage, text)

    const paced = await measure({
      port,
      path: LIST,
      headers,
      connections: 32,
      seconds: 2 * SECONDS,
      rate: 200,
    })
    expectOk(paced.statuses)
    const rounds: { ours: number; bare: number; ratio: number }[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const load = { connections: 64, seconds: SECONDS }
      const ours = await measure({ ...load, port, path: LIST, headers })
      expectOk(ours.statuses)
      const bare = await measure({ ...load, port: barePort, path: '/list' })
      rounds.push({ ours: ours.perSecond, bare: bare.perSecond, ratio: ours.perSecond / bare.perSecond })
      stage.say(`round ${round}: ${ours.perSecond.toFixed(0)}/s, bare ${bare.perSecond.toFixed(0)}/s`)
    }
    const middle = rounds.sort((a, b) => a.ratio - b.ratio)[Math.floor(ROUNDS / 2)]
    if (!middle) return []
    const memory = await peakMemory(api.child.pid)
    return [
      {
        what: 'list at 200 requests/s',
        ours: `p50 ${paced.p50.toFixed(1)} ms, p99 ${paced.p99.toFixed(1)} ms`,
        budget: 'p99 10 ms',
        holds: paced.p99 <= 10,
      },
      {
        what: `list of ${text.length.toLocaleString('en')} bytes, as fast as it goes`,
        ours: `${middle.ours.toFixed(0)}/s`,
        beside: `bare Express ${middle.bare.toFixed(0)}/s`,
        ratio: middle.ratio,
        budget: '0.7',
        holds: middle.ratio >= 0.7,
      },
      ...(memory === undefined
        ? []
        : [
            {
              what: 'memory of the API at its peak',
              ours: `${memory.toFixed(0)} MiB`,
              budget: '512 MiB',
              holds: memory <= 512,
            } satisfies Result,
          ]),
    ]
  },
}

function expectOk(statuses: Record<string, number>): void {
  if (Object.keys(statuses).some(status => status !== '200'))
    throw new TypeError(`answers of ${JSON.stringify(statuses)}`)
}

async function fillAndStart(stage: Stage): ReturnType<typeof startApi> {
  const { pool, url } = await stage.postgres()
  const clickhouse = await stage.clickhouse()
  const vaults = await recordedVaults()
  for (const [chain, blocks] of vaults)
    await appendBlocks(pool, chain, networkOfChain(chain)?.name ?? '', blocks)
  await recordFacts(pool, pegsOf(vaults), NOW)
  await catchUpAll({ pool, clickhouse: clickhouse.client, projections: await loadProjections() })
  return startApi(stage, { pool, url, clickhouse })
}

async function startBare(stage: Stage, text: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'vaultlog-bench-'))
  const body = join(folder, 'body.json')
  await writeFile(body, text)
  const port = await freePort()
  const bare = start(['bench/bare-route.ts', body, String(port)], { NODE_ENV: 'production' })
  stage.afterwards(async () => {
    bare.child.kill('SIGTERM')
    await bare.ended
    await rm(folder, { recursive: true, force: true })
  })
  await bare.until(/listening/)
  return port
}
