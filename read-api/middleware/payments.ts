import { decodePaymentRequiredHeader, decodePaymentSignatureHeader } from '@x402/core/http'
import type { HTTPRequestContext } from '@x402/core/server'
import { FacilitatorResponseError, HTTPFacilitatorClient, x402HTTPResourceServer } from '@x402/core/server'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { ExpressAdapter, x402ResourceServer } from '@x402/express'
import type { Request } from 'express'
import { getAddress } from 'viem'
import { log } from '../../db/process/log.ts'
import { DependencyDownError, MissingKeyError, PaymentRequiredError } from '../errors.ts'

/** What a caller without a key may pay, and how. */
export interface PaymentTerms {
  /** Address that is paid. */
  payTo: string
  /** CAIP-2, e.g. eip155:8453; paid in the network's USDC as @x402/evm knows it. */
  network: `${string}:${string}`
  facilitatorUrl: string
  usdPerCredit: number
  /** Origin (and path) under which callers reach this API; unset: as the request says. */
  publicUrl?: string
}

/** A payment that was verified and is not yet settled. */
export interface Payment {
  /** Takes the money; gives the headers that prove it. @throws PaymentRequiredError where it cannot be taken */
  settle(body: string): Promise<Record<string, string>>
  /** The request failed: nothing is taken. */
  cancel(): Promise<void>
}

export interface Payments {
  /**
   * The payment that came with a request, verified by the facilitator.
   *
   * @throws PaymentRequiredError with the terms where there is none, or it does not do
   * @throws DependencyDownError where the facilitator does not answer, MissingKeyError if no payment came either
   */
  begin(request: Request, what: string, credits: number): Promise<Payment>
}

/** An error of this sort says nothing about the payment. */
const UNREACHABLE = /fetch failed|ECONN|ENOTFOUND|ETIMEDOUT|socket|timed? ?out|network error/i

class QuotedAdapter extends ExpressAdapter {
  readonly usd: string
  private readonly request: Request
  private readonly publicUrl: string | undefined
  constructor(request: Request, usd: string, publicUrl: string | undefined) {
    super(request)
    this.request = request
    this.usd = usd
    this.publicUrl = publicUrl
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
  const facilitator = new HTTPFacilitatorClient({ url: terms.facilitatorUrl })
  const resources = new x402ResourceServer(facilitator).register(terms.network, new ExactEvmScheme())
  const servers = new Map<string, x402HTTPResourceServer>()
  const payTo = getAddress(terms.payTo.toLowerCase())
  const publicUrl = terms.publicUrl?.replace(/\/$/, '')
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

  const down = (cause: unknown) => new DependencyDownError('The payment facilitator', { cause })

  return {
    async begin(request, what, credits) {
      const server = serverFor(what)
      ready ??= server.initialize()
      try {
        await ready
      } catch (error) {
        ready = undefined
        // Nobody can say the terms now: to who did not come to pay it is as if there were none.
        if (!request.get('payment-signature') && !request.get('x-payment')) {
          throw new MissingKeyError('No API key: send yours in the header x-api-key.', { cause: error })
        }
        throw down(error)
      }
      // Up to a base unit of USDC: nothing that has a price is free.
      const usd = (Math.ceil(credits * terms.usdPerCredit * 1e6 - 1e-6) / 1e6).toFixed(6)
      const adapter = new QuotedAdapter(request, `$${usd}`, publicUrl)
      const context: HTTPRequestContext = {
        adapter,
        path: request.path,
        method: request.method,
        paymentHeader: adapter.getHeader('payment-signature') ?? adapter.getHeader('x-payment'),
      }
      const result = await server.processHTTPRequest(context).catch(error => {
        throw down(error)
      })
      if (result.type !== 'payment-verified') {
        const headers = result.type === 'payment-error' ? paymentHeaders(result.response.headers) : {}
        const terms = termsOf(headers)
        const reason = terms?.error
        if (reason && UNREACHABLE.test(reason)) throw down(reason)
        throw new PaymentRequiredError(
          `${request.get('payment-signature') ? `The payment was not taken: ${context.paymentHeader && reason ? reason : 'it cannot be read'}. ` : ''}Send an API key in x-api-key, or pay ${usd} USD for this request as the header payment-required says (x402).`,
          headers,
          detailsOf(terms),
        )
      }
      const { paymentPayload, paymentRequirements, declaredExtensions, cancellationDispatcher } = result
      return {
        async settle(body) {
          const settled = await server
            .processSettlement(paymentPayload, paymentRequirements, declaredExtensions, {
              request: context,
              responseBody: Buffer.from(body),
            })
            .catch(error => {
              throw down(error)
            })
          if (!settled.success) {
            throw new PaymentRequiredError(
              `The payment could not be settled: ${settled.errorReason}. Nothing was delivered; sign another one.`,
              paymentHeaders(settled.headers),
              detailsOf(termsOf(paymentHeaders(settled.headers))),
            )
          }
          return paymentHeaders(settled.headers)
        },
        async cancel() {
          await cancellationDispatcher.cancel({ reason: 'handler_failed' }).catch((error: unknown) => {
            if (!(error instanceof FacilitatorResponseError)) throw error
            log.warn({ error: error.message }, 'payment not cancelled; it expires by itself')
          })
        },
      }
    },
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
