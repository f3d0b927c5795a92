import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../chain/anvil-process.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { GeneratedChain } from '../faults/chain/generated-chain.ts'
import { startFaultyNode } from '../faults/chain/rpc-server.ts'
import { type Running, start } from '../faults/command.ts'

const KEY = 'Zk3cretPath0123456789'
const QUERY = 'qU3ryKey0123456789'
const PASSWORD = 'pa55word0123456789'

/** A node that says where it was asked in whatever it answers, as gateways do in pages of errors. */
const node = createServer((request, response) => {
  request.resume().on('end', () => {
    // A gateway or Portal that refuses the key would end the process.
    const statuses = /portal|gateway/.test(request.url ?? '') ? [500, 200] : [401, 500, 200]
    const status = statuses[asked++ % statuses.length] ?? 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      status === 200
        ? JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            error: { code: -32603, message: `no: ${request.url} ${request.headers['x-api-key']}` },
          })
        : `<h1>${request.url}: key ${KEY} ${request.headers['x-api-key']} is not allowed</h1>`,
    )
  })
})
let asked = 0
let postgres: TestPostgres
beforeAll(async () => {
  await new Promise<void>(resolve => node.listen(0, '127.0.0.1', resolve))
  postgres = await createPostgres()
})
afterAll(async () => {
  node.close()
  await postgres?.drop()
})

it.each([
  ['answers with errors', () => (node.address() as AddressInfo).port],
  ['is not there', freePort],
])('says no key of an endpoint that %s, at the lowest level of the log', async (_, port) => {
  const at = `127.0.0.1:${await port()}`
  const env = {
    DATABASE_URL: postgres.url,
    LOG_LEVEL: 'trace',
    SQD_TRACE: '*',
    SQD_WARN: '',
    RPC_MAINNET: `http://${at}/v2/${KEY}?apikey=${QUERY},http://user:${PASSWORD}@${at}/${KEY}`,
    GATEWAY_BASE: `http://${at}/gateway/${KEY}?apikey=${QUERY}`,
    PORTAL_OPTIMISM: `http://${at}/portal/${KEY}?apikey=${QUERY}`,
    PORTAL_API_KEY: PASSWORD,
    START_BLOCK_MAINNET: '0',
  }
  const processes: Running[] = ['mainnet', 'base', 'optimism'].map(name =>
    start(['processors/main.ts', name], env),
  )
  try {
    await Promise.all(processes.map(running => running.until(new RegExp(`(${at}[\\s\\S]*){2}`))))
  } finally {
    for (const { child } of processes) child.kill('SIGTERM')
    await Promise.all(processes.map(({ ended }) => ended))
  }
  for (const running of processes) {
    expect(running.said()).toContain(at)
    for (const secret of [KEY, QUERY, PASSWORD]) expect(running.said()).not.toContain(secret)
  }
})

it('says no key of a node that goes away amid a WebSocket, at the lowest level of the log', async () => {
  const chain = new GeneratedChain({ seed: 5, chainId: 1 })
  chain.live(20)
  const away = await startFaultyNode(chain)
  const processor = start(['processors/main.ts', 'mainnet'], {
    DATABASE_URL: postgres.url,
    LOG_LEVEL: 'trace',
    SQD_TRACE: '*',
    SQD_WARN: '',
    RPC_MAINNET: `${away.url.replace('http', 'ws')}/v2/${KEY}?apikey=${QUERY}`,
    START_BLOCK_MAINNET: '0',
  })
  try {
    await processor.until(/processor runs/)
    chain.live(2)
    await processor.until(/"block":/)
    await away.goAway()
    // Longer than the first pause before a connection is opened again.
    await sleep(5_000)
    await away.comeBack()
    await sleep(5_000)
  } finally {
    processor.child.kill('SIGTERM')
    await processor.ended
    await away.stop()
  }
  expect(processor.said()).toMatch(/ECONNREFUSED|closed|terminated/)
  for (const secret of [KEY, QUERY]) expect(processor.said()).not.toContain(secret)
})
