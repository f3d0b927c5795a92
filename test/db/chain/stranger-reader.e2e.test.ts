import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StateMissingError } from '../../../db/chain/errors.ts'
import { openFailover } from '../../../db/chain/failover.ts'
import { openStrangerReader } from '../../../db/chain/stranger-reader.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { addressOf, misbehaviours, placeStranger } from './strangers.ts'

const GOOD = addressOf(0x600d)
const REVERTING = addressOf(0xdead)
const NOBODY = addressOf(0xaaaa)
const ANSWER = `0x${'00'.repeat(31)}2a`
const strangers = Object.entries(misbehaviours).map(([what, body], i) => ({
  what,
  body,
  to: addressOf(0xb000 + i),
}))

interface Request {
  id: number
  method: string
  params: [{ to?: string; gas?: string }, ...unknown[]]
}
/** What a node says in place of an answer. */
type Refuses = (request: Request) => { code: number; message: string } | number | undefined

let node: Node
beforeAll(async () => {
  node = await startNode()
  await node.rpc('anvil_setCode', [GOOD, '0x602a5f5260205ff3'])
  await node.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
  for (const { to, body } of strangers) await placeStranger(node, to, body)
})
afterAll(() => node?.stop())

/** Stands before the node and refuses some requests in words of its own. */
async function startVendor(refuses: Refuses) {
  const requests: Request[] = []
  let bytes = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const asked = [JSON.parse(body) as Request | Request[]].flat()
    requests.push(...asked)
    const refusals = asked.map(refuses)
    const status = refusals.find(refusal => typeof refusal === 'number')
    if (status) return void response.writeHead(status).end()
    if (asked.length === 1 && refusals[0])
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id: asked[0]?.id, error: refusals[0] }))
    const headers = { 'content-type': 'application/json' }
    const text = await (await fetch(node.rpcUrl, { method: 'POST', headers, body })).text()
    bytes += text.length
    response.writeHead(200, headers).end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bytes: () => bytes,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const needsReceiver: Refuses = ({ method, params }) =>
  method === 'eth_call' && !params[0].to ? { code: -32602, message: 'to is required' } : undefined
const isOfStranger = ({ method, params }: Request) =>
  method === 'eth_call' && strangers.some(({ to }) => to === params[0].to)
const inWords =
  (code: number, message: string): Refuses =>
  request =>
    needsReceiver(request) ?? (isOfStranger(request) ? { code, message } : undefined)

const vendors: [string, Refuses][] = [
  ['that makes calls together', () => undefined],
  ['that makes one call at a time', needsReceiver],
  ['of invented words', inWords(-39_999, 'the oracle is displeased')],
  ['that says it timed out', inWords(-32_000, 'execution aborted (timeout = 5s)')],
  ['that answers with 400', request => needsReceiver(request) ?? (isOfStranger(request) ? 400 : undefined)],
  ['that answers with 500', request => needsReceiver(request) ?? (isOfStranger(request) ? 500 : undefined)],
  [
    'that lets nobody say how much gas',
    request =>
      needsReceiver(request) ?? (request.params[0].gas ? { code: -32_000, message: 'gas? no' } : undefined),
  ],
]

describe.each(vendors)('a node %s', (_, refuses) => {
  test('strangers cost others nothing, and are told of', async () => {
    const vendor = await startVendor(refuses)
    const reader = openStrangerReader(openFailover([vendor.url]))
    const { hash } = await node.head()
    const calls = [
      ...strangers.map(({ to }) => ({ to, data: '0x06fdde03' })),
      { to: GOOD, data: '0x01' },
      { to: REVERTING, data: '0x01' },
      { to: NOBODY, data: '0x01' },
      ...Array.from({ length: 30 }, () => ({ to: GOOD, data: '0x06fdde03' })),
    ]
    const answers = await reader.read(calls, { blockHash: hash })
    const [good, reverting, nobody, ...rest] = answers.slice(strangers.length)
    expect(good).toMatchObject({ data: ANSWER })
    expect(rest.map(({ data }) => data)).toEqual(Array.from({ length: 30 }, () => ANSWER))
    expect([reverting?.data, nobody?.data]).toEqual([undefined, undefined])
    expect([good, reverting, nobody, ...rest].filter(answer => answer?.trouble)).toEqual([])
    const wrong = strangers.flatMap(({ what }, i) => {
      const answer = answers[i]
      // A short answer is one, whatever is in it, and a revert is one, whatever it says.
      if (what.includes('UTF-8') || what.includes('reverts')) return []
      return answer?.data === undefined && answer?.trouble ? [] : [what]
    })
    expect(wrong).toEqual([])
    vendor.stop()
  })
})

test.each(vendors.slice(0, 2))(
  'a call at a node %s has so much gas as is said, and no more',
  async (_, refuses) => {
    // Answers how much gas is left.
    const frank = '0x00000000000000000000000000000000000f4a4c'
    await node.rpc('anvil_setCode', [frank, '0x5a5f5260205ff3'])
    const vendor = await startVendor(refuses)
    const reader = openStrangerReader(openFailover([vendor.url]))
    const at = { blockHash: (await node.head()).hash }
    const calls = [
      { to: frank, data: '0x01' },
      { to: frank, data: '0x02' },
    ]
    for (const [gas, most] of [
      [undefined, 5_000_000],
      [2_000_000, 2_000_000],
    ] as const) {
      for (const { data, gas: used } of await reader.read(calls, at, gas)) {
        expect(Number(data)).toBeLessThanOrEqual(most)
        expect(Number(data)).toBeGreaterThan(most * 0.95)
        if (refuses === needsReceiver) expect(used).toBeUndefined()
        else expect(used).toBeGreaterThan(100)
        expect(used ?? 0).toBeLessThan(10_000)
      }
    }
    vendor.stop()
  },
)

test('a limit of calls a second, in words that nobody knows, is no verdict on a contract', async () => {
  const sent: number[] = []
  const vendor = await startVendor(request => {
    const refusal = needsReceiver(request)
    if (refusal) return refusal
    const now = Date.now()
    while ((sent[0] ?? now) < now - 1_000) sent.shift()
    if (sent.length >= 25) return { code: -39_997, message: 'the oracle is tired' }
    sent.push(now)
    return undefined
  })
  const reader = openStrangerReader(openFailover([vendor.url]))
  const { hash } = await node.head()
  const calls = Array.from({ length: 120 }, () => ({ to: GOOD, data: '0x01' }))
  const answers = await reader.read(calls, { blockHash: hash })
  expect(answers.map(({ data, trouble }) => [data, trouble])).toEqual(calls.map(() => [ANSWER, undefined]))
  vendor.stop()
})

test('a block that the node has no state of is told apart, in whatever words', async () => {
  const vendor = await startVendor(({ method }) =>
    /^eth_(call|getBalance|getCode)$/.test(method)
      ? { code: -39_998, message: 'that was long ago' }
      : undefined,
  )
  const reader = openStrangerReader(openFailover([vendor.url]))
  const { hash } = await node.head()
  const reading = reader.read([{ to: GOOD, data: '0x' }], { blockHash: hash })
  await expect(reading).rejects.toBeInstanceOf(StateMissingError)
  vendor.stop()
})

test('a node that answers nobody is no verdict on a contract', async () => {
  const vendor = await startVendor(() => 502)
  const reader = openStrangerReader(openFailover([vendor.url]))
  const reading = reader.read([{ to: GOOD, data: '0x' }], { blockHash: addressOf(1) })
  await expect(reading).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect(reading).rejects.not.toBeInstanceOf(StateMissingError)
  vendor.stop()
})

test('four hundred calls are one request, and a hundred burners some more', async () => {
  const vendor = await startVendor(() => undefined)
  const reader = openStrangerReader(openFailover([vendor.url]))
  const { hash } = await node.head()
  const honest = Array.from({ length: 400 }, () => ({ to: GOOD, data: '0x01' }))
  await reader.read(honest, { blockHash: hash })
  const asked = vendor.requests.length
  expect(asked).toBeLessThanOrEqual(3)
  const burner = strangers.find(({ what }) => what === 'burns all gas')?.to ?? GOOD
  const mixed = honest.map((call, i) => (i % 4 === 0 ? { to: burner, data: '0x01' } : call))
  const answers = await reader.read(mixed, { blockHash: hash })
  expect(answers.filter(({ data }) => data === ANSWER)).toHaveLength(300)
  expect(vendor.requests.length - asked).toBeLessThanOrEqual(30)
  vendor.stop()
})

test('an answer without end is cut off after its bound, and is no answer of the one contract that it is of', async () => {
  const culprit = addressOf(0xb1c)
  const piece = Buffer.alloc(64 * 1024, 'f')
  /** Bytes of each answer without end that were sent before the connection was cut. */
  const sent: number[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const headers = { 'content-type': 'application/json' }
    response.writeHead(200, headers)
    if (!body.includes(culprit.slice(2))) {
      return void response.end(await (await fetch(node.rpcUrl, { method: 'POST', headers, body })).text())
    }
    const n = sent.push(0) - 1
    const endless = function* () {
      yield '{"jsonrpc":"2.0","id":1,"result":"0x'
      for (let bytes = 0; bytes < 64 * 1024 * 1024; bytes += piece.length) {
        sent[n] = bytes
        yield piece
      }
    }
    await pipeline(endless, response).catch(() => {})
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const reader = openStrangerReader(openFailover([url]))
  const calls = Array.from({ length: 40 }, (_, i) => ({ to: i === 17 ? culprit : GOOD, data: '0x01' }))
  const answers = await reader.read(calls, { blockHash: (await node.head()).hash })
  expect(answers.map(({ data }) => data)).toEqual(calls.map((_, i) => (i === 17 ? undefined : ANSWER)))
  expect(answers.flatMap(({ trouble }, i) => (trouble ? [i] : []))).toEqual([17])
  expect(sent.length).toBeGreaterThan(2)
  // What is read at most, and what the two ends of a connection hold back.
  expect(Math.max(...sent)).toBeLessThan(8 * 1024 * 1024)
  server.close()
  server.closeAllConnections()
})
