import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { networks } from '../../../db/networks.ts'
import { runChain } from '../../../processors/chain-processor.ts'
import { loadProtocols } from '../../../processors/load-protocols.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const server = createServer((_, response) => response.writeHead(401).end('a key is wanted'))
let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server.close()
  await postgres?.drop()
})

it('a gateway that wants a key ends the processor with what to set in its place', async () => {
  const gateway = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { pool } = postgres
  const protocols = await loadProtocols()
  await expect(
    runChain({ network: networks.base, protocols, pool, rpcUrls: [], gateway, contracts: {}, startBlock: 0 }),
  ).rejects.toMatchObject({
    code: 'CONFIG',
    message: expect.stringMatching(/wants a key.* set PORTAL_BASE .*in place of GATEWAY_BASE/),
  })
})
