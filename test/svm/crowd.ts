import { type Address, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import { TestChain } from './chain.ts'
import { TestKamino } from './kamino.ts'
import { TestLending } from './lend.ts'
import { TestPool } from './stake-pool.ts'
import { tokenAccountOf } from './tokens.ts'

const SOL = 10n ** 9n
const POOLS = [
  'SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy',
  'SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY',
  'SPMBzsVUuoHA4Jm6KunbsotaahvVikZs1JyTW6iJvbn',
]
const FEE = { numerator: 1n, denominator: 1_000n }

/** Vaults of every program on one chain, and people who have some of each. */
export class Crowd {
  readonly chain: TestChain
  readonly pools: readonly TestPool[]
  readonly lending: TestLending
  readonly kamino: TestKamino
  readonly wallets: readonly KeyPairSigner[]

  private constructor(of: Pick<Crowd, 'chain' | 'pools' | 'lending' | 'kamino' | 'wallets'>) {
    this.chain = of.chain
    this.pools = of.pools
    this.lending = of.lending
    this.kamino = of.kamino
    this.wallets = of.wallets
  }

  static async gather(people: number): Promise<Crowd> {
    const chain = new TestChain()
    const lending = await TestLending.create(chain)
    const kamino = await TestKamino.create(chain, { mint: lending.mint })
    const pools: TestPool[] = []
    for (const program of POOLS)
      pools.push(await TestPool.create(chain, { program: address(program), withdrawalFee: FEE }))
    const wallets: KeyPairSigner[] = []
    for (let i = 0; i < people; i++) wallets.push(await chain.wallet(10n ** 6n * SOL))
    const crowd = new Crowd({ chain, pools, lending, kamino, wallets })
    for (const wallet of wallets) await crowd.arrive(wallet)
    return crowd
  }

  private async arrive(wallet: KeyPairSigner): Promise<void> {
    const { chain, pools, lending, kamino } = this
    await kamino.open(wallet.address, 10n ** 15n)
    const shares = await tokenAccountOf(wallet.address, lending.shareMint)
    lending.fund(shares, lending.shareMint, wallet.address, 0n)
    for (const pool of pools)
      await chain.send(wallet, [
        await pool.openAccount(wallet.address, wallet),
        await pool.depositSol(wallet, 10_000n * SOL),
      ])
    await chain.send(wallet, await this.act('lend', wallet, SOL))
    await chain.send(wallet, [
      await kamino.initializeUser(wallet),
      ...(await this.act('supply', wallet, SOL)),
    ])
    await chain.send(wallet, await this.act('farm', wallet, SOL / 2n))
  }

  /** What somebody does with so many base units: with a pool, the lending vault, the vault of reserves, its farm. */
  async act(kind: Act, wallet: KeyPairSigner, amount: bigint): Promise<Instruction[]> {
    const { pools, lending, kamino } = this
    const pool = pools[Number(amount % BigInt(pools.length))] as TestPool
    const held = (mint: Address) => tokenAccountOf(wallet.address, mint)
    const [assets, shares] = [await held(lending.mint), await held(lending.shareMint)]
    const acts: Record<Act, () => Promise<Instruction[]> | Instruction[]> = {
      stake: async () => [await pool.depositSol(wallet, amount)],
      unstake: async () => [await pool.withdrawSol(wallet, amount)],
      lend: () => [lending.deposit(wallet, assets, shares, 9n + amount)],
      redeem: () => [lending.take('redeem', wallet, shares, assets, 9n + amount)],
      supply: async () => [await kamino.deposit(wallet, amount)],
      withdraw: async () => [await kamino.withdraw(wallet, amount)],
      farm: async () => [await kamino.stake(wallet, amount)],
      leave: () => kamino.unstake(wallet, amount),
    }
    return acts[kind]()
  }
}

export const ACTS = ['stake', 'unstake', 'lend', 'redeem', 'supply', 'withdraw', 'farm', 'leave'] as const
export type Act = (typeof ACTS)[number]
