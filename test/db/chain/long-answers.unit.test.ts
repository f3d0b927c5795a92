import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { Endpoint } from '../../../db/chain/endpoint.ts'
import { openStrangerReader } from '../../../db/chain/stranger-reader.ts'
import { acceptWebSockets } from '../../faults/chain/websocket.ts'

const MB = 1024 * 1024
const LONG = '0x0000000000000000000000000000000000010706'
const SHORT = '0x0000000000000000000000000000000000005407'
/** The precompile that answers what it is asked. */
const IDENTITY = /^0x0+4$/
const WORD = `0x${'2a'.padStart(64, '0')}`

let close = () => {}
afterEach(() => close())

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

interface Asked {
  id: number
  method: string
  params: [{ to?: string; data: string }]
}

/** A node that runs no code sent with a call: each contract is asked by itself. */
function answerTo({ method, params }: Asked): { result: string } | { error: object } | undefined {
  if (method !== 'eth_call') return { result: '0x1' }
  const [{ to, data }] = params
  if (to === LONG) return undefined
  if (to === SHORT) return { result: WORD }
  if (to && IDENTITY.test(to)) return { result: data }
  return { error: { code: -32_602, message: 'to is required' } }
}

const readerOf = (url: string) => {
  const endpoint = new Endpoint(url)
  return openStrangerReader((method, params, options) => endpoint.request(method, params, options))
}

const calls = [LONG, SHORT].map(to => ({ to, data: '0x06fdde03' }))
const trouble = expect.stringContaining('an answer of more than 262144 bytes')

test('of an answer over HTTP no more is read than one may have, and the connection is cut', async () => {
  const sent: number[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const asked: Asked = JSON.parse(body)
    const answer = answerTo(asked)
    if (answer) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...answer }))
      return
    }
    const at = sent.push(0) - 1
    response.write(`{"jsonrpc":"2.0","id":${asked.id},"result":"0x`)
    // Without end, as fast as it is read.
    while (!response.destroyed) {
      const isTaken = response.write('00'.repeat(MB / 2))
      sent[at] = (sent[at] ?? 0) + MB
      if (!isTaken && !response.destroyed)
        await new Promise<void>(resolve => {
          response.once('drain', resolve)
          response.once('close', resolve)
        })
    }
  })
  close = () => server.closeAllConnections()
  const reader = readerOf(`http://127.0.0.1:${await listen(server)}`)
  const [long, short] = await reader.read(calls, 'latest')
  expect([long, short]).toEqual([{ data: undefined, trouble }, { data: WORD }])
  expect(sent.length).toBeGreaterThan(0)
  // What is under way when it is cut lies in buffers of the two ends.
  expect(Math.max(...sent)).toBeLessThan(16 * MB)
  server.close()
}, 60_000)

test('an answer over a WebSocket that is too long is left aside, and the connection stays', async () => {
  let connections = 0
  const server = createServer()
  const sockets = acceptWebSockets(
    server,
    (text, client) => {
      const asked: Asked = JSON.parse(text)
      const answer = answerTo(asked) ?? { result: `0x${'00'.repeat(MB)}` }
      client.send(JSON.stringify({ jsonrpc: '2.0', id: asked.id, ...answer }))
    },
    () => {},
  )
  server.on('upgrade', () => connections++)
  close = () => sockets.close()
  const reader = readerOf(`ws://127.0.0.1:${await listen(server)}`)
  const [long, short] = await reader.read(calls, 'latest')
  expect([long, short]).toEqual([{ data: undefined, trouble }, { data: WORD }])
  expect(connections).toBe(1)
  server.close()
}, 60_000)
