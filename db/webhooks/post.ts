import { lookup as lookUp, Resolver } from 'node:dns/promises'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Webhook as Signer } from 'standardwebhooks'
import { VaultlogError } from '../process/errors.ts'
import { hostOf, isPublicAddress } from './targets.ts'

/** A receiver's answer has to have begun by then. */
const PATIENCE_MS = 10_000
/** Of an answer that nobody reads, once it has begun; after more the connection is closed. */
const MOST_ANSWER = 16_384
const LONGEST_ANSWER_MS = 1_000

/** What messages are signed with, as Standard Webhooks writes it: whsec_ and base64. */
export interface Secret {
  secret: string
  /** Milliseconds since 1970 until which it signs beside a newer one; null: it is the newest. */
  until: number | null
}

export interface Receiver {
  url: string
  secrets: readonly Secret[]
}

export interface Attempt {
  /** Absent where nobody answered. */
  status?: number
  /** Why it is not delivered, for the owner of the subscription. */
  error?: string
  /** Seconds, as the receiver asks for. */
  retryAfter?: number
}

export interface Poster {
  /** Sends a message once, signed as Standard Webhooks 1.0 has it. Delivered is what has no `error`. */
  post(receiver: Receiver, message: { id: string; body: string }, signal?: AbortSignal): Promise<Attempt>
  close(): void
}

type Resolve = (host: string) => Promise<{ address: string; family: number }[]>

export interface PosterOptions {
  /** Private addresses and plain http too: for tests, the demo, and receivers in the operator's own network. */
  allowsPrivate: boolean
  timeoutMs?: number
  resolve?: Resolve
  isAllowed?: (address: string) => boolean
}

class NoTargetError extends VaultlogError {
  readonly code = 'NO_TARGET'
  constructor(host: string) {
    // The same words for a name that leads inside and for one that leads nowhere: nobody maps a network by them.
    super(`${host} does not lead to the public internet`)
  }
}

/** Asks name servers without a thread: a name that is slow to resolve keeps nobody else waiting. */
async function resolvePublicly(host: string): Promise<{ address: string; family: number }[]> {
  const resolver = new Resolver({ timeout: 2_500, tries: 2 })
  const [four, six] = await Promise.all([
    resolver.resolve4(host).catch(() => []),
    resolver.resolve6(host).catch(() => []),
  ])
  return [...four.map(address => ({ address, family: 4 })), ...six.map(address => ({ address, family: 6 }))]
}

/** By the machine's own rules, its hosts file among them. */
const resolveHere: Resolve = host => lookUp(host, { all: true })

/**
 * A connection goes to the very addresses that were looked at: the name is resolved once, when it is made. One that is kept open
 * leads where it led; redirects are not followed, and no proxy of the environment is asked.
 */
export function createPoster(options: PosterOptions): Poster {
  const { allowsPrivate, timeoutMs = PATIENCE_MS } = options
  const resolve = options.resolve ?? (allowsPrivate ? resolveHere : resolvePublicly)
  const isAllowed = options.isAllowed ?? (allowsPrivate ? () => true : isPublicAddress)
  const find = async (host: string) => {
    const addresses = await resolve(host)
    // Of a name for both, as DNS64 makes them, what is public alone is connected to.
    const allowed = addresses.filter(({ address }) => isAllowed(address))
    if (allowed.length === 0) throw new NoTargetError(host)
    return allowed
  }
  const lookup: LookupFunction = (host, { all }, callback) => {
    find(host).then(
      addresses => {
        const [{ address = '', family = 4 } = {}] = addresses
        if (all) callback(null, addresses)
        else callback(null, address, family)
      },
      (error: Error) => callback(error, '', 4),
    )
  }
  const agentOptions = { keepAlive: true, lookup, timeout: 60_000 }
  const agents = { 'http:': new http.Agent(agentOptions), 'https:': new https.Agent(agentOptions) }

  const send = (url: URL, headers: Record<string, string>, body: string, signal: AbortSignal) =>
    new Promise<IncomingMessage>((settle, reject) => {
      const { request } = url.protocol === 'https:' ? https : http
      const agent = agents[url.protocol as keyof typeof agents]
      const sent: ClientRequest = request(url, { method: 'POST', headers, agent, signal }, settle)
      sent.once('error', error => reject(Object.assign(error, { isStale: sent.reusedSocket })))
      sent.end(body)
    })

  return {
    async post({ url: address, secrets }, { id, body }, signal) {
      const url = new URL(address)
      const now = new Date()
      const headers = {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'vaultlog',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': signaturesOf(secrets, { id, now, body }),
      }
      // Held until the answer has ended: a signal that nobody holds any more never fires.
      const over = new AbortController()
      const stop = () => over.abort()
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        stop()
      }, timeoutMs)
      signal?.addEventListener('abort', stop, { once: true })
      if (signal?.aborted) stop()
      try {
        // One that was made when it was allowed.
        if (url.protocol === 'http:' && !allowsPrivate) return { error: 'messages are sent by https alone' }
        // What is no name is not resolved.
        if (isIP(hostOf(url)) && !isAllowed(hostOf(url))) throw new NoTargetError(hostOf(url))
        const answer = await send(url, headers, body, over.signal).catch(
          (error: Error & { isStale?: boolean }) => {
            // The receiver closed a connection that was kept open, just then.
            if (error.isStale && !over.signal.aborted) return send(url, headers, body, over.signal)
            throw error
          },
        )
        await dismiss(answer)
        return judge(answer)
      } catch (error) {
        if (isLate) return { error: `no answer within ${timeoutMs / 1000} s` }
        return { error: describe(error) }
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', stop)
      }
    },
    close() {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}

/** Whoever has one of the secrets finds its signature among them. */
function signaturesOf(
  secrets: readonly Secret[],
  { id, now, body }: { id: string; now: Date; body: string },
): string {
  const signing = secrets.filter(({ until }) => until === null || until > now.getTime())
  return signing.map(({ secret }) => new Signer(secret).sign(id, now, body)).join(' ')
}

function judge({ statusCode: status = 0, headers }: IncomingMessage): Attempt {
  if (status >= 200 && status < 300) return { status }
  const asked = Number(headers['retry-after'])
  return {
    status,
    error: `answered ${status}${status >= 300 && status < 400 ? ': redirects are not followed' : ''}`,
    ...(asked > 0 ? { retryAfter: asked } : {}),
  }
}

/** Nobody reads it, and none is taken without end. Settles when nothing of it is open any more. */
function dismiss(answer: IncomingMessage): Promise<void> {
  return new Promise(settle => {
    let bytes = 0
    const timer = setTimeout(() => answer.destroy(), LONGEST_ANSWER_MS)
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MOST_ANSWER) answer.destroy()
    })
    answer.on('error', () => {})
    answer.once('close', () => {
      clearTimeout(timer)
      settle()
    })
  })
}

/** Of a name with several addresses each has an error of its own. */
function describe(error: unknown): string {
  const [first = error] = error instanceof AggregateError ? error.errors : []
  const { code, message } = first as NodeJS.ErrnoException
  return first instanceof VaultlogError ? message : (code ?? message).slice(0, 200)
}
