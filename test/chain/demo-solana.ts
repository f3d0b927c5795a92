import type { KeyPairSigner } from '@solana/kit'
import type pg from 'pg'
import { WRAPPED_SOL } from '../../abi/svm/programs.ts'
import { fromBase58 } from '../../db/base58.ts'
import type { Fact } from '../../db/registry/fact.ts'
import { SOLANA } from '../../db/streams.ts'
import { TestChain } from '../svm/chain.ts'
import { indexSolana } from '../svm/index-solana.ts'
import { ALL, TestKamino } from '../svm/kamino.ts'
import { TestLending } from '../svm/lend.ts'
import { type RpcNode, serveRpc } from '../svm/rpc-server.ts'
import { TestPool } from '../svm/stake-pool.ts'
import { tokenAccountOf } from '../svm/tokens.ts'

const HOUR = 3600
const DAY = 24 * HOUR
const SOL = 10n ** 9n
/** Of an epoch, two days: 7 % a year, and 6 %. */
const YIELDS = [371n, 319n]
const MILLION = 1_000_000n
/** Rewards of the lending vault beside its interest, of 6 % a year or 16 millionths a day. */
const REWARDS = 30_000n * MILLION
const DAILY = 160n * MILLION
const PEOPLE = 12

/** Solana of the demo: two stake pools, two vaults that lend dollars, one of them with a farm, and a dozen people who come and go. */
export class DemoSolana {
  readonly chain: TestChain
  readonly node: RpcNode
  pools: TestPool[] = []
  lending: TestLending
  kamino: TestKamino
  wallets: KeyPairSigner[] = []
  private ticking: NodeJS.Timeout | undefined

  private constructor(chain: TestChain, node: RpcNode, lending: TestLending, kamino: TestKamino) {
    this.chain = chain
    this.node = node
    this.lending = lending
    this.kamino = kamino
  }

  static async create(days: number): Promise<DemoSolana> {
    const chain = new TestChain({ time: Math.floor(Date.now() / 1000) - days * DAY })
    const lending = await TestLending.create(chain)
    const kamino = await TestKamino.create(chain, { mint: lending.mint })
    const made = new DemoSolana(chain, await serveRpc(chain), lending, kamino)
    const thousandth = { numerator: 1n, denominator: 1000n }
    const names = [
      ['Northlight staked SOL', 'nSOL'],
      ['Harbour staked SOL', 'hSOL'],
    ] as const
    for (const [name, symbol] of names) {
      const pool = await TestPool.create(chain, {
        withdrawalFee: thousandth,
        epochFee: { numerator: 5n, denominator: 100n },
      })
      await pool.describe(name, symbol)
      made.pools.push(pool)
    }
    for (let i = 0; i < PEOPLE; i++) made.wallets.push(await chain.wallet(100_000n * SOL))
    for (const [i, wallet] of made.wallets.slice(0, 3).entries())
      for (const pool of made.pools)
        await chain.send(wallet, [
          await pool.openAccount(wallet.address, wallet),
          await pool.depositSol(wallet, BigInt(4_000 + 900 * i) * SOL),
        ])
    await made.lend(days)
    await made.farm()
    return made
  }

  /** Every other one lends through a vault of reserves, too; all but one of them stake their shares. */
  private async farm(): Promise<void> {
    const { chain, kamino } = this
    await kamino.describe(kamino.is.shareMint, 'Steady dollar of reserves', 'kUSDd')
    for (const [i, wallet] of this.wallets.entries()) {
      if (i % 2 === 1) continue
      kamino.fund(
        await tokenAccountOf(wallet.address, kamino.is.shareMint),
        kamino.is.shareMint,
        wallet.address,
        0n,
      )
      const deposit = await kamino.deposit(wallet, BigInt(3_000 + 700 * i) * MILLION)
      const stake = i === 4 ? [] : [await kamino.initializeUser(wallet), await kamino.stake(wallet)]
      await chain.send(wallet, [deposit, ...stake])
    }
    for (const reserve of kamino.reserves) kamino.invest(reserve, 9_000n * MILLION)
  }

  /** A day's interest of the reserves, and somebody who takes some out of the farm and back. */
  private async earnAndLeave(day: number): Promise<void> {
    const { chain, kamino, wallets } = this
    for (const [i, reserve] of kamino.reserves.entries()) kamino.earn(reserve, BigInt(1 + i) * MILLION)
    const wallet = wallets[2 * (day % (PEOPLE / 2))]
    if (!wallet) return
    const { staked } = await kamino.sharesOf(wallet.address)
    if (staked === 0n) return
    const out = await kamino.unstake(wallet, staked / 9n)
    await chain.send(wallet, [...out, await kamino.withdraw(wallet, ALL, kamino.reserves[day % 2])])
  }

  /** Everybody lends dollars. */
  private async lend(days: number): Promise<void> {
    const { chain, lending } = this
    await lending.describe(lending.mint, 'Dollar of the demo', 'USDd')
    await lending.describe(lending.shareMint, 'Harbour lent dollar', 'hUSDd')
    // They end before the demo begins: what a share is worth stays what the vault wrote down then.
    const duration = BigInt(days * DAY - 4 * HOUR)
    lending.setRewards({ startTime: BigInt(chain.time), duration, yearlyReward: REWARDS })
    lending.setLying(100_000n * MILLION)
    for (const [i, wallet] of this.wallets.entries()) {
      const [assets, shares] = await this.accountsOf(wallet)
      lending.fund(assets, lending.mint, wallet.address, 100_000n * MILLION)
      lending.fund(shares, lending.shareMint, wallet.address, 0n)
      await chain.send(wallet, [
        lending.deposit(wallet, assets, shares, BigInt(20_000 + 1_700 * i) * MILLION),
      ])
    }
  }

  private accountsOf({ address }: KeyPairSigner) {
    const { lending } = this
    return Promise.all([
      lending.tokenAccountOf(address, lending.mint),
      lending.tokenAccountOf(address, lending.shareMint),
    ])
  }

  /** What is known of it besides: what SOL costs. */
  facts(): Fact[] {
    return [
      { subject: `asset:${SOLANA.id}:${WRAPPED_SOL}`, kind: 'peg', value: { usd: '200' } },
      { subject: `asset:${SOLANA.id}:${fromBase58(this.lending.mint)}`, kind: 'peg', value: { usd: '1' } },
      {
        subject: `vault:${SOLANA.id}:${fromBase58(this.lending.lending)}`,
        kind: 'listed',
        value: {
          protocol: 'jupiter-lend',
          description: 'Lends dollars, on the chain of the demo.',
          lendUrl: `https://demo.example/lend/${this.lending.lending}`,
          protocolVaultUrl: `https://demo.example/lend/${this.lending.lending}/about`,
        },
      },
      {
        subject: `vault:${SOLANA.id}:${fromBase58(this.kamino.is.vault)}`,
        kind: 'listed',
        value: {
          protocol: 'kamino',
          description: 'Lends dollars through reserves, on the chain of the demo.',
          lendUrl: `https://demo.example/reserves/${this.kamino.is.vault}`,
          protocolVaultUrl: `https://demo.example/reserves/${this.kamino.is.vault}/about`,
        },
      },
      ...this.pools.map(({ pool }) => ({
        subject: `vault:${SOLANA.id}:${fromBase58(pool)}`,
        kind: 'listed',
        value: {
          protocol: 'spl-stake-pool',
          description: 'Stakes SOL, on the chain of the demo.',
          lendUrl: `https://demo.example/pools/${pool}`,
          protocolVaultUrl: `https://demo.example/pools/${pool}/about`,
        },
      })),
    ]
  }

  /** Lives through the days up to now, indexed all the while: no node tells of the past. */
  async live(pool: pg.Pool, days: number): Promise<void> {
    const { chain } = this
    const start = chain.time
    for (let hour = 0; hour < days * 24; hour += hour >= days * 24 - 26 ? 1 : 6) {
      chain.mine([], start + hour * HOUR - chain.time)
      if (hour % 48 === 0) await this.epoch()
      if (hour % 72 === 6) await this.comeAndGo(hour / 6)
      if (hour % 24 === 12 && hour < (days - 1) * 24) await this.borrowAndLend((hour - 12) / 24)
      if (hour % 24 === 18 && hour < (days - 1) * 24) await this.earnAndLeave((hour - 18) / 24)
      const [wallet] = this.wallets
      if (hour === days * 24 - 3 && wallet) await chain.send(wallet, [this.lending.update()])
      await this.index(pool)
    }
  }

  private async epoch(): Promise<void> {
    for (const [i, pool] of this.pools.entries())
      pool.earn((pool.state().lamports * (YIELDS[i] ?? 0n)) / MILLION)
    this.chain.nextEpoch(0)
    const [wallet] = this.wallets
    if (wallet)
      await this.chain.send(
        wallet,
        this.pools.map(pool => pool.update()),
      )
  }

  /** A day's interest, and somebody who lends more or takes some back. */
  private async borrowAndLend(day: number): Promise<void> {
    const { chain, lending, wallets } = this
    const turn = Math.round(day)
    lending.setReserve({ supplyPrice: 10n ** 12n + BigInt(turn + 1) * DAILY })
    const wallet = wallets[turn % wallets.length]
    if (!wallet) return
    const [assets, shares] = await this.accountsOf(wallet)
    await chain.send(wallet, [
      turn % 2 === 1
        ? lending.take('redeem', wallet, shares, assets, lending.amountOf(shares) / 7n)
        : lending.deposit(wallet, assets, shares, BigInt(300 + turn) * MILLION),
    ])
  }

  private async comeAndGo(turn: number): Promise<void> {
    const [wallet, pool] = [this.wallets[turn % 3], this.pools[turn % 2]]
    if (!wallet || !pool) return
    const held = await pool.balanceOf(wallet.address)
    await this.chain.send(wallet, [
      turn % 4 === 1
        ? await pool.withdrawSol(wallet, held / 9n)
        : await pool.depositSol(wallet, BigInt(100 + (turn % 50)) * SOL),
    ])
  }

  private async index(pool: pg.Pool): Promise<void> {
    await indexSolana(pool, { chain: this.chain, node: this.node })
  }

  /** Slots go on as long as the demo does. */
  goOn(): void {
    this.ticking = setInterval(() => {
      const now = Math.floor(Date.now() / 1000)
      this.chain.mine([], Math.max(0, now - this.chain.time))
    }, 2_000)
  }

  async stop(): Promise<void> {
    clearInterval(this.ticking)
    await this.node.close()
  }
}
