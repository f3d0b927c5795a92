import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { domains, MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from '../../abi/cctp-v2/domains.ts'
import { networkIds } from '../../db/networks.ts'

const lower = z.string().transform(text => text.toLowerCase())
/** The chains of @circle-fin/bridge-kit, which is too much of a package to be installed for this. */
const published = z
  .object({
    chains: z.array(
      z.object({
        chainId: z.number(),
        domain: z.number(),
        usdc: lower,
        tokenMessenger: lower,
        messageTransmitter: lower,
        forwardingTo: z.boolean(),
      }),
    ),
  })
  .parse(JSON.parse(readFileSync(new URL('../fixtures/cctp-chains.json', import.meta.url), 'utf8'))).chains

test('our networks with CCTP v2 are those that Circle publishes, no more and no fewer', () => {
  const ours = networkIds.flatMap(({ chainId }) => published.find(of => of.chainId === chainId) ?? [])
  expect(ours.length).toBe(13)
  expect(domains.map(({ chainId }) => chainId).sort()).toEqual(ours.map(({ chainId }) => chainId).sort())
})

describe.each(domains)('$network', ({ chainId, domain, usdc, takesForwarding }) => {
  test('has the published domain, token and contracts', () => {
    expect(published.find(of => of.chainId === chainId)).toEqual({
      chainId,
      domain,
      usdc,
      tokenMessenger: TOKEN_MESSENGER,
      messageTransmitter: MESSAGE_TRANSMITTER,
      forwardingTo: takesForwarding,
    })
  })

  test('is in ClickHouse as it is here', () => {
    const sql = readFileSync('db/clickhouse/migrations/0017_bridge.sql', 'utf8')
    const rows = [...sql.matchAll(/\('cctp-v2', (\d+), (\d+)\)/g)].map(([, d, c]) => [Number(d), Number(c)])
    expect(rows.length).toBe(domains.length)
    expect(rows).toContainEqual([domain, chainId])
  })
})
