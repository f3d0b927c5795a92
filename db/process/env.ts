import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { limitEndpoints } from '../chain/endpoint.ts'
import { findNetwork, isNetworkName, meantNetwork, networks, noNetwork } from '../networks.ts'
import type { ProtocolSlug } from '../protocols.ts'
import { ConfigError } from './errors.ts'
import { hideSecret, hideUrl } from './hidden-urls.ts'
import { LOG_FORMATS, log, setLogFormat } from './log.ts'

const port = (fallback: number) => z.coerce.number().int().min(1).max(65535).default(fallback)
const metricsPort = (fallback: number) =>
  z
    .union([z.literal('off'), z.coerce.number().int().min(1).max(65_000)], {
      error: 'must be a port from 1 to 65000, or off',
    })
    .default(fallback)
const urlOf = (...protocols: string[]) =>
  z.url({
    protocol: new RegExp(`^(${protocols.join('|')})$`),
    error: `must be a URL that begins with ${protocols.map(p => `${p}://`).join(' or ')}; in user and password, what is not a letter or digit is percent-encoded (@ as %40, / as %2F, # as %23, : as %3A)`,
  })
/** A `/` or `#` in a password ends the host early: such an address is well formed, and leads elsewhere. */
const withPassword = (...protocols: string[]) =>
  urlOf(...protocols).refine(
    url => !/^[a-z]+:\/\/[^@]*[/?#][^@]*@/.test(url),
    'a / ? or # before the @ belongs to the password: percent-encode it (%2F, %3F, %23)',
  )
const host = z
  .string()
  .regex(/^[\w.:-]+$/, 'must be an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them')
  .default('127.0.0.1')

/** A service whose word users sign by: nobody on the way may change it. */
const trustedUrl = () =>
  urlOf('http', 'https').refine(
    text => /^(https:|http:\/\/(127\.0\.0\.1|localhost|\[::1\])([:/]|$))/i.test(text),
    'must be a URL that begins with https:// (http:// on this machine alone)',
  )

/** Addresses separated by commas, the preferred one first. */
const httpUrls = () =>
  z
    .string()
    .transform(list => list.split(',').map(url => url.trim()))
    .pipe(z.array(urlOf('http', 'https')).min(1))

/** The same, or `sqd` for the public Portal's dataset of the network. */
const portalUrls = () =>
  z
    .string()
    .transform(list => list.split(',').map(url => url.trim()))
    .pipe(
      z.array(
        z
          .string()
          .refine(
            url => url === 'sqd' || urlOf('http', 'https').safeParse(url).success,
            'must be sqd for the public Portal, or URLs of datasets that begin with http:// or https://',
          ),
      ),
    )

/** A key that goes into a header. */
const secret = () => z.string().regex(/^[\x21-\x7e]+$/, 'must be one word of printable characters')

/** Every variable with a fixed name. `.env.example` explains each; a test holds the two together. */
export const envSchema = z.object({
  DATABASE_URL: withPassword('postgres', 'postgresql').optional(),
  GRAPHQL_DATABASE_URL: withPassword('postgres', 'postgresql').optional(),
  DATABASE_READ_URL: withPassword('postgres', 'postgresql').optional(),
  CLICKHOUSE_URL: withPassword('http', 'https').optional(),
  REDIS_URL: withPassword('redis', 'rediss').optional(),
  DATABASE_PASSWORD: z.string().optional(),
  GRAPHQL_DATABASE_PASSWORD: z.string().optional(),
  CLICKHOUSE_PASSWORD: z.string().optional(),
  REDIS_PASSWORD: z.string().optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]+$/, 'must be a plain name')
    .default('vaultlog'),

  VAULTLOG_DIR: z.string().default('./.vaultlog'),
  EMBEDDED_POSTGRES_PORT: port(25432),
  EMBEDDED_CLICKHOUSE_PORT: port(28123),
  EMBEDDED_CLICKHOUSE_MEMORY_MB: z.coerce.number().int().min(512).default(6144),
  EMBEDDED_CLICKHOUSE_CONFIG: z.string().optional(),

  CLICKHOUSE_DATABASE: z
    .string()
    .regex(/^[a-z_][a-z0-9_]*$/i, 'must be a plain identifier')
    .default('vaultlog'),
  CLICKHOUSE_CLUSTER: z
    .string()
    .regex(/^[a-z_][a-z0-9_]*$/i, 'must be a plain identifier')
    .optional(),
  CLICKHOUSE_READONLY_USER: z
    .string()
    .regex(/^(?!default$)[\w.-]+$/, "must be a plain name other than 'default'")
    .default('analyst'),
  CLICKHOUSE_READONLY_PASSWORD: z.string().default('analyst'),

  HOST: host,
  METRICS_HOST: host,
  GRAPHQL_HOST: host,
  API_PORT: port(3080),
  GRAPHQL_PORT: port(4350),
  PROCESSOR_METRICS_PORT: metricsPort(9400),
  WORKER_METRICS_PORT: metricsPort(9390),
  API_METRICS_PORT: metricsPort(9391),

  API_DEADLINE_MS: z.coerce.number().int().min(100).default(15_000),
  PUBLIC_URL: urlOf('http', 'https').optional(),
  SHOW_UNLISTED: z.stringbool().default(false),
  WEBHOOKS_PER_KEY: z.coerce.number().int().min(0).default(20),
  ALERT_RULES_PER_KEY: z.coerce.number().int().min(0).default(100),
  WEBHOOK_PRIVATE_TARGETS: z.stringbool().default(false),
  CORS_ORIGINS: z
    .string()
    .transform(list => list.split(',').map(origin => origin.trim()))
    .pipe(
      z.array(
        urlOf('http', 'https').refine(
          origin => new URL(origin).origin === origin,
          'must be origins, without a path or a slash at the end',
        ),
      ),
    )
    .optional(),
  TRUST_PROXY: z
    .string()
    .transform(value => (/^\d+$/.test(value) ? Number(value) : value))
    .optional(),
  X402_PAY_TO: z
    .string()
    .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hexadecimal digits')
    .optional(),
  X402_NETWORK: z
    .string()
    .regex(/^eip155:\d+$/, 'must be a CAIP-2 identifier such as eip155:8453')
    .default('eip155:8453'),
  X402_FACILITATOR_URL: trustedUrl().optional(),
  X402_USD_PER_CREDIT: z.coerce.number().positive().default(0.0001),
  X402_REQUESTS_PER_MINUTE: z.coerce.number().int().min(1).default(60),

  LOG_LEVEL: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
  LOG_FORMAT: z.enum(LOG_FORMATS).default('auto'),
  LOG_ADDRESSES: z.enum(['full', 'short']).default('full'),
  CONTRACTS_FILE: z.string().optional(),
  PROCESSOR_PROCESSES: z.coerce.number().int().min(1).default(4),
  WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(16).default(3),
  INSPECTIONS_PER_HOUR: z.coerce.number().int().min(12).default(300),
  LOGS_PER_DAY: z.coerce.number().int().min(100).default(20_000),
  SAMPLES_PER_HOUR: z.coerce.number().int().min(4).default(2_000),
  RECHECK_MINUTES: z.coerce.number().int().min(0).default(10),
  POLL_INTERVAL_MS: z.coerce.number().int().min(10).optional(),
  MERKL_URL: trustedUrl().optional(),
  MORPHO_REWARDS_URL: trustedUrl().optional(),
  CCTP_URL: trustedUrl().optional(),
  BICONOMY_URL: trustedUrl().optional(),
  BICONOMY_KEY: secret().optional(),
  BICONOMY_EXPLORER_URL: trustedUrl().optional(),
  RHINESTONE_URL: trustedUrl().optional(),
  RHINESTONE_KEY: secret().optional(),
  RPC_SOLANA: httpUrls().optional(),
  PORTAL_SOLANA: portalUrls().optional(),
  PORTAL_API_KEY: secret().optional(),
  PORTAL_API_KEY_SOLANA: secret().optional(),
  START_BLOCK_SOLANA: z.coerce.number().int().nonnegative().optional(),
  SAMPLES: z
    .enum(['on', 'off'])
    .default('on')
    .transform(value => value === 'on'),
})

const rpcUrl = urlOf('http', 'https', 'ws', 'wss')
const rpcUrls = z
  .string()
  .transform(list => list.split(',').map(url => url.trim()))
  .pipe(z.array(rpcUrl).min(1))
/** Of SQD's own: they want a key since 2026-05-19 (docs.sqd.dev/announcements/gateway-api-keys), and are being switched off. */
const isPublicGateway = (url: string) => url === 'sqd' || /\.subsquid\.io$/.test(new URL(url).hostname)
const block = z.coerce.number().int().nonnegative()

/** Variables with one name per network: prefix, then the network in upper case with `-` as `_`. */
export const networkVariables = {
  RPC_: rpcUrls,
  RPC_BATCH_: z.coerce.number().int().positive(),
  RPC_RATE_: z.coerce.number().positive(),
  PORTAL_: portalUrls(),
  PORTAL_API_KEY_: secret(),
  GATEWAY_: z.union([z.literal('sqd'), urlOf('http', 'https')], {
    error: 'must be a URL that begins with http:// or https://',
  }),
  START_BLOCK_: block,
  FINALITY_: block,
  HEAD_LOOKS_: z.coerce.number().min(0.05).max(20),
} as const

export interface Env extends z.infer<typeof envSchema> {
  /** Services of protocols that the API asks, by slug. */
  services: Readonly<Partial<Record<ProtocolSlug, string | undefined>>>
  /** RPC endpoints by network name (`mega-eth` for RPC_MEGA_ETH), the preferred one first. */
  rpc: Readonly<Record<string, readonly string[]>>
  /** Calls that an endpoint is asked in one request, and in one second, at most, by network name. */
  rpcBatch: Readonly<Record<string, number>>
  rpcRate: Readonly<Record<string, number>>
  /** Datasets of SQD's Portals by network name, the preferred one first; `sqd`: that of the table of networks. */
  portal: Readonly<Record<string, readonly string[]>>
  /** By network name, for Portals that want another key than the rest. */
  portalKey: Readonly<Record<string, string>>
  /** SQD gateway of one's own by network name. */
  gateway: Readonly<Record<string, string>>
  /** First block to index, by network name. */
  startBlock: Readonly<Record<string, number>>
  /** Blocks after which a block is taken as final, by network name; in place of the table's. */
  finality: Readonly<Record<string, number>>
  /** Looks for each block at the head, in the mean, by network name. */
  headLooks: Readonly<Record<string, number>>
}

/** Names that begin so may be another program's: what resembles none of our networks is left alone. */
const SHARED_PREFIXES = ['RPC_', 'PORTAL_', 'GATEWAY_']

/** @example networkOf('RPC_MEGA_ETH', 'RPC_') === 'mega-eth' */
export function networkOf(variable: string, prefix: string): string {
  return variable.slice(prefix.length).toLowerCase().replaceAll('_', '-')
}

/** @example variableOf('mega-eth', 'RPC_') === 'RPC_MEGA_ETH' */
export function variableOf(network: string, prefix: string): string {
  return `${prefix}${network.toUpperCase().replaceAll('-', '_')}`
}

/**
 * The environment, parsed once. Without an argument: `.env` of the working directory (if there is one) under the
 * real environment. An empty value counts as unset. What names no network is refused where one may have been meant, and
 * told of in the log where not.
 *
 * @throws ConfigError that names every bad variable
 */
export function readEnv(source?: Record<string, string | undefined>): Env {
  if (!source && existsSync('.env')) process.loadEnvFile('.env')
  const set = Object.fromEntries(
    Object.entries(source ?? process.env).filter((pair): pair is [string, string] => !!pair[1]?.trim()),
  )
  const problems: string[] = []
  const foreign: string[] = []
  const parsed = envSchema.safeParse(set)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) problems.push(`${issue.path.join('.')}: ${issue.message}`)
  }
  const byNetwork = <T>(prefix: string, schema: z.ZodType<T, unknown>): Record<string, T> => {
    const values: Record<string, T> = {}
    for (const [name, value] of Object.entries(set)) {
      if (prefixOf(name) !== prefix || name.length === prefix.length || name in envSchema.shape) continue
      const network = networkOf(name, prefix)
      if (!isNetwork(network)) {
        if (!meantNetwork(network) && SHARED_PREFIXES.includes(prefix)) foreign.push(name)
        else problems.push(`${name}: ${noNetwork(network, meant => variableOf(meant, prefix))}`)
        continue
      }
      const result = schema.safeParse(value)
      if (result.success) values[network] = result.data
      else problems.push(`${name}: ${result.error.issues.map(i => i.message).join(', ')}`)
    }
    return values
  }
  const rpc = byNetwork('RPC_', networkVariables.RPC_)
  const rpcBatch = byNetwork('RPC_BATCH_', networkVariables.RPC_BATCH_)
  const rpcRate = byNetwork('RPC_RATE_', networkVariables.RPC_RATE_)
  const portal = byNetwork('PORTAL_', networkVariables.PORTAL_)
  const portalKey = byNetwork('PORTAL_API_KEY_', networkVariables.PORTAL_API_KEY_)
  const gateway = byNetwork('GATEWAY_', networkVariables.GATEWAY_)
  for (const [name, url] of Object.entries(gateway))
    if (isPublicGateway(url))
      problems.push(
        `${variableOf(name, 'GATEWAY_')}: the gateways of SQD want a key since 19 May 2026, which cannot be sent to them, and are being switched off: unset it and set ${variableOf(name, 'PORTAL_')}=sqd`,
      )
  for (const name of Object.keys(portal)) {
    const variable = variableOf(name, 'PORTAL_')
    if (gateway[name])
      problems.push(
        `${variable}: history comes from there or from ${variableOf(name, 'GATEWAY_')}: set one of them`,
      )
    if (portal[name]?.includes('sqd') && isNetworkName(name) && !networks[name].portal)
      problems.push(
        `${variable}: the public Portal does not have ${name}: leave it unset, and history comes by RPC`,
      )
  }
  const startBlock = byNetwork('START_BLOCK_', networkVariables.START_BLOCK_)
  const finality = byNetwork('FINALITY_', networkVariables.FINALITY_)
  const headLooks = byNetwork('HEAD_LOOKS_', networkVariables.HEAD_LOOKS_)
  if (!parsed.success || problems.length > 0) {
    throw new ConfigError(
      `The environment is not valid:\n${problems.map(p => `  ${p}`).join('\n')}\nSee .env.example.`,
    )
  }
  if (!source) applyToProcess(parsed.data, { rpc, portal, gateway, portalKey, rpcBatch, rpcRate })
  if (foreign.length > 0) log.warn({ variables: foreign }, 'left alone: no network has this name')
  const { DATABASE_PASSWORD, GRAPHQL_DATABASE_PASSWORD, CLICKHOUSE_PASSWORD, REDIS_PASSWORD } = parsed.data
  return {
    ...parsed.data,
    DATABASE_URL: signedIn(parsed.data.DATABASE_URL, DATABASE_PASSWORD),
    GRAPHQL_DATABASE_URL: signedIn(parsed.data.GRAPHQL_DATABASE_URL, GRAPHQL_DATABASE_PASSWORD),
    DATABASE_READ_URL: signedIn(parsed.data.DATABASE_READ_URL, DATABASE_PASSWORD),
    CLICKHOUSE_URL: signedIn(parsed.data.CLICKHOUSE_URL, CLICKHOUSE_PASSWORD),
    REDIS_URL: signedIn(parsed.data.REDIS_URL, REDIS_PASSWORD),
    VAULTLOG_DIR: resolve(parsed.data.VAULTLOG_DIR),
    services: {
      merkl: parsed.data.MERKL_URL,
      'morpho-urd': parsed.data.MORPHO_REWARDS_URL,
      'cctp-v2': parsed.data.CCTP_URL,
    },
    rpc,
    rpcBatch,
    rpcRate,
    portal,
    portalKey,
    gateway,
    startBlock,
    finality,
    headLooks,
  }
}

type ByNetwork = Pick<Env, 'rpc' | 'portal' | 'gateway' | 'portalKey' | 'rpcBatch' | 'rpcRate'>

/** How this process logs, what it names nowhere, and what it asks of endpoints at most. */
function applyToProcess(
  {
    LOG_LEVEL,
    LOG_FORMAT,
    RPC_SOLANA,
    PORTAL_SOLANA,
    PORTAL_API_KEY,
    PORTAL_API_KEY_SOLANA,
  }: z.infer<typeof envSchema>,
  { rpc, portal, gateway, portalKey, rpcBatch, rpcRate }: ByNetwork,
): void {
  log.level = LOG_LEVEL
  setLogFormat(LOG_FORMAT)
  for (const url of [
    ...Object.values(rpc).flat(),
    ...(RPC_SOLANA ?? []),
    ...(PORTAL_SOLANA ?? []),
    ...Object.values(portal).flat(),
    ...Object.values(gateway),
  ])
    if (url !== 'sqd') hideUrl(url)
  for (const key of [PORTAL_API_KEY, PORTAL_API_KEY_SOLANA, ...Object.values(portalKey)])
    if (key) hideSecret(key)
  for (const [name, urls] of Object.entries(rpc))
    limitEndpoints(urls, { batch: rpcBatch[name], rate: rpcRate[name] })
}

/** The URL with a password that stands beside it as it is, of whatever signs; one in the URL counts for more. */
function signedIn(address: string | undefined, password: string | undefined): string | undefined {
  if (!address || !password) return address
  const url = new URL(address)
  if (url.password) return address
  url.password = encodeURIComponent(password)
  return url.href
}

/** The longest of ours that a name begins with. */
const prefixOf = (name: string) =>
  Object.keys(networkVariables)
    .filter(prefix => name.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0]

const isNetwork = (name: string) => findNetwork(name)?.name === name
