import { isPortTaken } from '../../db/embedded/ports.ts'
import type { Env } from '../../db/process/env.ts'
import { ConfigError } from '../../db/process/errors.ts'

const OURS = [
  'API_PORT',
  'GRAPHQL_PORT',
  'PROCESSOR_METRICS_PORT',
  'WORKER_METRICS_PORT',
  'API_METRICS_PORT',
] as const
const DATABASES = {
  EMBEDDED_POSTGRES_PORT: 'DATABASE_URL',
  EMBEDDED_CLICKHOUSE_PORT: 'CLICKHOUSE_URL',
} as const

/** A word of a shell's command. */
const quoted = (text: string) => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/**
 * Another demo, or anything else, may have the ports: said before the work begins, with a command that goes on beside it.
 *
 * @param databases whether those of the embedded databases count; a running one may be of this folder and is shared
 * @param said what was set by hand, and stays so in the command
 * @throws ConfigError where one of them is taken
 */
export async function refuseTakenPorts(
  env: Env,
  options: { databases: boolean; said?: Record<string, string | undefined> },
): Promise<void> {
  const embedded = Object.entries(DATABASES) as [keyof typeof DATABASES, keyof Env][]
  const names = [
    ...OURS,
    ...(options.databases ? embedded.filter(([, url]) => !env[url]).map(([name]) => name) : []),
  ]
  const given = new Set(names.map(name => env[name]))
  const taken: string[] = []
  const others: string[] = []
  for (const name of names) {
    const port = env[name]
    if (port === 'off' || !(await isPortTaken(port))) continue
    let other = port + 1
    while (given.has(other) || (await isPortTaken(other))) other++
    given.add(other)
    taken.push(`${port} (${name})`)
    others.push(`${name}=${other}`)
  }
  if (taken.length === 0) return
  const changed = new Set(others.map(one => one.slice(0, one.indexOf('='))))
  const kept = ['VAULTLOG_DIR', ...OURS, ...Object.keys(DATABASES)].flatMap(name => {
    const value = options.said?.[name]
    return value && !changed.has(name) ? [`${name}=${quoted(value)}`] : []
  })
  throw new ConfigError(
    `In use: port ${taken.join(', ')}. Stop what listens there, or run beside it: ${[...kept, ...others].join(' ')} npm run demo`,
  )
}
