import type { Fact } from '../../db/registry/registry.ts'
import type { Scenario } from './scenario.ts'

/** What .vaultlog/demo.json holds: all that tests, benches and people's scripts need of a running demo. */
export interface DemoFile {
  baseUrl: string
  apiKey: string
  adminKey: string
  network: string
  vaults: { vaultId: string; asset: string; kind: string }[]
  users: string[]
  markets: { marketId: string; assetIds: string[] }[]
  rpcUrl: string
  databaseUrl: string
  clickhouseUrl: string
}

/** Curated facts of the demo chain: which feed prices which asset. */
export function demoFacts(scenario: Scenario): Fact[] {
  return scenario.feeds.map(({ asset, proxy, decimals }) => ({
    subject: `asset:1:${asset.address}`,
    kind: 'feed',
    value: { feed: proxy, decimals },
  }))
}

/** Requests worth trying, as they can be pasted into a shell. */
export function exampleRequests(file: DemoFile, scenario: Scenario): { what: string; curl: string }[] {
  const vault = scenario.vaults[0]?.address
  const user = scenario.users[0]
  const day = (timestamp: number) => new Date(timestamp * 1000).toISOString().slice(0, 10)
  const get = (path: string) => `curl -s -H 'x-api-key: ${file.apiKey}' '${file.baseUrl}${path}'`
  const month = scenario.end - 30 * 86_400
  return [
    { what: 'every vault, largest first', curl: get('/v2/detailed-vaults?sortBy=tvl&sortOrder=desc') },
    { what: 'one vault', curl: get(`/v2/detailed-vaults/mainnet/${vault}`) },
    {
      what: 'its daily APY, TVL and share price',
      curl: get(`/v2/historical/mainnet/${vault}?granularity=1day`),
    },
    {
      what: 'its deposits and redemptions of the last days',
      curl: get(
        `/alpha/historical/mainnet/${vault}/daily-flows?fromDate=${day(month)}&toDate=${day(scenario.end)}`,
      ),
    },
    { what: 'who holds it', curl: get(`/alpha/mainnet/${vault}/holders?perPage=5`) },
    {
      what: 'what a wallet held a month ago, to the last unit',
      curl: get(`/alpha/historical-balances/${user}/${month}`),
    },
    { what: 'which vaults that wallet ever held', curl: get(`/alpha/historical-positions/${user}`) },
    {
      what: 'how deep the share price ever fell',
      curl: `curl -s -X POST -H 'x-api-key: ${file.apiKey}' -H 'content-type: application/json' -d '{"select":{"maxDrawdown":true}}' '${file.baseUrl}/beta/advanced-analytics/mainnet/${vault}'`,
    },
  ]
}
