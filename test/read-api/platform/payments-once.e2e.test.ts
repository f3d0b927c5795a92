import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import type { Address } from 'viem'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createPayments } from '../../../read-api/http/payments.ts'
import { ErrorBody } from '../../../read-api/http/shapes.ts'
import type { ApiHarness } from '../harness.ts'
import { startApi } from '../harness.ts'
import * as w from '../world.ts'
import { startCareless } from './careless-facilitator.ts'
import { NETWORK, startFacilitator } from './facilitator.ts'
import type { Replica } from './replicas.ts'
import { startReplica } from './replicas.ts'

/** A payment is good for one answer, whatever the facilitator forgets; and an answer that was paid for is not lost. */

const PAY_TO: Address = '0x00000000000000000000000000000000000fee00'
let api: ApiHarness
let facilitator: Awaited<ReturnType<typeof startFacilitator>>
let careless: Awaited<ReturnType<typeof startCareless>>
const replicas: Replica[] = []

const start = async (requestsPerMinute = 1_000) => {
  const replica = await startReplica(api, {
    payments: createPayments({
      payTo: PAY_TO,
      network: NETWORK,
      facilitatorUrl: careless.url,
      usdPerCredit: 0.0005,
      requestsPerMinute,
    }),
  })
  replicas.push(replica)
  return replica
}

beforeAll(async () => {
  api = await startApi()
  await w.seed(api, w.makeWorld())
  facilitator = await startFacilitator()
  await facilitator.mint(facilitator.account(5).address, 1_000_000n)
  careless = await startCareless(facilitator.url)
  await start()
  await start()
})
afterAll(async () => {
  for (const replica of replicas) await replica.stop()
  await careless?.stop()
  await facilitator?.stop()
  await api?.stop()
})
beforeEach(() => {
  careless.settle = 'settles'
  careless.verifies = true
  careless.seen.settled = 0
  careless.seen.verified = 0
})

const vault = `/v2/detailed-vaults/mainnet/${w.USD_VAULT}`

/** A payment for a path, signed by the published client. */
async function sign(path = vault): Promise<string> {
  let signature = ''
  await wrapFetchWithPaymentFromConfig(
    async (input, init) => {
      const request = new Request(input, init)
      signature = request.headers.get('payment-signature') ?? ''
      return signature ? new Response('{}') : fetch(request)
    },
    { schemes: [{ network: NETWORK, client: new ExactEvmScheme(facilitator.account(5)) }] },
  )(`${replicas[0]?.url}${path}`)
  return signature
}
const send = (signature: string, options: { at?: number; path?: string; signal?: AbortSignal } = {}) =>
  fetch(`${replicas[options.at ?? 0]?.url}${options.path ?? vault}`, {
    headers: { 'payment-signature': signature },
    ...(options.signal ? { signal: options.signal } : {}),
  })

it('one payment, five times at once in two processes: one answer', async () => {
  const signature = await sign()
  const answers = await Promise.all([0, 1, 0, 1, 0].map(at => send(signature, { at })))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 402, 402, 402, 402])
  expect(careless.seen.settled).toBe(1)
  for (const answer of answers.filter(({ status }) => status === 402)) {
    expect(ErrorBody.parse(await answer.json()).message).toContain('another request')
    expect(answer.headers.get('payment-required')).toBeTruthy()
  }
  expect((await send(signature, { at: 1 })).status).toBe(402)
  expect((await send(signature, { path: '/v2/networks' })).status).toBe(402)
  expect(careless.seen.settled).toBe(1)
})

it('a request that fails leaves the payment as good as before', async () => {
  const missing = '/v2/detailed-vaults/mainnet/nobody'
  const signature = await sign()
  expect((await send(signature, { path: missing })).status).toBe(404)
  expect((await send(signature)).status).toBe(200)
})

it('a facilitator that fails is 503, and the payment is as good as before', async () => {
  const signature = await sign()
  const refused = async () => {
    const answer = await send(signature)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(ErrorBody.parse(await answer.json()).message).toContain('facilitator')
  }
  careless.verifies = false
  await refused()
  careless.verifies = true
  careless.settle = 'fails'
  await refused()
  careless.settle = 'settles'
  expect((await send(signature)).status).toBe(200)
})

it('a settlement without an answer may have been made: what it is for goes out', async () => {
  const signature = await sign()
  careless.settle = 'hangs'
  const answer = await send(signature)
  expect([answer.status, answer.headers.get('payment-response')]).toEqual([200, null])
  expect(((await answer.json()) as { address: string }).address.toLowerCase()).toBe(w.USD_VAULT)
  careless.settle = 'settles'
  expect((await send(signature)).status).toBe(402)
})

it('who hangs up after paying finds the answer, once, in any process', async () => {
  const signature = await sign()
  careless.settle = 'waits'
  const gone = new AbortController()
  const asked = send(signature, { signal: gone.signal }).catch((error: Error) => error.name)
  await expect.poll(() => careless.seen.settled, { timeout: 20_000 }).toBe(1)
  gone.abort()
  expect(await asked).toBe('AbortError')
  careless.goOn()
  await expect
    .poll(
      async () => (await api.pool.query('SELECT 1 FROM payment_taken WHERE answer IS NOT NULL')).rowCount,
      {
        timeout: 20_000,
      },
    )
    .toBe(1)
  // Another request does not get it.
  expect((await send(signature, { at: 1, path: '/v2/networks' })).status).toBe(402)
  const again = await send(signature, { at: 1 })
  expect(again.status).toBe(200)
  expect(again.headers.get('payment-response')).toBeTruthy()
  expect(((await again.json()) as { address: string }).address.toLowerCase()).toBe(w.USD_VAULT)
  expect(careless.seen.settled).toBe(1)
  expect((await send(signature, { at: 1 })).status).toBe(402)
})

it('an address without a key has so many requests a minute, before anybody is asked', async () => {
  const at = replicas.length
  await api.pool.query('DELETE FROM rate_limit')
  await start(3)
  for (let i = 0; i < 3; i++) expect((await send('e30=', { at })).status).toBe(402)
  const asked = careless.seen.verified
  const answer = await send(await sign(), { at, path: '/v2/vaults?nope=1' })
  expect(answer.status).toBe(429)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(ErrorBody.parse(await answer.json()).message).toContain('3 requests a minute')
  expect(careless.seen.verified).toBe(asked)
})

it('says what makes a list cheaper', async () => {
  const messageOf = async (path: string) =>
    ErrorBody.parse(await (await fetch(`${replicas[0]?.url}${path}`)).json()).message
  expect(await messageOf('/v2/detailed-vaults')).toContain('a smaller perPage costs less')
  expect(await messageOf(vault)).not.toContain('perPage')
})
