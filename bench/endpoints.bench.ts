import { networkOfChain } from '../db/networks.ts'
import { loadProjections } from '../jobs/projection.ts'
import { catchUpAll } from '../jobs/work.ts'
import { type Endpoint, tiersOf } from '../read-api/http/endpoint.ts'
import { loadEndpoints } from '../read-api/http/load-endpoints.ts'
import { startNode } from '../test/chain/node.ts'
import { appendBlocks, recordFacts } from '../test/read-api/append.ts'
import { burnAfter, seatBridge } from '../test/read-api/cctp/seat.ts'
import { stand } from '../test/read-api/stand.ts'
import { makeSolana, seatSolana } from '../test/read-api/svm/world.ts'
import * as w from '../test/read-api/world.ts'
import { seatWorld } from '../test/read-api/world-on-chain.ts'
import { startApi } from './api.ts'
import { type Bench, percentiles, type Result, type Stage, timed } from './bench.ts'
import { NOW, pegsOf, recordedVaults } from './recorded-vaults.ts'

/** Of one client, one after the other, after a few to warm up. */
const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 150)
const WARM_UP = 10
/** Above the blocks of the made-up chain, which mainnet's recorded vaults are put on top of. */
const FIRST_BLOCK = 10_000

/** The questions that the design has a budget for. */
const BUDGETED =
  /^GET \/(v2\/(detailed-vaults|vaults|assets|historical\/|portfolio\/positions)|alpha\/(historical\/|historical-balances|\{network\}))/

export const bench: Bench = {
  about:
    'Every endpoint that reads, by its example, with the 25,447 recorded vaults and the made-up chain of the tests beside them on ' +
    'mainnet, its contracts on a local node; one client, one request after the other. Each answer is worked out anew (the request ' +
    'names an entity tag that never was); beside it the same request without one, for which the answer may be at hand.',
  async run(stage) {
    const ask = await fillAndStart(stage)
    const results: Result[] = []
    // What asks services that are not configured has nothing to answer; what keeps something of a key takes no thousand of it.
    const endpoints = (await loadEndpoints()).flatMap(({ endpoint }) =>
      endpoint.needs || endpoint.path.startsWith('/webhooks') ? [] : [endpoint],
    )
    for (const endpoint of endpoints) {
      for (const tier of tiersOf(endpoint)) {
        const what = `${endpoint.method.toUpperCase()} /${tier}${endpoint.path}`
        const request = requestOf(tier, endpoint)
        const anew = await sample(() => ask(request, { 'if-none-match': 'W/"none"' }))
        const again = endpoint.cache === 'none' ? undefined : await sample(() => ask(request, {}))
        stage.say(`${what}: ${inWords(anew)}`)
        results.push({
          what: `${what}<br>\`${request.path}\``,
          ours: inWords(anew),
          beside: again ? `at hand: ${inWords(again)}` : '',
          ...(BUDGETED.test(what)
            ? { budget: 'p50 10 ms, p99 50 ms', holds: anew.p50 <= 10 && anew.p99 <= 50 }
            : {}),
        })
      }
    }
    return results
  },
}

interface Asked {
  method: string
  path: string
  body: string | undefined
}

type Ask = (request: Asked, headers: Record<string, string>) => Promise<void>

async function fillAndStart(stage: Stage): Promise<Ask> {
  const { pool, url } = await stage.postgres()
  const clickhouse = await stage.clickhouse()
  const node = await startNode({ hardfork: 'cancun' })
  stage.afterwards(() => node.stop())
  const fixedTerm = await seatWorld(node, { fixedTerm: true })
  const iris = await seatBridge(node)
  stage.afterwards(() => iris.stop())

  const vaults = await recordedVaults(chain => (chain === 1 ? FIRST_BLOCK : 1))
  const projections = await loadProjections()
  await recordFacts(pool, pegsOf(vaults), NOW)
  await w.seed(
    {
      recordFacts: (facts, at) => recordFacts(pool, facts, at),
      append: (chain, name, blocks) => appendBlocks(pool, chain, name, blocks),
      catchUp: async () => {
        await appendBlocks(pool, 1, 'mainnet', [burnAfter({ number: FIRST_BLOCK - 2, timestamp: NOW })])
        for (const [chain, blocks] of vaults)
          await appendBlocks(pool, chain, networkOfChain(chain)?.name ?? '', blocks)
        await catchUpAll({ pool, clickhouse: clickhouse.client, projections })
      },
    },
    w.makeWorld(fixedTerm?.events),
  )
  const solana = await makeSolana()
  stage.afterwards(() => solana.node.close())
  await seatSolana(
    {
      pool,
      recordFacts: (facts, at) => recordFacts(pool, facts, at),
      catchUp: () => catchUpAll({ pool, clickhouse: clickhouse.client, projections }),
    },
    solana,
  )
  const { port, key } = await startApi(
    stage,
    { pool, url, clickhouse },
    { RPC_MAINNET: node.rpcUrl, RPC_SOLANA: solana.node.url, CCTP_URL: iris.url },
  )
  return async ({ method, path, body }, headers) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    })
    const text = await response.text()
    if (response.status !== 200) throw new TypeError(`${path}: ${response.status} ${text}`)
  }
}

function requestOf(tier: string, { method, path, example, query: takes }: Endpoint): Asked {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = example.params?.[name] ?? ''
    return encodeURIComponent(stand[value] ?? value)
  })
  const query = new URLSearchParams(
    Object.entries(example.query ?? {}).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, stand[value] ?? value]),
    ),
  )
  // No registry lists what a bench has.
  if (takes?.shape['allowUnlisted']) query.set('allowUnlisted', 'true')
  return {
    method,
    path: `/${tier}${filled}${query.size > 0 ? `?${query}` : ''}`,
    body: example.body === undefined ? undefined : JSON.stringify(example.body),
  }
}

async function sample(request: () => Promise<void>) {
  for (let i = 0; i < WARM_UP; i++) await request()
  const times: number[] = []
  for (let i = 0; i < REQUESTS; i++) times.push((await timed(request)).ms)
  return percentiles(times)
}

const inWords = ({ p50, p99 }: { p50: number; p99: number }) =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
