import { Counter, Histogram } from 'prom-client'
import { registry } from '../../db/process/metrics.ts'

const registers = [registry]

const requestDuration = new Histogram({
  name: 'vaultlog_http_request_duration_seconds',
  help: 'Requests by pattern of the route, method and status; 499: the caller went away',
  labelNames: ['route', 'method', 'status'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  registers,
})
const queryDuration = new Histogram({
  name: 'vaultlog_clickhouse_query_duration_seconds',
  help: 'Queries of the API to ClickHouse, rows received, by the name they carry as log_comment',
  labelNames: ['query'] as const,
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  registers,
})
export const creditsCharged = new Counter({
  name: 'vaultlog_credits_charged_total',
  help: 'Credits booked on keys',
  labelNames: ['plan'] as const,
  registers,
})
/** Anything may be sent as a method; what is not one of these would be a label of the caller's making. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'])

/** `route`: the pattern (`/v2/vaults/{network}`), undefined where none matched. */
export function observeRequest(
  route: string | undefined,
  method: string,
  status: number,
  seconds: number,
): void {
  requestDuration.observe(
    { route: route ?? 'none', method: METHODS.has(method) ? method : 'other', status },
    seconds,
  )
}

/** Starts the clock of a query; the function that comes back stops it. */
export function timeQuery(query: string): () => void {
  return queryDuration.startTimer({ query })
}
