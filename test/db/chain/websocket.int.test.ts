import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { NoAnswerError } from '../../../db/chain/transport.ts'
import { sendByWebSocket } from '../../../db/chain/websocket.ts'
import { acceptWebSockets, type Subscriber } from '../../faults/chain/websocket.ts'

interface Node {
  port: number
  /** How many connections there were. */
  connections(): number
  stop(): Promise<void>
}

type Answering = (method: string, connection: number) => unknown

const undone: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of undone.splice(0)) await undo()
})

/** Answers each call with what `result` gives; undefined: never. */
async function startNode(result: Answering, port = 0): Promise<Node> {
  const server = createServer()
  const known = new Map<Subscriber, number>()
  const sockets = acceptWebSockets(
    server,
    (text, client) => {
      const { id, method } = JSON.parse(text) as { id: number; method: string }
      if (!known.has(client)) known.set(client, known.size + 1)
      const said = result(method, known.get(client) ?? 0)
      if (said !== undefined) client.send(JSON.stringify({ jsonrpc: '2.0', id, result: said }))
    },
    () => {},
  )
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const stop = async () => {
    sockets.close()
    await new Promise(resolve => server.close(resolve))
  }
  undone.push(stop)
  return { port: (server.address() as AddressInfo).port, connections: () => known.size, stop }
}

const asking =
  (port: number, { timeoutMs = 20_000, maxBytes = 1_000_000 } = {}) =>
  async (method = 'eth_chainId') => {
    const send = sendByWebSocket(`ws://127.0.0.1:${port}/v2/the-key`)
    const [answer] = await send([{ method, params: [] }], { timeoutMs, maxBytes })
    return answer
  }

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: NoAnswerError) => error,
  )

describe('calls over a WebSocket', () => {
  const printed = vi.fn()
  beforeEach(() => {
    printed.mockClear()
    vi.spyOn(console, 'error').mockImplementation(printed)
  })

  it('are answered again when the node is back, however long it was away, and nothing is printed', async () => {
    const node = await startNode(() => '0x1')
    const ask = asking(node.port)
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill({ result: '0x1' }))
    await node.stop()
    // Beyond the first time that a connection is opened again by itself, where it is.
    for (let i = 0; i < 6; i++) {
      expect(await failureOf(ask())).toMatchObject({ isGone: true })
      await sleep(500)
    }
    await startNode(() => '0x2', node.port)
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill({ result: '0x2' }))
    expect(printed).not.toHaveBeenCalled()
  })

  it('that are under way when the connection is lost fail at once', async () => {
    const node = await startNode(() => undefined)
    const calls = [1, 2, 3].map(() => failureOf(asking(node.port, { timeoutMs: 60_000 })()))
    while (node.connections() === 0) await sleep(10)
    await node.stop()
    for (const failure of await Promise.all(calls)) expect(failure).toMatchObject({ isGone: true })
  })

  it('go over another connection where nothing came any more over the one there was', async () => {
    const node = await startNode((_, connection) => (connection === 2 ? '0x2' : undefined))
    const hurry = asking(node.port, { timeoutMs: 200 })
    expect(await failureOf(hurry())).toMatchObject({ isLate: true })
    // The connection was opened during that call: the next tells whether anything comes over it.
    expect(await failureOf(hurry())).toMatchObject({ isLate: true })
    expect(await asking(node.port)()).toEqual({ result: '0x2' })
    expect(node.connections()).toBe(2)
  })

  it('share one connection, which an answer that is slow or too long does not end', async () => {
    const node = await startNode(method =>
      method === 'slow' ? undefined : method === 'long' ? '0'.repeat(2_000) : '0x1',
    )
    const ask = asking(node.port, { maxBytes: 1_000 })
    await ask()
    const slow = failureOf(asking(node.port, { timeoutMs: 1_000 })('slow'))
    expect(await failureOf(ask('long'))).toMatchObject({ isTooLong: true })
    expect(await slow).toMatchObject({ isLate: true })
    expect(await ask()).toEqual({ result: '0x1' })
    expect(node.connections()).toBe(1)
  })

  it('are late where the node accepts a connection and says nothing', async () => {
    const server = createTcpServer()
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const sockets = new Set<{ destroy(): void }>()
    server.on('connection', socket => sockets.add(socket))
    undone.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    })
    const ask = asking((server.address() as AddressInfo).port, { timeoutMs: 200 })
    const failures = await Promise.all([failureOf(ask()), failureOf(ask())])
    for (const failure of failures) expect(failure).toMatchObject({ isLate: true })
    await expect.poll(() => sockets.size).toBe(1)
  })
})
