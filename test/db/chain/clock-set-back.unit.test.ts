import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openFailover } from '../../../db/chain/failover.ts'

const HOUR = 3_600_000

test('a node that wants to be left alone for a second is asked again, though the clock is set back by an hour meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR })
  let isBusy = true
  const server = createServer(async (request, response) => {
    let question = ''
    for await (const chunk of request) question += chunk
    const { id } = JSON.parse(question) as { id: number }
    if (!isBusy) return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
    isBusy = false
    response.writeHead(429, { 'retry-after': '1' }).end('{}')
    // By then the refusal is noted.
    setTimeout(() => vi.useRealTimers(), 500)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    vi.useRealTimers()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as { port: number }
  expect(await openFailover([`http://127.0.0.1:${port}`])('eth_chainId', [])).toBe('0x1')
}, 10_000)
