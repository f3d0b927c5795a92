import type { Address } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { listStreams } from '../../jobs/checkpoints.ts'
import { replay } from '../../jobs/replay.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { calls } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { type Random, seededRandom } from '../chain/random.ts'
import { familySums } from '../family-sums.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'
import { type ApiHarness, startApi } from '../read-api/harness.ts'
import { type Compared, compareLedgers, compareMarket, listed } from './compare.ts'
import { stateAt } from './figures.ts'
import { costOfMost } from './published-math.ts'
import { askBundle, newTrader, trade } from './traders.ts'
import { Wanderers } from './wanderers.ts'
import { balanceOf, buildPendleWorld, contractsOf, DAY, type PendleWorld, type VaultMarket } from './world.ts'

/**
 * Users wander over markets of Pendle's own contracts: they buy and sell by bundles of the API, mint and redeem, move
 * PT, add and remove liquidity; the wrapped vaults earn and lose, time passes, blocks are replaced. After each step the
 * answers are held against the contracts.
 */

export interface Walked extends Compared {
  steps: Record<string, number>
  forks: number
}

class Walk {
  readonly counted: Walked = { values: 0, oracle: 0, apy: 0, steps: {}, forks: 0 }
  private readonly random: Random
  private readonly node: Node
  private readonly world: PendleWorld
  private readonly pipeline: Pipeline
  private readonly api: ApiHarness
  private readonly traders: PrivateKeyAccount[]
  private readonly wanderers: Wanderers

  constructor(of: {
    seed: number
    node: Node
    world: PendleWorld
    pipeline: Pipeline
    api: ApiHarness
    traders: PrivateKeyAccount[]
  }) {
    this.random = seededRandom(of.seed)
    this.node = of.node
    this.world = of.world
    this.pipeline = of.pipeline
    this.api = of.api
    this.traders = of.traders
    this.wanderers = new Wanderers(of.node, of.world, this.random, this.accounts)
  }

  private get markets(): VaultMarket[] {
    return [this.world.short, this.world.long]
  }

  private get accounts(): Address[] {
    return [this.world.pendle.admin, ...this.world.users, ...this.traders.map(({ address }) => address)]
  }

  /** Compared after every `every` steps. */
  async run(steps: number, every: number): Promise<Walked> {
    await this.catchUp()
    for (let i = 1; i <= steps; i++) {
      const kind = await this.step(i % 8 === 0)
      this.counted.steps[kind] = (this.counted.steps[kind] ?? 0) + 1
      if (i % every > 0) continue
      await this.catchUp()
      await this.compare()
    }
    await this.catchUp()
    await this.end()
    return this.counted
  }

  private async index(): Promise<void> {
    const { number } = await this.node.head()
    await this.pipeline.indexTo(number, { rpcUrl: this.node.rpcUrl, contracts: contractsOf(this.world) })
  }

  private async catchUp(): Promise<void> {
    await this.index()
    await this.api.catchUp()
  }

  private async compare(): Promise<void> {
    const stage = { node: this.node, api: this.api, pipeline: this.pipeline }
    for (const market of [...this.markets, this.world.empty]) await compareMarket(stage, market, this.counted)
    for (const market of this.markets) await compareLedgers(stage, market, this.accounts, this.counted)
    const { timestamp } = await this.node.head()
    const running = [...this.markets, this.world.empty].filter(({ expiry }) => timestamp < expiry)
    expect((await listed(this.api)).sort()).toEqual(running.map(({ market }) => market).sort())
  }

  private async step(isFork: boolean): Promise<string> {
    const market = this.random.pick(this.markets) as VaultMarket
    const { timestamp } = await this.node.head()
    const hasEnded = timestamp >= market.expiry
    if (isFork) return this.fork(market, hasEnded)
    const dice = this.random.next()
    if (dice < 0.35) return this.swap(market, hasEnded)
    return dice < 0.85 ? this.acts(market, hasEnded) : this.jump()
  }

  private async swap(market: VaultMarket, hasEnded: boolean): Promise<string> {
    const user = this.random.pick(this.traders) as PrivateKeyAccount
    const unit = 10n ** BigInt(market.asset.decimals)
    const pt = await balanceOf(this.node, market.pt.address, user.address)
    const isSelling = pt > unit / 1_000n && (hasEnded || this.random.chance(0.5))
    if (hasEnded && !isSelling) {
      const refused = await askBundle(this.api, { user, market, action: 'swap-in', amount: unit })
      expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('ended')])
      return 'refused after the expiry'
    }
    const largest = market === this.world.short ? 20_000 : 8
    const amount = isSelling
      ? this.random.chance(0.3)
        ? pt
        : (pt * BigInt(1 + this.random.below(999))) / 1_000n
      : (unit * BigInt(Math.round(this.random.between(0.001, largest) * 1_000))) / 1_000n
    const action = isSelling ? 'swap-out' : 'swap-in'
    const slippage = this.random.pick([0.005, 0.001, 0.05]) ?? 0.005
    const wish = { user, market, action, amount, slippage } as const
    const { most, less } = isSelling ? { most: undefined, less: undefined } : await this.forSale(market)
    if (less !== undefined && amount > less) {
      const { status, body } = await askBundle(this.api, wish)
      if (status === 422) {
        expect(body.message).toMatch(/the pool has no price for so much|there is nothing in the pool/)
        return 'refused: more than the pool sells'
      }
      expect(amount).toBeLessThanOrEqual(most)
    }
    const done = await trade(this.node, this.api, wish)
    expect(done.landed, `${action} of ${amount}`).toBe(true)
    return done.by
  }

  /** What the pool asks for about as much as it can sell, in base units of the asset. */
  private async forSale(market: VaultMarket): Promise<{ most: bigint; less: bigint }> {
    const { number, timestamp } = await this.node.head()
    const { state, rate, index } = await stateAt(this.node, market, number)
    const highest = rate > index ? rate : index
    const cost = costOfMost(state, highest, timestamp)
    const inAssets = (sy: bigint) => (sy * rate) / 10n ** 18n
    return { most: inAssets(cost.most), less: inAssets(cost.less) }
  }

  /** One to three acts in one block. */
  private async acts(market: VaultMarket, hasEnded: boolean): Promise<string> {
    const names: string[] = []
    for (let n = 1 + this.random.below(3); n > 0; n--) {
      const [name, made] = await this.wanderers.next(market, hasEnded)
      names.push(name)
      for (const call of made) await this.node.send(call)
    }
    await this.node.mine()
    return names[0] ?? 'none'
  }

  private async jump(): Promise<string> {
    const { timestamp } = await this.node.head()
    await this.node.mine(timestamp + (this.random.pick([600, 3_600, 7_200, DAY, 2 * DAY]) ?? 600))
    return 'time'
  }

  /** The last blocks, with or without what was in them, are replaced by others, in which something else happens. */
  private async fork(market: VaultMarket, hasEnded: boolean): Promise<string> {
    await this.node.mineEmpty(1)
    await this.index()
    await this.node.reorg(1 + this.random.below(3))
    this.counted.forks++
    const [, made] = await this.wanderers.next(market, hasEnded)
    for (const call of made) await this.node.send(call)
    await this.node.mine()
    return 'fork'
  }

  /** The read models made anew, and those of another index of the same chain, are the same. */
  private async end(): Promise<void> {
    const { clickhouse } = this.pipeline
    const { pool } = this.pipeline.postgres
    const projections = this.pipeline.projections.filter(({ face }) => face === 'fixed-term')
    const before = await familySums(this.pipeline, 'fixed-term')
    const progress = { start: () => ({ update() {}, finish() {} }), close() {} }
    await replay({ pool, clickhouse, projections, streams: await listStreams(pool), progress, batch: 300 })
    expect(await familySums(this.pipeline, 'fixed-term')).toEqual(before)
    const head = (await this.node.head()).number
    expect(await differencesFromChain(pool, this.node.rpcUrl, head, contractsOf(this.world))).toEqual([])
    const other = await createPipeline()
    await other.indexTo(head, { rpcUrl: this.node.rpcUrl, contracts: contractsOf(this.world) })
    await catchUpAll({ pool: other.postgres.pool, clickhouse: other.clickhouse.client, projections })
    expect(await familySums(other, 'fixed-term')).toEqual(before)
    await other.drop()
  }
}

/** Everything that a walk needs, and its end. */
export async function walk(options: { steps: number; seed: number; every?: number }): Promise<Walked> {
  const node = await startNode({ hardfork: 'cancun' })
  const world = await buildPendleWorld(node)
  const traders = [await newTrader(node, 1), await newTrader(node, 2), await newTrader(node, 3)]
  for (const of of [world.short, world.long])
    for (const { address } of traders)
      await node.send(
        calls.mintToken(world.pendle.admin, of.asset.address, address, 10n ** BigInt(of.asset.decimals + 7)),
      )
  await node.mine()
  const pipeline = await createPipeline()
  const api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
  try {
    await api.recordFacts(
      [
        ...[world.short, world.long].map(({ sy }) => ({
          subject: `contract:1:${sy}`,
          kind: 'wrapper',
          value: {},
        })),
        { subject: `asset:1:${world.short.asset.address}`, kind: 'peg', value: { usd: '1' } },
      ],
      1_700_000_000,
    )
    return await new Walk({ ...options, node, world, pipeline, api, traders }).run(
      options.steps,
      options.every ?? 1,
    )
  } finally {
    await api.stop()
    await pipeline.drop()
    await node.stop()
  }
}
