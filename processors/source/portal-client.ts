import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { openRate } from '../../db/chain/rate.ts'
import { ConfigError, UnavailableError, VaultlogError } from '../../db/process/errors.ts'
import { log } from '../../db/process/log.ts'
import { steadyNow } from '../../db/process/steady.ts'

/** Attempts of a request that is refused for its pace, or not answered, on each of the Portals. */
const ATTEMPTS = 5
const FIRST_PAUSE = 250
const LONGEST_PAUSE = 30_000
/** As long as a Portal may ask for. */
const LONGEST_WISH = 300_000
/** Milliseconds without a byte after which nothing more is expected; a Portal gives its own workers 60 s. */
const SILENCE = 90_000
/** Characters of one block. */
const LONGEST_LINE = 256 * 1024 * 1024
/** Requests a second that the public Portal says it takes: 20 in 10 s. */
const PUBLIC_HOST = 'portal.sqd.dev'
const PUBLIC_PACE = 2

export interface PortalOptions {
  /** Of the chain, as settings name it. */
  network: string
  /** Datasets of Portals, the preferred one first. */
  urls: readonly string[]
  /** For Portals that want one. */
  apiKey?: string | undefined
  /** What to set where the Portals refuse, in words. */
  settings: { url: string; key: string }
  /** Milliseconds before the second attempt; twice as many before each other one. */
  firstPause?: number
  signal?: AbortSignal | undefined
}

export interface BlockName {
  number: number
  hash: string
}

/** Part of a query that every kind of chain has. */
export interface PortalQuery {
  type: 'evm' | 'solana'
  fromBlock: number
  toBlock?: number
  /** Hash of the block before the first one. */
  parentBlockHash?: string
}

/**
 * Datasets of SQD's Portals, by their published interface (subsquid/sqd-portal, spec/14-interface-binding.md): finalized
 * blocks as lines of JSON. What one Portal refuses, or breaks off, the next one is asked for.
 */
export interface Portal {
  network: string
  /** The newest final block; it may be lower than it was, where Portals stand behind a balancer. */
  head(): Promise<BlockName>
  /** The first block that there is. */
  start(): Promise<number>
  /**
   * Lines of JSON, a block each, ascending; undefined where there is none of these blocks yet. They end where the answer ends or breaks
   * off, with a whole one: what comes after it is to be asked for again.
   *
   * @throws PortalForkError
   */
  stream(query: PortalQuery): Promise<AsyncGenerator<string> | undefined>
  /** What was had of a stream is no use: the next request goes to another Portal, where there is one. */
  distrust(): void
}

/** What was asked for does not stand on the block that it was said to stand on. */
export class PortalForkError extends VaultlogError {
  readonly code = 'PORTAL_FORK'
  override readonly retryable = true
  readonly previousBlocks: readonly BlockName[]
  constructor(network: string, previousBlocks: readonly BlockName[]) {
    super(
      `The Portal of ${network} has other blocks now than those that came before (${previousBlocks.map(({ number }) => number).join(', ')}).`,
    )
    this.previousBlocks = previousBlocks
  }
}

const blockName = z.object({ number: z.number().int().nonnegative(), hash: z.string() })
const conflictSchema = z.object({ previousBlocks: z.array(blockName).min(1) })
const metadataSchema = z.object({ start_block: z.number().int().nonnegative().nullish() })

interface Endpoint {
  url: string
  host: string
  rate: ReturnType<typeof openRate>
  /** Of the steady clock: it wants to be left alone until then. */
  freeAt: number
}

export function openPortal(options: PortalOptions): Portal {
  const { network, apiKey, firstPause = FIRST_PAUSE, signal } = options
  const endpoints = options.urls.map(endpointOf)
  let preferred = 0
  let hasAnswered = false
  let firstBlock: number | undefined

  const next = () => {
    preferred = (preferred + 1) % endpoints.length
  }

  /** @throws UnavailableError, ConfigError, PortalForkError */
  async function ask(
    path: string,
    body?: string,
  ): Promise<{ response: Response; quiet: Quiet; host: string }> {
    const refusals = new Map<string, string>()
    let said = ''
    let pause = firstPause
    for (let attempt = 1; attempt <= ATTEMPTS * endpoints.length; attempt++) {
      const endpoint = endpoints[preferred]
      if (!endpoint) break
      await rest(endpoint.freeAt - steadyNow(), signal)
      const quiet = openQuiet()
      const response = await fetchFrom(endpoint, path, body, {
        apiKey,
        signal: signal ? AbortSignal.any([quiet.signal, signal]) : quiet.signal,
      }).catch((error: unknown) => error)
      signal?.throwIfAborted()
      if (response instanceof Response && (response.status === 200 || response.status === 204)) {
        hasAnswered = true
        return { response, quiet, host: endpoint.host }
      }
      if (response instanceof Response && response.status === 409)
        throw new PortalForkError(network, conflictSchema.parse(await response.json()).previousBlocks)
      const text = response instanceof Response ? (await response.text().catch(() => '')).slice(0, 300) : ''
      quiet.stop()
      said = `${endpoint.host}: ${response instanceof Response ? `${response.status} ${text}`.trim() : reasonOf(response)}`
      if (response instanceof Response && isFinal(response.status))
        refusals.set(endpoint.url, refusedFor(response.status, said, options.settings))
      // All of them refuse the question itself: it is not asked again.
      if (refusals.size === endpoints.length) throw refusal([...refusals.values()])
      endpoint.freeAt = steadyNow() + pauseOf(response, pause)
      const isRoundOver = attempt % endpoints.length === 0
      if (isRoundOver) pause = Math.min(LONGEST_PAUSE, pause * 2)
      next()
    }
    throw new UnavailableError(`The Portal of ${network} does not answer: ${said}`)
  }

  /** A Portal that has answered before may be at fault for a while. */
  function refusal(reasons: readonly string[]): Error {
    const message = `The Portal of ${network} refuses. ${[...new Set(reasons)].join(' ')}`
    return hasAnswered ? new UnavailableError(message) : new ConfigError(message)
  }

  async function json<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    const { response, quiet, host } = await ask(path)
    try {
      return schema.parse(await response.json())
    } catch (error) {
      throw new UnavailableError(
        `The Portal of ${network} (${host}) gives no answer to ${path}: ${reasonOf(error).slice(0, 300)}`,
      )
    } finally {
      quiet.stop()
    }
  }

  return {
    network,
    async head() {
      const found = await json('finalized-head', blockName.nullable())
      if (!found) throw new UnavailableError(`The Portal of ${network} does not know its final block yet.`)
      return found
    },
    async start() {
      firstBlock ??= (await json('metadata', metadataSchema)).start_block ?? 0
      return firstBlock
    },
    async stream(query) {
      const { response, quiet } = await ask('finalized-stream', JSON.stringify(query))
      if (response.status === 200 && response.body) return linesOf(response.body, network, quiet)
      quiet.stop()
      return undefined
    },
    distrust() {
      next()
      if (endpoints.length > 1)
        log.warn({ network, portal: endpoints[preferred]?.host }, 'asking another Portal')
    },
  }
}

function endpointOf(url: string): Endpoint {
  const { host } = new URL(url)
  return {
    url: url.replace(/\/+$/, ''),
    host,
    rate: openRate(host === PUBLIC_HOST ? PUBLIC_PACE : Number.POSITIVE_INFINITY),
    freeAt: 0,
  }
}

async function fetchFrom(
  { url, rate }: Endpoint,
  path: string,
  body: string | undefined,
  { apiKey, signal }: { apiKey: string | undefined; signal: AbortSignal },
): Promise<Response> {
  await rate.turn(1)
  const sentAt = steadyNow()
  const response = await fetch(`${url}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      // The other kind that a Portal knows is not known by every Node.
      'accept-encoding': 'gzip',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
    },
    ...(body !== undefined && { body }),
    // Nobody else gets the key.
    redirect: 'manual',
    signal,
  })
  if (response.status === 429) rate.refused(sentAt)
  else rate.answered(1)
  return response
}

/** What to do where a Portal refuses with that status. */
function refusedFor(status: number, said: string, { url, key }: PortalOptions['settings']): string {
  if (status === 401 || status === 403) return `It refuses the key, or wants one: set ${key} (${said}).`
  if (status === 404) return `It has no such dataset: check ${url} (${said}).`
  if (status >= 300 && status < 400) return `It leads elsewhere: set ${url} to where it leads (${said}).`
  return `It does not take the question: ${said}.`
}

/** Statuses of a question that will be refused again: SQD's invalid_request_error, keys, and what is no Portal. */
const isFinal = (status: number) => status < 500 && status !== 408 && status !== 425 && status !== 429

function pauseOf(response: unknown, pause: number): number {
  const told = response instanceof Response ? response.headers.get('retry-after') : null
  const wish = told === null ? Number.NaN : Number(told) * 1000
  const until = told === null || Number.isFinite(wish) ? wish : Date.parse(told) - Date.now()
  return Number.isFinite(until) ? Math.max(0, Math.min(LONGEST_WISH, until)) : pause
}

async function rest(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, signal && { signal })
}

const reasonOf = (error: unknown) =>
  error instanceof Error
    ? `${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`
    : String(error)

interface Quiet {
  signal: AbortSignal
  /** Something came. */
  heard(): void
  /** Nothing is waited for. */
  stop(): void
}

/** Aborts what says nothing for long. */
function openQuiet(): Quiet {
  const controller = new AbortController()
  const abort = () => controller.abort(new Error(`nothing came for ${SILENCE / 1000} s`))
  let timer = setTimeout(abort, SILENCE)
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer)
      timer = setTimeout(abort, SILENCE)
    },
    stop: () => clearTimeout(timer),
  }
}

/** Whole lines: one that the connection broke off in is none, and what came before it stands. */
async function* linesOf(
  body: ReadableStream<Uint8Array>,
  network: string,
  quiet: Quiet,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  let length = 0
  const reader = body.getReader()
  try {
    while (true) {
      quiet.heard()
      const { done, value } = await reader.read()
      // Who takes the lines may take his time.
      quiet.stop()
      if (done) break
      const text = decoder.decode(value, { stream: true })
      const lines = text.split('\n')
      const last = lines.pop() ?? ''
      const [first, ...others] = lines
      if (first !== undefined) {
        const whole = begun.join('') + first
        begun = []
        length = 0
        if (!isBlank(whole)) yield whole
        for (const line of others) if (!isBlank(line)) yield line
      }
      begun.push(last)
      length += last.length
      if (length > LONGEST_LINE)
        throw new UnavailableError(`The Portal of ${network} sent a block that is too large.`)
    }
  } catch (error) {
    if (error instanceof VaultlogError) throw error
    log.debug({ network, error: reasonOf(error) }, 'the Portal broke off')
    return
  } finally {
    quiet.stop()
    // Whoever leaves early wants no more of it.
    reader.cancel().catch(() => {})
  }
  const rest = begun.join('')
  if (!isBlank(rest) && isWhole(rest)) yield rest
}

/** Without a copy of the line, which is long. */
const isBlank = (line: string) => !/\S/.test(line)

/** A last line without an end may be whole. */
function isWhole(line: string): boolean {
  try {
    JSON.parse(line)
    return true
  } catch {
    return false
  }
}
