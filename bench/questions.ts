import type { RawEvent, RawEvents } from './graphql.ts'
import { accountOf, type GeneratedStore } from './store.ts'

/** A question of the read API, and how who has only the event store would answer it. */
export interface Question {
  what: string
  /** Of the n-th request: one about a wallet is about another one each time. */
  path(n: number): string
  /** Asked of event_log in one statement: $1 vault (0x…), $2 account, $3 a moment in the middle, unix seconds. */
  sql: string
  /** Asked of GraphQL, which gives events and no sums: as many rows as the SQL. */
  fold(events: RawEvents): Promise<number>
}

export function questionsOf({ busiest, begins, ends }: GeneratedStore): {
  list: Question[]
  parameters: unknown[]
} {
  const middle = Math.floor((begins + ends) / 2)
  const { vault, account } = busiest
  const moved = `SELECT block_time, lower(data->>'to') AS account, (data->>'shares')::numeric AS shares FROM event_log
      WHERE stream = 1 AND type = 'ShareTransferred' AND contract = decode(substr($1, 3), 'hex')
    UNION ALL SELECT block_time, lower(data->>'from'), -(data->>'shares')::numeric FROM event_log
      WHERE stream = 1 AND type = 'ShareTransferred' AND contract = decode(substr($1, 3), 'hex')`
  const ofVault = (types: string) => `contract_eq: "${vault}", type_in: [${types}]`
  const ofAccount = (end: 'to' | 'from') =>
    `type_eq: "ShareTransferred", data_jsonContains: {${end}: "${account}"}`
  return {
    parameters: [vault, account, middle],
    list: [
      {
        what: 'history page (1 day, a year)',
        path: () =>
          `/v2/historical/mainnet/${vault}?granularity=1day&perPage=100&fromTimestamp=${begins}&toTimestamp=${ends}`,
        sql: `SELECT DISTINCT ON (block_time / 86400) block_time / 86400 AS day, data->>'sharePrice', data->>'totalAssets', data->>'totalSupply'
          FROM event_log WHERE stream = 1 AND type = 'StateSampled' AND contract = decode(substr($1, 3), 'hex')
            AND ($2::text, $3::bigint) IS NOT NULL
          ORDER BY block_time / 86400, position DESC LIMIT 100`,
        async fold(events) {
          const days = new Map<string, RawEvent>()
          for await (const event of events(ofVault('"StateSampled"'))) {
            const day = event.blockTime.slice(0, 10)
            if (days.size === 100 && !days.has(day)) break
            days.set(day, event)
          }
          return days.size
        },
      },
      {
        what: 'daily flows',
        path: () =>
          `/alpha/historical/mainnet/${vault}/daily-flows?fromDate=2025-01-01&toDate=2025-12-31&perPage=100`,
        sql: `SELECT block_time / 86400 AS day, type, sum((data->>'assets')::numeric), count(DISTINCT data->>'owner')
          FROM event_log WHERE stream = 1 AND type IN ('Deposited', 'Redeemed') AND contract = decode(substr($1, 3), 'hex')
            AND ($2::text, $3::bigint) IS NOT NULL
          GROUP BY 1, 2 ORDER BY 1`,
        async fold(events) {
          const days = new Map<string, { assets: bigint; owners: Set<string> }>()
          for await (const { blockTime, type, data } of events(ofVault('"Deposited", "Redeemed"'))) {
            const key = `${blockTime.slice(0, 10)} ${type}`
            const day = days.get(key) ?? { assets: 0n, owners: new Set() }
            days.set(key, day)
            day.assets += BigInt(data['assets'] ?? 0)
            day.owners.add(data['owner'] ?? '')
          }
          return days.size
        },
      },
      {
        what: 'holders page',
        path: () => `/alpha/mainnet/${vault}/holders?perPage=50`,
        sql: `SELECT account, sum(shares) AS balance FROM (${moved}) m WHERE ($2::text, $3::bigint) IS NOT NULL
          GROUP BY account HAVING sum(shares) > 0 ORDER BY balance DESC LIMIT 50`,
        async fold(events) {
          const balances = new Map<string, bigint>()
          for await (const { data } of events(ofVault('"ShareTransferred"'))) {
            const shares = BigInt(data['shares'] ?? 0)
            const { to = '', from = '' } = data
            balances.set(to, (balances.get(to) ?? 0n) + shares)
            balances.set(from, (balances.get(from) ?? 0n) - shares)
          }
          const held = [...balances.values()].filter(balance => balance > 0n)
          return held.sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)).slice(0, 50).length
        },
      },
      {
        what: 'positions of a wallet',
        path: n => `/v2/portfolio/positions/${accountOf(n)}`,
        sql: `SELECT contract, sum(shares) AS balance FROM (
            SELECT contract, (data->>'shares')::numeric AS shares FROM event_log
              WHERE stream = 1 AND type = 'ShareTransferred' AND data->>'to' = $2
            UNION ALL SELECT contract, -(data->>'shares')::numeric FROM event_log
              WHERE stream = 1 AND type = 'ShareTransferred' AND data->>'from' = $2) m
          WHERE ($1::text, $3::bigint) IS NOT NULL GROUP BY contract HAVING sum(shares) > 0`,
        async fold(events) {
          const vaults = new Map<string, bigint>()
          for (const [end, sign] of [
            ['to', 1n],
            ['from', -1n],
          ] as const)
            for await (const { contract, data } of events(ofAccount(end)))
              vaults.set(contract, (vaults.get(contract) ?? 0n) + sign * BigInt(data['shares'] ?? 0))
          return [...vaults.values()].filter(balance => balance > 0n).length
        },
      },
      {
        what: 'balance at a timestamp',
        // Others than those before, of which the API knows by then where they ever held something.
        path: n => `/alpha/historical-balances/${accountOf(400 + n)}/${middle}`,
        sql: `SELECT sum(shares) FROM (${moved}) m WHERE account = $2 AND block_time <= $3`,
        async fold(events) {
          const until = `contract_eq: "${vault}", blockTime_lte: "${new Date(middle * 1000).toISOString()}"`
          let balance = 0n
          for (const [end, sign] of [
            ['to', 1n],
            ['from', -1n],
          ] as const)
            for await (const { data } of events(`${ofAccount(end)}, ${until}`))
              balance += sign * BigInt(data['shares'] ?? 0)
          return balance > 0n ? 1 : 0
        },
      },
    ],
  }
}
