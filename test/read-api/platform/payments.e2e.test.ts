import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig, x402Client } from '@x402/fetch'
import type { Address } from 'viem'
import { getAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPayments } from '../../../read-api/http/payments.ts'
import { ErrorBody, PaymentRequiredBody } from '../../../read-api/http/shapes.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import { NETWORK, startFacilitator, USDC } from './facilitator.ts'
import type { Replica } from './replicas.ts'
import { startReplica } from './replicas.ts'

const PAY_TO: Address = '0x00000000000000000000000000000000000fee00'
const PUBLIC = 'https://api.example/vaults'

let api: ApiHarness
let facilitator: Awaited<ReturnType<typeof startFacilitator>>
let replica: Replica

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
  facilitator = await startFacilitator()
  await facilitator.mint(facilitator.account(5).address, 1_000_000n)
  replica = await startReplica(api, {
    payments: createPayments({
      payTo: PAY_TO,
      network: NETWORK,
      facilitatorUrl: facilitator.url,
      usdPerCredit: 0.0005,
      publicUrl: PUBLIC,
    }),
  })
})
afterAll(async () => {
  await replica?.stop()
  await facilitator?.stop()
  await api?.stop()
})

/** The published client with the purse of one of the chain's accounts. */
const payingFetch = (index: number) =>
  wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: NETWORK, client: new ExactEvmScheme(facilitator.account(index)) }],
  })
const vault = `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`

describe('payment for single requests', () => {
  it('states its terms where there is no key', async () => {
    const answer = await fetch(`${replica.url}${vault}`)
    expect(answer.status).toBe(402)
    const body = await answer.json()
    expect(body).toMatchObject({ statusCode: 402, error: 'Payment Required' })
    expect(ErrorBody.parse(body).message).toContain('0.001500 USD')
    const terms = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '')
    expect(terms.x402Version).toBe(2)
    expect(terms.resource?.url).toBe(`${PUBLIC}${vault}`)
    // 3 credits of 0.0005 USD, in base units of a token with 6 decimals.
    expect(terms.accepts).toMatchObject([
      { scheme: 'exact', network: NETWORK, amount: '1500', asset: USDC, payTo: getAddress(PAY_TO) },
    ])
    const { x402Version, resource, accepts } = terms
    expect(PaymentRequiredBody.parse(body)).toBeDefined()
    expect(body).toMatchObject({ x402Version, resource, accepts })
  })

  it('asks for a base unit at least, however little a credit costs', async () => {
    const cheap = await startReplica(api, {
      payments: createPayments({
        payTo: PAY_TO,
        network: NETWORK,
        facilitatorUrl: facilitator.url,
        usdPerCredit: 0.0000001,
      }),
    })
    for (const [path, amount] of [
      ['/v2/networks', '1'],
      ['/v2/detailed-vaults?perPage=3', '1'],
      ['/v2/detailed-vaults?perPage=6', '2'],
    ]) {
      const answer = await fetch(`${cheap.url}${path}`)
      const terms = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '')
      expect(terms.accepts[0]?.amount).toBe(amount)
    }
    await cheap.stop()
  })

  it.each([
    ['/v2/networks', '500'],
    // 1 + 3 for each vault of the page that was asked for.
    ['/v2/detailed-vaults?perPage=2', '3500'],
    ['/v2/detailed-vaults', '75500'],
    [`/v2/historical/mainnet/${w.USD_VAULT}/tvl?perPage=9`, '5000'],
  ])('prices %s at %s', async (path, amount) => {
    const answer = await fetch(`${replica.url}${path}`)
    const terms = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '')
    expect(terms.accepts[0]?.amount).toBe(amount)
  })

  it.each([
    ['nobody', undefined, 'own'],
    ['the next proxy', 1, 'https://shop.example'],
    ['whoever is on this machine', 'loopback', 'https://shop.example'],
    ['a proxy that this is not', '10.1.2.3', 'own'],
  ])('takes its own address from what proxies say, where it trusts %s', async (_, trustProxy, origin) => {
    const other = await startReplica(api, {
      trustProxy,
      payments: createPayments({
        payTo: PAY_TO,
        network: NETWORK,
        facilitatorUrl: facilitator.url,
        usdPerCredit: 0.0005,
      }),
    })
    const answer = await fetch(`${other.url}${vault}`, {
      headers: { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' },
    })
    const terms = decodePaymentRequiredHeader(answer.headers.get('payment-required') ?? '')
    expect(terms.resource?.url).toBe(`${origin === 'own' ? other.url : origin}${vault}`)
    await other.stop()
  })

  it('takes the payment of the published client, once, on the chain', async () => {
    const purse = facilitator.account(5).address
    const before = await facilitator.balanceOf(purse)
    const paid = await payingFetch(5)(`${replica.url}${vault}`)
    expect(paid.status).toBe(200)
    expect(((await paid.json()) as { address: string }).address.toLowerCase()).toBe(w.USD_VAULT)
    expect(paid.headers.get('cache-control')).toContain('private')
    const receipt = decodePaymentResponseHeader(paid.headers.get('payment-response') ?? '')
    expect(receipt).toMatchObject({ success: true, network: NETWORK })
    expect(facilitator.seen.settled).toEqual([receipt.transaction])
    expect((await facilitator.transaction(receipt.transaction as Address)).status).toBe('success')
    expect(await facilitator.balanceOf(PAY_TO)).toBe(1_500n)
    expect(await facilitator.balanceOf(purse)).toBe(before - 1_500n)
  })

  it('posts too', async () => {
    const paid = await payingFetch(5)(`${replica.url}/beta/advanced-analytics/mainnet/${w.USD_VAULT}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"select":{"maxDrawdown":true}}',
    })
    expect(paid.status).toBe(200)
    expect(await paid.json()).toHaveProperty('maxDrawdown')
  })

  it('takes nothing for a request that fails, and says so before it asks for money', async () => {
    const [settled, before] = [
      facilitator.seen.settled.length,
      await facilitator.balanceOf(facilitator.account(5).address),
    ]
    const wrong = await payingFetch(5)(`${replica.url}/v2/networks?nope=1`)
    expect(wrong.status).toBe(400)
    const missing = await payingFetch(5)(`${replica.url}/v2/detailed-vaults/mainnet/nobody`)
    expect(missing.status).toBe(404)
    ErrorBody.parse(await missing.json())
    expect(facilitator.seen.settled).toHaveLength(settled)
    expect(await facilitator.balanceOf(facilitator.account(5).address)).toBe(before)
  })

  it('delivers nothing to an empty purse', async () => {
    const answer = await payingFetch(6)(`${replica.url}${vault}`)
    expect(answer.status).toBe(402)
    expect(ErrorBody.parse(await answer.json()).message).toMatch(
      /payment was not taken: .*(simulation|fund|balance)/i,
    )
  })

  it('takes a signature once only, also when it comes many times at once', async () => {
    let signature = ''
    const spy: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const given = request.headers.get('payment-signature')
      if (!given) return fetch(request)
      signature = given
      return new Response('{}')
    }
    await wrapFetchWithPaymentFromConfig(spy, {
      schemes: [{ network: NETWORK, client: new ExactEvmScheme(facilitator.account(5)) }],
    })(`${replica.url}${vault}`)
    const send = () => fetch(`${replica.url}${vault}`, { headers: { 'payment-signature': signature } })
    const before = await facilitator.balanceOf(PAY_TO)
    const answers = await Promise.all([send(), send(), send(), send()])
    const paid = answers.filter(({ status }) => status === 200).length
    expect(await facilitator.balanceOf(PAY_TO)).toBe(before + 1_500n)
    expect(paid).toBe(1)
    for (const answer of answers) expect([200, 402]).toContain(answer.status)
    const again = await send()
    expect(again.status).toBe(402)
    expect(await facilitator.balanceOf(PAY_TO)).toBe(before + 1_500n)
  })

  it.each([['not base64!'], [Buffer.from('{"x402Version":2}').toString('base64')]])(
    'refuses a payment that is none: %s',
    async signature => {
      const answer = await fetch(`${replica.url}${vault}`, { headers: { 'payment-signature': signature } })
      expect(answer.status).toBe(402)
      ErrorBody.parse(await answer.json())
      expect(answer.headers.get('payment-required')).toBeTruthy()
    },
  )

  it('a key is taken before a payment, and a wrong key is not paid for', async () => {
    const keyed = await fetch(`${replica.url}${vault}`, { headers: { 'x-api-key': api.apiKey } })
    expect([keyed.status, keyed.headers.get('x-credits-used')]).toEqual([200, '3'])
    const wrong = await fetch(`${replica.url}${vault}`, { headers: { 'x-api-key': 'vl_nobody' } })
    expect(wrong.status).toBe(401)
  })

  it('sends what was paid for, whatever else the caller says, and to nobody else', async () => {
    const path = `/v2/historical/mainnet/${w.USD_VAULT}/tvl?perPage=2`
    const headers = { 'x-api-key': '', 'if-none-match': '*', 'cache-control': 'max-age=0' }
    const paid = await payingFetch(5)(`${replica.url}${path}`, { headers })
    expect([paid.status, ((await paid.json()) as { itemsOnPage: number }).itemsOnPage]).toEqual([200, 2])
    const again = await fetch(`${replica.url}${path}`, { headers: { 'x-api-key': '' } })
    expect(again.status).toBe(402)
    const keyed = await fetch(`${replica.url}${path}`, { headers: { 'x-api-key': api.apiKey } })
    expect([keyed.status, keyed.headers.get('payment-response')]).toEqual([200, null])
  })

  it('is asked for in the result of a tool, comes with the call, and is receipted in its answer', async () => {
    const call = async (_meta: Record<string, unknown>) => {
      const name = 'get_vault'
      const params = { name, arguments: { network: 'mainnet', vaultId: w.USD_VAULT }, _meta }
      const answer = await fetch(`${replica.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      })
      const [, data] = /^data: (.*)$/m.exec(await answer.text()) ?? []
      return (JSON.parse(data ?? '{}') as { result: ToolResult }).result
    }
    interface ToolResult {
      isError?: boolean
      structuredContent: PaymentRequired & { statusCode?: number; answer?: { address: string } }
      _meta?: { 'x402/payment-response': { success: boolean; transaction: string } }
    }
    const asked = await call({})
    expect([asked.isError, asked.structuredContent.statusCode]).toEqual([true, 402])
    const { x402Version, resource, accepts } = asked.structuredContent
    expect(accepts).toMatchObject([
      { scheme: 'exact', network: NETWORK, amount: '1500', payTo: getAddress(PAY_TO) },
    ])
    const purse = new x402Client().register(NETWORK, new ExactEvmScheme(facilitator.account(5)))
    const payment = await purse.createPaymentPayload({ x402Version, resource, accepts })
    const before = await facilitator.balanceOf(PAY_TO)
    const paid = await call({ 'x402/payment': payment })
    expect(paid.structuredContent.answer?.address.toLowerCase()).toBe(w.USD_VAULT)
    const receipt = paid._meta?.['x402/payment-response']
    expect(receipt?.success).toBe(true)
    expect(facilitator.seen.settled.at(-1)).toBe(receipt?.transaction)
    expect(await facilitator.balanceOf(PAY_TO)).toBe(before + 1_500n)
    const again = await call({ 'x402/payment': payment })
    expect(again.structuredContent.statusCode).toBe(402)
    for (const none of ['x', 7, { x402Version: 2 }, { x: 'x'.repeat(9_000) }]) {
      const { statusCode } = (await call({ 'x402/payment': none })).structuredContent
      expect([400, 402]).toContain(statusCode)
    }
  })

  it('health stays free', async () => {
    expect((await fetch(`${replica.url}/v2/health`)).status).toBe(200)
  })

  it('is 503 for who pays when the facilitator is down, and 401 for who did not come to pay', async () => {
    const lonely = await startReplica(api, {
      payments: createPayments({
        payTo: PAY_TO,
        network: NETWORK,
        facilitatorUrl: 'http://127.0.0.1:1',
        usdPerCredit: 1,
      }),
    })
    expect((await fetch(`${lonely.url}${vault}`)).status).toBe(401)
    const answer = await fetch(`${lonely.url}${vault}`, { headers: { 'payment-signature': 'e30=' } })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('5')
    ErrorBody.parse(await answer.json())
    await lonely.stop()
  })
})
