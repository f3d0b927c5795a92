import request from 'supertest'
import type { Address, Hex } from 'viem'
import { networks } from '../../../db/networks.ts'
import { listStreams } from '../../../jobs/checkpoints.ts'
import { runChain } from '../../../processors/chain-processor.ts'
import { loadProtocols } from '../../../processors/load-protocols.ts'
import { createApp } from '../../../read-api/app.ts'
import { createOnChain, type OnChainOptions } from '../../../read-api/on-chain.ts'
import { giveUsdc, type PlacedBridge, placeBridge } from '../../chain/cctp.ts'
import { placeMulticall3 } from '../../chain/multicall.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { type LoopbackIris, startIris } from './iris.ts'

export interface Side {
  network: 'mainnet' | 'base'
  node: Node
  bridge: PlacedBridge
}

interface Body {
  [key: string]: unknown
}
export interface Answer {
  status: number
  body: Body & {
    message?: string
    attestation?: Hex
    data?: Body[]
    moneyInTransit?: Body[]
    actions?: { name: string; tx: { to: Address; data: Hex } }[]
    currentActionIndex?: number
  }
}

/** Two chains with the bridge on them, the service that attests, real processors and the API over both. */
export class Stage {
  private readonly protocols: Awaited<ReturnType<typeof loadProtocols>>
  readonly source: Side
  readonly destination: Side
  readonly iris: LoopbackIris
  readonly api: ApiHarness

  private constructor(
    sides: [Side, Side],
    iris: LoopbackIris,
    api: ApiHarness,
    protocols: Awaited<ReturnType<typeof loadProtocols>>,
  ) {
    ;[this.source, this.destination] = sides
    this.iris = iris
    this.api = api
    this.protocols = protocols
  }

  static async open(): Promise<Stage> {
    const open = async (network: Side['network']): Promise<Side> => {
      const node = await startNode({ chainId: networks[network].chainId })
      await placeMulticall3(node)
      return { network, node, bridge: await placeBridge(node, network) }
    }
    const sides = (await Promise.all([open('mainnet'), open('base')])) as [Side, Side]
    const iris = await startIris({ 0: sides[0].node, 6: sides[1].node })
    const api = await startApi()
    const protocols = (await loadProtocols()).filter(({ name }) => name === 'cctp-v2')
    return new Stage(sides, iris, api, protocols)
  }

  /** An API that has asked nothing yet. */
  async fresh(options: { services?: OnChainOptions['services']; patienceMs?: number } = {}) {
    const onChain = createOnChain({
      rpc: { mainnet: [this.source.node.rpcUrl], base: [this.destination.node.rpcUrl] },
      blockTime: { mainnet: 0, base: 0 },
      catalogue: this.api.catalogue,
      patienceMs: 5_000,
      services: { 'cctp-v2': this.iris.url },
      ...options,
    })
    const app = await createApp({ ...this.api.deps, onChain })
    return async (path: string, query: Record<string, string> = {}): Promise<Answer> => {
      const { status, body } = await request(app)
        .get(`/alpha/transactions/cctp/${path}`)
        .query(query)
        .set('x-api-key', this.api.apiKey)
      return { status, body }
    }
  }

  /** Brings what is stored of a chain up to its node's head. */
  async index({ network, node }: Side): Promise<void> {
    const { number } = await node.head()
    const stop = new AbortController()
    const run = runChain({
      network: networks[network],
      protocols: this.protocols,
      pool: this.api.pool,
      rpcUrls: [node.rpcUrl],
      pollInterval: 50,
      startBlock: 0,
      signal: stop.signal,
    })
    let failure: unknown
    run.catch(error => {
      failure = error
    })
    const hash = async () => {
      const stream = (await listStreams(this.api.pool)).find(({ id }) => id === networks[network].chainId)
      return stream?.head_height ?? -1
    }
    while ((await hash()) < number && !failure) await new Promise(resolve => setTimeout(resolve, 20))
    stop.abort()
    await run
  }

  async catchUp(...sides: Side[]): Promise<void> {
    for (const side of sides) await this.index(side)
    await this.api.catchUp()
  }

  give(side: Side, to: Address, amount: bigint): Promise<void> {
    return giveUsdc(side.node, side.bridge, to, amount)
  }

  /** Sends a bundle's actions from its current one on; gives the hash of the last. */
  async send({ node }: Side, from: Address, { body }: Answer): Promise<Hex> {
    let last: Hex = '0x'
    for (const { tx, name } of (body.actions ?? []).slice(body.currentActionIndex)) {
      last = await node.send({ from, to: tx.to, data: tx.data, label: name })
      await node.mine()
    }
    return last
  }

  async close(): Promise<void> {
    await this.iris.stop()
    await this.api.stop()
    await this.source.node.stop()
    await this.destination.node.stop()
  }
}
