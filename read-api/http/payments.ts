import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { decodePaymentRequiredHeader, decodePaymentSignatureHeader } from '@x402/core/http'
import type { HTTPProcessResult, HTTPRequestContext } from '@x402/core/server'
import { FacilitatorResponseError, HTTPFacilitatorClient, x402HTTPResourceServer } from '@x402/core/server'
import type { PaymentPayload, PaymentRequired } from '@x402/core/types'
import { SettleError, VerifyError } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { ExpressAdapter, x402ResourceServer } from '@x402/express'
import type { Request } from 'express'
import { getAddress } from 'viem'
import { createPaymentBook, type KeptAnswer } from '../../db/keys/payment-book.ts'
import { log } from '../../db/process/log.ts'
import type { ApiDeps } from './endpoint.ts'
import { DependencyDownError, MissingKeyError, PaymentRequiredError, RateLimitError } from './errors.ts'

/** What a caller without a key may pay, and how. */
export interface PaymentTerms {
  /** Address that is paid. */
  payTo: string
  /** CAIP-2, e.g. eip155:8453; paid in the network's USDC as @x402/evm knows it. */
  network: `${string}:${string}`
  facilitatorUrl: string
  usdPerCredit: number
  /** Of one address, without a key; 60 where absent. */
  requestsPerMinute?: number
  /** Origin (and path) under which callers reach this API; unset: as the request says. */
  publicUrl?: string
}

/** A payment that was verified, is good for this request alone, and is not yet settled. */
export interface Payment {
  /** The answer that this payment has paid for already and that never arrived: it is sent again, and not settled again. */
  readonly kept?: KeptAnswer
  /**
   * Takes the money; gives the headers that prove it. None where it is not known whether the money went: the caller gets
   * the answer.
   *
   * @throws PaymentRequiredError where it cannot be taken, DependencyDownError where nobody is there to take it
   */
  settle(body: string): Promise<Record<string, string>>
  /** The request failed before it was settled: nothing is taken, and the payment is as good as before. */
  cancel(): Promise<void>
  /** The caller went after it had paid: the answer waits for the same payment and request to come again. */
  keep(answer: KeptAnswer): Promise<void>
}

/** What a request is asked to pay. */
export interface Quote {
  what: string
  credits: number
  /** Whether a smaller page would cost less. */
  isPaged: boolean
}

export interface Payments {
  /**
   * Takes one of the requests that an address may make in a minute without a key.
   *
   * @throws RateLimitError
   */
  admit(request: Request, deps: Pick<ApiDeps, 'rates'>): Promise<void>
  /**
   * The payment that came with a request, verified by the facilitator and taken for it.
   *
   * @throws PaymentRequiredError with the terms where there is none, it does not do, or another request has it
   * @throws DependencyDownError where the facilitator does not answer, MissingKeyError if no payment came either
   */
  begin(request: Request, quote: Quote, deps: Pick<ApiDeps, 'pool'>): Promise<Payment>
}

/** A facilitator that has not answered by then is down. */
const FACILITATOR_MS = 5_000
/** A payment taken is remembered until it expires on the chain, within these bounds (seconds). */
const [SHORTEST, LONGEST] = [600, 86_400]

/**
 * What the facilitator says of a payment stays as it is; that it says nothing, or anything else, is its own failure and
 * says nothing about the payment.
 */
class Facilitator extends HTTPFacilitatorClient {
  override async verify(...of: Parameters<HTTPFacilitatorClient['verify']>) {
    return super.verify(...of).catch(error => {
      throw error instanceof VerifyError && error.statusCode < 500 ? error : asFailure(error)
    })
  }
  override async settle(...of: Parameters<HTTPFacilitatorClient['settle']>) {
    return super.settle(...of).catch(error => {
      throw error instanceof SettleError && error.statusCode < 500 ? error : asFailure(error)
    })
  }
}

function asFailure(error: unknown): FacilitatorResponseError {
  if (error instanceof FacilitatorResponseError) return error
  const failure = new FacilitatorResponseError(error instanceof Error ? error.message : String(error))
  failure.cause = error
  return failure
}

/** Whether a settlement may have been made although its answer did not come: the request had gone out. */
function isInDoubt(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // A gateway that lost its server, or an answer to the settlement that cannot be read.
  if (
    /timed out|settle failed \((502|504)\)/i.test(error.message) ||
    (error instanceof FacilitatorResponseError && error.cause === undefined)
  )
    return true
  const { code } = (error.cause as { cause?: { code?: string } } | undefined)?.cause ?? {}
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET'
}

/** Names a payment as the facilitator settles it: who pays, and the number that the chain takes from them once. */
export function idOf({ payload }: PaymentPayload): { id: string; until: number | undefined } {
  const { authorization, permit2Authorization } = payload as Record<
    string,
    { from?: string; nonce?: string; validBefore?: string; deadline?: string } | undefined
  >
  const { from, nonce, validBefore, deadline } = permit2Authorization ?? authorization ?? {}
  const once = from && nonce ? `${from} ${numberOf(nonce)}`.toLowerCase() : JSON.stringify(payload)
  const until = Number(validBefore ?? deadline)
  return {
    id: createHash('sha256').update(once).digest('base64url'),
    until: Number.isFinite(until) ? until : undefined,
  }
}

/** A number is the same however it is written: 7, 07 and 0x7. */
function numberOf(text: string): string {
  try {
    return BigInt(text).toString()
  } catch {
    return text
  }
}

/** A request as far as its answer depends on it. */
const digestOf = ({ method, originalUrl, body }: Request) =>
  createHash('sha256')
    .update(`${method} ${originalUrl} ${JSON.stringify(body ?? null)}`)
    .digest('base64url')

class QuotedAdapter extends ExpressAdapter {
  readonly usd: string
  private readonly request: Request
  private readonly publicUrl: string | undefined
  private readonly isToBePaid: boolean
  constructor(request: Request, usd: string, publicUrl: string | undefined, isToBePaid: boolean) {
    super(request)
    this.request = request
    this.usd = usd
    this.publicUrl = publicUrl
    this.isToBePaid = isToBePaid
  }
  override getUrl(): string {
    // The adapter's own takes the Host header also where a proxy that is trusted says another.
    const { protocol, host, originalUrl } = this.request
    return `${this.publicUrl ?? `${protocol}://${host}`}${originalUrl}`
  }
  /** A payment that cannot be read is none; the library would write about each on stderr. */
  override getHeader(name: string): string | undefined {
    const value = super.getHeader(name)
    if (value === undefined || !/^(payment-signature|x-payment)$/i.test(name)) return value
    if (this.isToBePaid) return undefined
    try {
      decodePaymentSignatureHeader(value)
      return value
    } catch {
      return undefined
    }
  }
  /** Always JSON, also for browsers: this is an API. */
  override getAcceptHeader(): string {
    return 'application/json'
  }
}

/** x402 version 2, scheme exact on EVM chains: the whole price is signed for before the answer, and taken after it. */
export function createPayments(terms: PaymentTerms): Payments {
  const publicUrl = terms.publicUrl?.replace(/\/$/, '')
  const openServer = openServers(terms)

  const process = async (
    server: x402HTTPResourceServer,
    request: Request,
    usd: string,
    isToBePaid: boolean,
  ) => {
    const adapter = new QuotedAdapter(request, `$${usd}`, publicUrl, isToBePaid)
    const context: HTTPRequestContext = {
      adapter,
      path: request.path,
      method: request.method,
      paymentHeader: adapter.getHeader('payment-signature') ?? adapter.getHeader('x-payment'),
    }
    const result = await server.processHTTPRequest(context).catch(error => {
      throw down(error)
    })
    return { context, result }
  }

  return {
    async admit(request, { rates }) {
      const { isAdmitted, limit, resetMs } = await rates.admit({
        id: `address ${networkPart(request.ip ?? '')}`,
        requestsPerMinute: terms.requestsPerMinute ?? 60,
      })
      if (!isAdmitted)
        throw new RateLimitError(limit, Math.max(1, Math.ceil(resetMs / 1000)), 'An address without a key')
    },
    async begin(request, { what, credits, isPaged }, { pool }) {
      const given = request.get('payment-signature') ?? request.get('x-payment')
      const server = await openServer(what, given !== undefined)
      // Up to a base unit of USDC: nothing that has a price is free.
      const usd = (Math.ceil(credits * terms.usdPerCredit * 1e6 - 1e-6) / 1e6).toFixed(6)
      const book = createPaymentBook(pool)
      const digest = digestOf(request)
      const signed = decoded(given)
      const kept = signed && (await stored(book.collect(idOf(signed).id, digest)))
      if (signed && kept) {
        return {
          kept,
          settle: async () => kept.headers,
          cancel: () => stored(book.keep(idOf(signed).id, digest, kept)),
          keep: answer => stored(book.keep(idOf(signed).id, digest, answer)),
        }
      }
      const { context, result } = await process(server, request, usd, false)
      if (result.type !== 'payment-verified') {
        const reason =
          result.type === 'payment-error' && context.paymentHeader
            ? termsOf(paymentHeaders(result.response.headers))?.error
            : undefined
        throw required(
          result,
          usd,
          isPaged,
          given ? `The payment was not taken: ${reason ?? 'it cannot be read'}. ` : '',
        )
      }
      const { id, until } = idOf(result.paymentPayload)
      const seconds = Math.ceil((until ?? 0) - Date.now() / 1000)
      if (!(await stored(book.take(id, Math.min(Math.max(seconds, SHORTEST), LONGEST))))) {
        const { result: terms } = await process(server, request, usd, true)
        throw required(
          terms,
          usd,
          isPaged,
          'This payment has been taken for another request; sign another one. ',
        )
      }
      return paymentOf({ server, context, verified: result, book, id, digest })
    },
  }
}

const down = (cause: unknown) => new DependencyDownError('The payment facilitator', { cause })

/** Servers that know the terms, one for each thing that is sold; the first asks the facilitator what that takes, once. */
function openServers(terms: PaymentTerms) {
  const facilitator = new Facilitator({ url: terms.facilitatorUrl, timeoutMs: FACILITATOR_MS })
  const resources = new x402ResourceServer(facilitator).register(terms.network, new ExactEvmScheme())
  const servers = new Map<string, x402HTTPResourceServer>()
  const payTo = getAddress(terms.payTo.toLowerCase())
  let ready: Promise<void> | undefined

  const serverFor = (what: string) => {
    let server = servers.get(what)
    if (!server) {
      server = new x402HTTPResourceServer(resources, {
        accepts: {
          scheme: 'exact',
          network: terms.network,
          payTo,
          price: (context: HTTPRequestContext) => (context.adapter as QuotedAdapter).usd,
        },
        description: what,
        mimeType: 'application/json',
        serviceName: 'Vaultlog',
      })
      servers.set(what, server)
    }
    return server
  }

  return async (what: string, isPaying: boolean) => {
    const server = serverFor(what)
    ready ??= server.initialize()
    try {
      await ready
      return server
    } catch (error) {
      ready = undefined
      if (isPaying) throw down(error)
      // Nobody can say the terms now: to who did not come to pay it is as if there were none.
      throw new MissingKeyError('No API key: send yours in the header x-api-key.', { cause: error })
    }
  }
}

function required(result: HTTPProcessResult, usd: string, isPaged: boolean, why = ''): PaymentRequiredError {
  const headers = result.type === 'payment-error' ? paymentHeaders(result.response.headers) : {}
  return new PaymentRequiredError(
    `${why}Send an API key in x-api-key, or pay ${usd} USD for this request as the header payment-required says (x402).${isPaged ? ' It is the price of a full page: a smaller perPage costs less.' : ''}`,
    headers,
    detailsOf(termsOf(headers)),
  )
}

interface Taken {
  server: x402HTTPResourceServer
  context: HTTPRequestContext
  verified: Extract<HTTPProcessResult, { type: 'payment-verified' }>
  book: ReturnType<typeof createPaymentBook>
  id: string
  digest: string
}

/** A payment that was verified and is this request's: how it is settled, or given back. */
function paymentOf({ server, context, verified, book, id, digest }: Taken): Payment {
  const { paymentPayload, paymentRequirements, declaredExtensions, cancellationDispatcher } = verified
  return {
    async settle(body) {
      let settled: Awaited<ReturnType<typeof server.processSettlement>>
      try {
        settled = await server.processSettlement(paymentPayload, paymentRequirements, declaredExtensions, {
          request: context,
          responseBody: Buffer.from(body),
        })
      } catch (error) {
        if (!isInDoubt(error)) {
          await stored(book.release(id))
          throw down(error)
        }
        log.warn(
          { err: error, payment: id },
          'it is not known whether a payment was settled; its answer goes out',
        )
        return {}
      }
      if (settled.success) return paymentHeaders(settled.headers)
      await stored(book.release(id))
      throw new PaymentRequiredError(
        `The payment could not be settled: ${settled.errorReason}. Nothing was delivered; sign another one.`,
        paymentHeaders(settled.headers),
        detailsOf(termsOf(paymentHeaders(settled.headers))),
      )
    },
    async cancel() {
      await book.release(id).catch((error: unknown) => {
        log.warn({ err: error, payment: id }, 'payment not given back; it expires by itself')
      })
      await cancellationDispatcher.cancel({ reason: 'handler_failed' }).catch((error: unknown) => {
        if (!(error instanceof FacilitatorResponseError)) throw error
        log.warn({ error: error.message }, 'payment not cancelled; it expires by itself')
      })
    },
    keep: answer => stored(book.keep(id, digest, answer)),
  }
}

/** What a store of payments says; where it does not answer, nothing is taken and nothing delivered. */
function stored<T>(asked: Promise<T>): Promise<T> {
  return asked.catch(error => {
    throw new DependencyDownError('The store of payments', { cause: error })
  })
}

/** Whom an address is counted as: of IPv6 the network, which one caller has whole. */
export function networkPart(ip: string): string {
  const plain = ip.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(plain)) return plain
  const [before = '', after] = plain.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [left, right] = [groups(before), groups(after ?? '')]
  const zeros = after === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':')
}

function decoded(header: string | undefined): PaymentPayload | undefined {
  try {
    const payment = header === undefined ? undefined : decodePaymentSignatureHeader(header)
    return typeof payment?.payload === 'object' && payment.payload !== null ? payment : undefined
  } catch {
    return undefined
  }
}

function paymentHeaders(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, string] => [name.toLowerCase(), value])
      .filter(([name]) => name.startsWith('payment-')),
  )
}

function termsOf(headers: Record<string, string>): PaymentRequired | undefined {
  const terms = headers['payment-required']
  return terms ? decodePaymentRequiredHeader(terms) : undefined
}

/** The terms in a body, where `error` is the phrase of the status. */
function detailsOf(terms: PaymentRequired | undefined): Record<string, unknown> {
  const { error: _, ...details } = terms ?? {}
  return details
}
