import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createIris, NotConfiguredError } from '../../../read-api/protocols/cctp-v2/iris.ts'

const TX = `0x${'11'.repeat(32)}` as const
const NONCE = `0x${'22'.repeat(32)}` as const
const COMPLETE = {
  messages: [
    { message: '0xAB', attestation: '0xcd', cctpVersion: '2', status: 'complete', eventNonce: NONCE },
    { message: '0x01', attestation: '0x02', cctpVersion: 1, status: 'complete', eventNonce: NONCE },
  ],
}
const PENDING = {
  messages: [
    {
      message: null,
      attestation: 'PENDING',
      cctpVersion: 2,
      status: 'pending_confirmations',
      eventNonce: NONCE,
    },
  ],
}

let asked: string[] = []
let reply: { status: number; body: unknown } = { status: 404, body: {} }
let now = 1_000_000
let baseUrl = ''
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  response.statusCode = reply.status
  response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
})
beforeEach(async () => {
  asked = []
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})
const iris = (options = {}) => createIris({ baseUrl, clock: () => now, ...options })

test('a whole answer is kept for ever, what is pending and what is not known five seconds', async () => {
  const service = iris()
  reply = { status: 404, body: {} }
  expect(await service.messages(0, TX)).toBeUndefined()
  now += 4_900
  expect(await service.messages(0, TX)).toBeUndefined()
  expect(asked.length).toBe(1)
  reply = { status: 200, body: PENDING }
  now += 200
  expect(await service.messages(0, TX)).toEqual([undefined])
  now += 5_100
  reply = { status: 200, body: COMPLETE }
  // Of V1 is another bridge's.
  expect(await service.messages(0, TX)).toEqual([{ message: '0xab', attestation: '0xcd' }])
  now += 1e9
  await service.messages(0, TX)
  expect(asked.length).toBe(3)
  expect(asked[0]).toBe(`GET /v2/messages/0?transactionHash=${TX}`)
})

test('many at once are one request', async () => {
  const service = iris()
  reply = { status: 200, body: COMPLETE }
  await Promise.all(Array.from({ length: 50 }, () => service.messages(3, TX)))
  expect(asked.length).toBe(1)
})

test('no more are sent in a second than it bears, and after a 429 none for five minutes', async () => {
  const service = iris({ perSecond: 3 })
  reply = { status: 200, body: PENDING }
  const txs = Array.from({ length: 10 }, (_, i) => `0x${String(i).padStart(64, '0')}` as const)
  await Promise.all(txs.map(tx => service.messages(0, tx)))
  expect(asked.length).toBe(3)
  now += 6_000
  reply = { status: 429, body: {} }
  expect(await service.messages(0, TX)).toBeUndefined()
  expect(asked.length).toBe(4)
  now += 299_000
  reply = { status: 200, body: COMPLETE }
  expect(await service.messages(0, TX)).toBeUndefined()
  expect(asked.length).toBe(4)
  now += 2_000
  now += 5_000
  expect((await service.messages(0, TX))?.length).toBe(1)
})

test.each([
  { status: 500, body: 'oops' },
  { status: 200, body: '<html>' },
  { status: 200, body: { messages: [{ message: 7 }] } },
  { status: 200, body: `{"messages":[],"x":"${'x'.repeat(3 << 20)}"}` },
  { status: 302, body: '' },
])('what fails is not known, and nothing is thrown: $status', async answer => {
  const service = iris()
  reply = answer
  expect(await service.messages(0, TX)).toBeUndefined()
  await expect(service.fees(0, 6, true)).rejects.toMatchObject({ status: 503, code: 'DEPENDENCY_DOWN' })
})

test('a service that does not answer is given up', async () => {
  const hung = createServer(() => {})
  await new Promise<void>(resolve => hung.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(hung.address() as AddressInfo).port}`
  expect(await iris({ baseUrl: url, timeoutMs: 50 }).messages(0, TX)).toBeUndefined()
  hung.closeAllConnections()
  hung.close()
})

test('a message that says complete without being whole is not attested', async () => {
  const service = iris()
  reply = {
    status: 200,
    body: { messages: [{ message: '0x', attestation: 'PENDING', cctpVersion: 2, status: 'complete' }] },
  }
  expect(await service.messages(0, TX)).toEqual([undefined])
})

test('what was whole is asked for again once it is to be attested again', async () => {
  const service = iris()
  reply = { status: 200, body: COMPLETE }
  await service.messages(0, TX)
  await service.reattest(0, TX, NONCE)
  await service.reattest(0, TX, NONCE)
  await service.messages(0, TX)
  expect(asked.map(path => path.split('?')[0])).toEqual([
    'GET /v2/messages/0',
    `POST /v2/reattest/${NONCE}`,
    'GET /v2/messages/0',
  ])
})

test('without an address nothing is sent: fees say which setting is missing, messages are not known', async () => {
  const service = createIris()
  expect(service.isConfigured).toBe(false)
  expect(await service.messages(0, TX)).toBeUndefined()
  await service.reattest(0, TX, NONCE)
  await expect(service.fees(0, 6, false)).rejects.toThrow(NotConfiguredError)
  await expect(service.fees(0, 6, false)).rejects.toThrow(/CCTP_URL/)
})
