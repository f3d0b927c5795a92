import { type Address, erc20Abi, type Hex } from 'viem'
import { z } from 'zod'
import { MESSAGE_TRANSMITTER } from '../../abi/cctp-v2/domains.ts'
import { networks } from '../../db/networks.ts'
import { type LoopbackIris, startIris } from '../read-api/cctp/iris.ts'
import { giveUsdc, type PlacedBridge, placeBridge } from './cctp.ts'
import { ScenarioError } from './errors.ts'
import { placeMulticall3 } from './multicall.ts'
import { type Node, startNode } from './node.ts'

const USDC = 1_000_000n
const GIVEN = 10_000n * USDC
const CLAIMED = 1_000n * USDC
const WAITING = 250n * USDC

const bundle = z.object({
  currentActionIndex: z.number(),
  actions: z.array(
    z.object({
      name: z.string(),
      tx: z.object({ to: z.custom<Address>(), data: z.custom<Hex>() }),
    }),
  ),
})
const transit = z.object({
  status: z.enum(['pending', 'ready']),
  amountNative: z.string(),
  burnTxHash: z.string(),
  message: z.string().optional(),
  attestation: z.string().optional(),
})
const inTransit = z.object({ data: z.array(transit) })

export type Get = (path: string) => Promise<unknown>

/** USDC between the demo's mainnet and a second local node that stands in for Base; the service that attests is on loopback. */
export class DemoBridge {
  readonly base: Node
  /** Who bridges. */
  readonly user: Address
  private readonly mainnet: Node
  private readonly sides: { mainnet: PlacedBridge; base: PlacedBridge }
  private readonly iris: LoopbackIris
  burns: { claimed: Hex; waiting: Hex } = { claimed: '0x', waiting: '0x' }

  private constructor(
    nodes: { mainnet: Node; base: Node },
    sides: { mainnet: PlacedBridge; base: PlacedBridge },
    user: Address,
    iris: LoopbackIris,
  ) {
    this.mainnet = nodes.mainnet
    this.base = nodes.base
    this.sides = sides
    this.user = user
    this.iris = iris
  }

  static async create(mainnet: Node, user: Address): Promise<DemoBridge> {
    const { timestamp } = await mainnet.head()
    const base = await startNode({ chainId: networks.base.chainId, timestamp })
    await placeMulticall3(base)
    const sides = { mainnet: await placeBridge(mainnet, 'mainnet'), base: await placeBridge(base, 'base') }
    await giveUsdc(mainnet, sides.mainnet, user, GIVEN)
    const iris = await startIris({ 0: mainnet, 6: base }, { unsaid: { status: 'complete' } })
    return new DemoBridge({ mainnet, base }, sides, user, iris)
  }

  readonly contracts = { 'cctp-v2-transmitter': [MESSAGE_TRANSMITTER] }

  /** What it takes on mainnet. */
  get usdc(): Address {
    return this.sides.mainnet.usdc
  }

  get settings() {
    return { RPC_BASE: this.base.rpcUrl, CCTP_URL: this.iris.url }
  }

  /** Two transfers leave by bundles of the API; the first is claimed by one, the second stays to be tried. */
  async live(get: Get): Promise<void> {
    const { user } = this
    const leave = async (amount: bigint) =>
      this.send(
        this.mainnet,
        await get(
          `/alpha/transactions/cctp/transactions/bridge/${user}/mainnet/base?assetAddress=${this.usdc}&amount=${amount}`,
        ),
      )
    const claimed = await leave(CLAIMED)
    this.burns = { claimed, waiting: await leave(WAITING) }
    const [first] = await this.until(get, 'are shown as in transit', all =>
      [claimed, this.burns.waiting].every(hash =>
        all.some(({ burnTxHash, status }) => burnTxHash === hash && status === 'ready'),
      ),
    )
    const ready = first?.burnTxHash === claimed ? first : transit.parse(await get(this.statusOf(claimed)))
    await this.send(
      this.base,
      await get(
        `/alpha/transactions/cctp/transactions/claim/${user}/mainnet/base?message=${ready.message}&attestation=${ready.attestation}`,
      ),
    )
    await this.until(get, 'are one less after the claim', all => all.length === 1)
  }

  statusOf(burn: Hex): string {
    return `/alpha/transactions/cctp/status?burnTxHash=${burn}&srcNetwork=mainnet`
  }

  /** What is in transit is what left the one token and did not come into the other. */
  async compare(get: Get, compare: (what: string, found: unknown, expected: unknown) => void): Promise<void> {
    const left = GIVEN - (await this.held(this.mainnet, this.sides.mainnet))
    const came = await this.held(this.base, this.sides.base)
    const { data } = inTransit.parse(await get(`/alpha/transactions/cctp/money-in-transit/${this.user}`))
    compare(
      'USDC in transit',
      data.reduce((sum, { amountNative }) => sum + BigInt(amountNative), 0n),
      left - came,
    )
    compare('USDC that came', came, CLAIMED)
    for (const { burnTxHash } of data) compare('the burn in transit', burnTxHash, this.burns.waiting)
  }

  private held(node: Node, { usdc }: PlacedBridge): Promise<bigint> {
    return node.client.readContract({
      address: usdc,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [this.user],
    })
  }

  /** Signs and sends what is left of a bundle; gives the hash of the last. */
  private async send(node: Node, answer: unknown): Promise<Hex> {
    const { actions, currentActionIndex } = bundle.parse(answer)
    let last: Hex = '0x'
    for (const { name, tx } of actions.slice(currentActionIndex)) {
      last = await node.send({ from: this.user, to: tx.to, data: tx.data, label: name })
      await node.mine()
    }
    return last
  }

  private async until(
    get: Get,
    what: string,
    holds: (all: z.infer<typeof transit>[]) => boolean,
  ): Promise<z.infer<typeof transit>[]> {
    const deadline = performance.now() + 60_000
    while (performance.now() < deadline) {
      const { data } = inTransit.parse(await get(`/alpha/transactions/cctp/money-in-transit/${this.user}`))
      if (holds(data)) return data
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    throw new ScenarioError(`After a minute the transfers of the bridge do not say that they ${what}`)
  }

  async goOn(): Promise<void> {
    await this.base.setIntervalMining(2)
  }

  async stop(): Promise<void> {
    await this.iris.stop()
    await this.base.stop()
  }
}
