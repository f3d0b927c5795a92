import { isPortTaken } from '../db/embedded/ports.ts'
import { networkIds } from '../db/networks.ts'
import type { Env } from '../db/process/env.ts'
import { ConfigError } from '../db/process/errors.ts'
import { SOLANA } from '../db/streams.ts'

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

/** Where the metrics of a chain's processor are, from PROCESSOR_METRICS_PORT on. */
const placeOf = (network: string): number =>
  network === SOLANA.name ? networkIds.length : networkIds.findIndex(({ name }) => name === network)

/** A word of a shell's command. */
const quoted = (text: string) => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/**
 * Another Vaultlog, or anything else, may have the ports: said before the work begins, with a command that goes on beside it.
 *
 * @param command that was given
 * @param networks whose processors will run
 * @param databases whether those of the embedded databases count; a running one may be of this folder and is shared
 * @param said what was set by hand, and stays so in the command
 * @throws ConfigError where one of them is taken
 */
export async function refuseTakenPorts(
  env: Env,
  options: {
    command: string
    networks: readonly string[]
    databases: boolean
    said?: Record<string, string | undefined>
  },
): Promise<void> {
  const embedded = Object.entries(DATABASES) as [keyof typeof DATABASES, keyof Env][]
  const names = [
    ...OURS,
    ...(options.databases ? embedded.filter(([, url]) => !env[url]).map(([name]) => name) : []),
  ]
  const portsOf = (name: string, first: number) =>
    name === 'PROCESSOR_METRICS_PORT' ? options.networks.map(network => first + placeOf(network)) : [first]
  const given = new Set(names.flatMap(name => (env[name] === 'off' ? [] : portsOf(name, env[name]))))
  const taken: string[] = []
  const others: string[] = []
  for (const name of names) {
    const port = env[name]
    if (port === 'off') continue
    const busy = await busyOf(portsOf(name, port))
    if (busy.length === 0) continue
    let other = port + 1
    while (
      portsOf(name, other).some(one => given.has(one)) ||
      (await busyOf(portsOf(name, other))).length > 0
    )
      other++
    for (const one of portsOf(name, other)) given.add(one)
    taken.push(`${busy.join(' and ')} (${name})`)
    others.push(`${name}=${other}`)
  }
  if (taken.length === 0) return
  const changed = new Set(others.map(one => one.slice(0, one.indexOf('='))))
  const kept = ['VAULTLOG_DIR', ...OURS, ...Object.keys(DATABASES)].flatMap(name => {
    const value = options.said?.[name]
    return value && !changed.has(name) ? [`${name}=${quoted(value)}`] : []
  })
  throw new ConfigError(
    `In use: port ${taken.join(', ')}. Stop what listens there, or run beside it: ${[...kept, ...others].join(' ')} ${options.command}`,
  )
}

async function busyOf(ports: readonly number[]): Promise<number[]> {
  const busy = await Promise.all(ports.map(isPortTaken))
  return ports.filter((_, i) => busy[i])
}
