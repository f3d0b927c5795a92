import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Address, toHex } from 'viem'
import { calls } from '../test/chain/deploy.ts'
import { startNode } from '../test/chain/node.ts'
import { startRpcProxy } from '../test/read-api/chain/rpc-proxy.ts'
import { startApi } from '../test/read-api/harness.ts'
import * as w from '../test/read-api/world.ts'
import { seatWorld } from '../test/read-api/world-on-chain.ts'
import { type Bench, percentiles, type Result } from './bench.ts'

const RPC_MS = 50
const BLOCK_MS = 1_500
const ROUNDS = 30
const CALLERS = 100

export const bench: Bench = {
  about:
    `Near-real-time reads and bundles over HTTP with a node that answers after ${RPC_MS} ms, its chain with a block every ` +
    `${BLOCK_MS} ms. Cold: a vault that was never asked for. Of the ${CALLERS} callers each is a wallet of its own. API, ` +
    'callers and the delay run in one process.',
  async run(stage) {
    const node = await startNode()
    stage.afterwards(() => node.stop())
    await seatWorld(node)
    const { pool, url } = await stage.postgres()
    const proxy = await startRpcProxy(node.rpcUrl)
    stage.afterwards(() => proxy.stop())
    const api = await startApi({
      rpcUrl: proxy.url,
      blockTimeMs: BLOCK_MS,
      on: { postgres: { pool, url, drop: async () => {} }, clickhouse: await stage.clickhouse() },
    })
    stage.afterwards(() => api.stop())
    await w.seed(api, w.makeWorld())
    const users = Array.from({ length: CALLERS }, (_, n) => toHex(0xca11_0000 + n, { size: 20 }))
    const from = node.accounts[0] ?? '0x'
    for (const user of users) await node.send(calls.mintToken(from, w.USD_ASSET as Address, user, 5_000_000n))
    await node.mine()
    const server = createServer(api.app)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    stage.afterwards(async () => {
      server.closeAllConnections()
      server.close()
    })
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = async (path: string): Promise<number> => {
      const began = performance.now()
      const response = await fetch(base + path, { headers: { 'x-api-key': api.apiKey } })
      const body = await response.text()
      if (response.status !== 200) throw new RangeError(`${path}: ${response.status} ${body}`)
      return performance.now() - began
    }
    const expire = () => new Promise(resolve => setTimeout(resolve, BLOCK_MS + 100))

    const rows: Result[] = []
    /** Rounds one after the other, each of requests at once. */
    const row = async (
      what: string,
      rounds: readonly (readonly string[])[],
      before: () => Promise<unknown> = async () => {},
    ) => {
      const times: number[] = []
      let requests = 0
      for (const paths of rounds) {
        await before()
        const had = proxy.requests
        times.push(...(await Promise.all(paths.map(ask))))
        requests += proxy.requests - had
      }
      const { p50, p99 } = percentiles(times)
      const per100 = Math.round((requests * 100) / times.length)
      const ours = `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${per100} RPC calls per 100 requests`
      rows.push({ what, ours })
      stage.say(`${what}: ${ours}`)
    }
    const times = (count: number, path: string) => Array.from({ length: count }, () => [path])
    const nrt = (vault: string) => `/v2/nrt/vault/mainnet/${vault}`
    const ofUsers = (path: (user: string) => string) => users.map(path)
    const deposit = (vault: string, asset: string) => (user: string) =>
      `/v2/transactions/deposit/${user}/mainnet/${vault}?assetAddress=${asset}&amount=1000000`
    const context = (user: string) => `/v2/transactions/context/${user}/mainnet/${w.USD_VAULT}`
    const inUsd = deposit(w.USD_VAULT, w.USD_ASSET)

    // Connections and code are warmed by others than those that are measured.
    await Promise.all(Array.from({ length: CALLERS }, () => ask('/v2/networks')))
    proxy.delay(RPC_MS)
    const [user = ''] = users
    const inEth = deposit(w.ETH_VAULT, w.ETH_ASSET)(w.ALICE)
    await row('nrt, cold', [[nrt(w.ODD_VAULT)], [nrt(w.NESTED_VAULT)]], expire)
    await row('bundle, cold', [[inUsd(user)], [inEth]], expire)
    await row('nrt, vault known, new block', times(ROUNDS, nrt(w.USD_VAULT)), expire)
    await row('nrt, warm', times(10 * ROUNDS, nrt(w.USD_VAULT)), () => ask(nrt(w.USD_VAULT)))
    await row('bundle, warm', times(ROUNDS, inUsd(user)))
    const at100 = `${CALLERS} callers at once`
    const rounds = (paths: readonly string[]) => Array.from({ length: 10 }, () => paths)
    await row(`nrt, ${at100}, new block`, rounds(ofUsers(() => nrt(w.USD_VAULT))), expire)
    await row(`bundle, ${at100}`, rounds(ofUsers(inUsd)))
    await row(`context, ${at100}`, rounds(ofUsers(context)))
    return rows
  },
}
