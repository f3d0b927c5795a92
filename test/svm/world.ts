import type { KeyPairSigner } from '@solana/kit'
import { seededRandom } from '../chain/random.ts'
import { TestChain } from './chain.ts'
import { TestPool, tokenInstruction } from './stake-pool.ts'
import { tokenAccountOf } from './tokens.ts'

/** What was done, by what the wallets' own balances say of it. */
export interface Done {
  slot: number
  signature: string
  kind: 'deposit' | 'withdrawal'
  pool: string
  wallet: string
  assets: bigint
  shares: bigint
}

/** Shares that one wallet handed to another. */
export interface Passed {
  slot: number
  pool: string
  from: string
  to: string
  shares: bigint
}

const FEE = 5000n

/** People who deposit, withdraw and pass shares on, at random, with what goes wrong on such a chain. */
export class SvmWorld {
  readonly chain = new TestChain()
  readonly done: Done[] = []
  readonly passed: Passed[] = []
  /** Lamports for a share at the ends of blocks in which it was asked. */
  pools: TestPool[] = []
  wallets: KeyPairSigner[] = []
  private readonly random: () => number

  constructor(seed: number) {
    this.random = seededRandom(seed).next
  }

  private int(below: number): number {
    return Math.floor(this.random() * below)
  }

  async begin(pools = 2, wallets = 4): Promise<this> {
    const fee = { numerator: 1n, denominator: 1000n }
    for (let i = 0; i < pools; i++)
      this.pools.push(
        await TestPool.create(this.chain, {
          depositFee: i === 0 ? fee : { numerator: 0n, denominator: 0n },
          withdrawalFee: fee,
          epochFee: { numerator: 5n, denominator: 100n },
          referral: 20,
        }),
      )
    for (let i = 0; i < wallets; i++) this.wallets.push(await this.chain.wallet())
    for (const wallet of this.wallets)
      await this.chain.send(
        wallet,
        await Promise.all(this.pools.map(pool => pool.openAccount(wallet.address, wallet))),
      )
    return this
  }

  /** A few slots more. */
  async grow(steps: number): Promise<this> {
    for (let i = 0; i < steps; i++) await this.step()
    return this
  }

  private async step(): Promise<void> {
    const { chain } = this
    const pool = this.pools[this.int(this.pools.length)] as TestPool
    const wallet = this.wallets[this.int(this.wallets.length)] as KeyPairSigner
    const other = this.wallets[this.int(this.wallets.length)] as KeyPairSigner
    const amount = BigInt(1 + this.int(2 ** 31)) * 7n
    const held = await pool.balanceOf(wallet.address)
    const dice = this.int(12)
    if (dice < 4) return this.flow('deposit', pool, wallet, [await pool.depositSol(wallet, amount)])
    if (dice < 6 && held > 0n)
      return this.flow('withdrawal', pool, wallet, [
        await pool.withdrawSol(wallet, dice === 4 ? held : 1n + held / 3n),
      ])
    if (dice === 6) return chain.skip(1 + this.int(4))
    if (dice === 7) return void chain.mine([], 3600)
    if (dice === 8) {
      for (const each of this.pools) each.earn(BigInt(this.int(1e8)))
      chain.nextEpoch()
      // Who comes too early fails, in the same block in which others do not.
      const early = await chain.transaction(wallet, [await pool.depositSol(wallet, amount)])
      const updates = await chain.transaction(
        other,
        this.pools.map(each => each.update()),
      )
      return void chain.mine([early, updates])
    }
    if (dice === 9 && held > 1n && other !== wallet) {
      const to = await tokenAccountOf(other.address, pool.mint)
      const { slot } = await chain.send(wallet, [
        await pool.openAccount(other.address, wallet),
        await tokenInstruction(pool, wallet, { send: held / 2n, to }),
      ])
      const between = { from: wallet.address, to: other.address, shares: held / 2n }
      return void this.passed.push({ slot, pool: pool.pool, ...between })
    }
    if (dice === 10) {
      // Two deposits of one transaction, the second for what the first left.
      return this.flow('deposit', pool, wallet, [
        await pool.depositSol(wallet, amount),
        await pool.depositSol(wallet, amount + 1n),
      ])
    }
    // Emptied, closed and opened anew.
    const again = await pool.openAccount(wallet.address, wallet)
    if (held > 0n) await this.flow('withdrawal', pool, wallet, [await pool.withdrawSol(wallet, held)])
    const close = await tokenInstruction(pool, wallet, 'close')
    await chain.send(wallet, this.int(2) === 0 ? [close] : [close, again])
    await chain.send(wallet, [again])
  }

  /** Tells what it came to by what the wallet has before and after. */
  private async flow(
    kind: Done['kind'],
    pool: TestPool,
    wallet: KeyPairSigner,
    instructions: Parameters<TestChain['send']>[1],
  ): Promise<void> {
    const state = async () => ({
      lamports: this.chain.svm.getBalance(wallet.address) ?? 0n,
      shares: await pool.balanceOf(wallet.address),
    })
    const before = await state()
    const { slot, signature, failed } = await this.chain.send(wallet, instructions)
    if (failed) return
    const after = await state()
    const sign = kind === 'deposit' ? 1n : -1n
    this.done.push({
      slot,
      signature,
      kind,
      pool: pool.pool,
      wallet: wallet.address,
      assets: sign * (before.lamports - FEE - after.lamports),
      shares: sign * (after.shares - before.shares),
    })
  }
}
