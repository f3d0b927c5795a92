import type { Address } from 'viem'
import { calls } from '../chain/deploy.ts'
import type { Call, Node } from '../chain/node.ts'
import { pendleCalls } from '../chain/pendle.ts'
import type { Random } from '../chain/random.ts'
import { balanceOf, type PendleWorld, type VaultMarket } from './world.ts'

/** Users who do to markets whatever their contracts allow, at random. */
export class Wanderers {
  private readonly node: Node
  private readonly world: PendleWorld
  private readonly random: Random
  private readonly accounts: readonly Address[]

  /** `accounts`: who may be given PT. */
  constructor(node: Node, world: PendleWorld, random: Random, accounts: readonly Address[]) {
    this.node = node
    this.world = world
    this.random = random
    this.accounts = accounts
  }

  /** What one of them does next, a failure of it included. */
  async next(market: VaultMarket, hasEnded: boolean): Promise<[string, Call[]]> {
    const user = this.random.pick(this.world.users) as Address
    const acts = pendleCalls(market)
    const unit = 10n ** BigInt(market.asset.decimals)
    const scale = market === this.world.short ? 5_000 : 3
    const some = (unit * BigInt(1 + this.random.below(scale * 100))) / 100n
    const has = (token: Address) => balanceOf(this.node, token, user)
    const [sy, pt, yt, lp] = [
      await has(market.sy),
      await has(market.pt.address),
      await has(market.yt),
      await has(market.market),
    ]
    const both = pt < yt ? pt : yt
    const part = (amount: bigint) => (amount * BigInt(1 + this.random.below(99))) / 100n
    const { admin } = this.world.pendle
    const asset = market.asset.address
    const choices: [string, () => Call[]][] = [
      ['wrap', () => acts.wrap(user, some)],
      ['yield', () => [calls.mintToken(admin, asset, market.vault.address, some)]],
      ['loss', () => [calls.burnToken(admin, asset, market.vault.address, some / 4n)]],
    ]
    if (sy > 100n && !hasEnded)
      choices.push(['split', () => acts.split(user, part(sy))], ['split', () => acts.split(user, part(sy))])
    if (pt > 100n && sy > 100n && !hasEnded)
      choices.push(['add', () => acts.addLiquidity(user, part(sy), part(pt))])
    if (lp > 100n) choices.push(['remove', () => acts.removeLiquidity(user, part(lp))])
    if (pt > 100n)
      choices.push([
        'move',
        () => [calls.transfer(user, market.pt.address, this.random.pick(this.accounts) ?? user, part(pt))],
      ])
    if ((hasEnded ? pt : both) > 100n)
      choices.push(['unite', () => acts.unite(user, part(hasEnded ? pt : both), hasEnded)])
    const [name, make] = this.random.pick(choices) ?? ['none', () => []]
    return [name, make().map(call => ({ ...call, mayFail: true }))]
  }
}
