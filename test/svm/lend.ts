import { AccountRole, type Address, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import type { TestChain } from './chain.ts'
import {
  ASSOCIATED,
  anyAddress,
  bytesOf,
  derived,
  derivedWithBump,
  describeMint,
  SYSTEM,
  setMint,
  setTokens,
  setTransferFee,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
  tagOf,
  tokenAccountOf,
} from './tokens.ts'

/** A lending vault of the tests' own program, set up and used as the published interface has it. */

export const LENDING_PROGRAM = address('jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9')
export const LIQUIDITY_PROGRAM = address('jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC')
const REWARDS_PROGRAM = address('jup7TthsMgcR9Y3L277b8Eo9uboVSmu1utkuXHNUKar')
const { READONLY, WRITABLE, WRITABLE_SIGNER } = AccountRole
const u16 = (...values: number[]) => Buffer.from(Uint16Array.from(values).buffer)

export interface LendingOptions {
  decimals?: number
  /** An asset that is there; absent: one is made. */
  mint?: Address
  /** The asset is of Token-2022, and can come to keep a part of transfers. */
  hasFee?: boolean
}

/** Rewards of a phase, and of one that follows it. */
export interface Rewards {
  startTvl?: bigint
  startTime: bigint
  duration: bigint
  yearlyReward: bigint
  nextDuration?: bigint
  nextRewardAmount?: bigint
}

type Accounts = Record<
  | 'mint'
  | 'shareMint'
  | 'lending'
  | 'admin'
  | 'vault'
  | 'reserve'
  | 'position'
  | 'model'
  | 'liquidity'
  | 'rateModel'
  | 'claim',
  Address
>

export class TestLending {
  readonly chain: TestChain
  readonly is: Accounts
  readonly tokenProgram: Address
  private readonly decimals: number
  private readonly hasFee: boolean
  private readonly bump: number
  private liquidityPrice = 10n ** 12n

  private constructor(
    chain: TestChain,
    is: Accounts,
    bump: number,
    { decimals = 6, hasFee = false }: LendingOptions,
  ) {
    this.chain = chain
    this.is = is
    this.bump = bump
    this.decimals = decimals
    this.hasFee = hasFee
    this.tokenProgram = hasFee ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM
  }

  get mint(): Address {
    return this.is.mint
  }
  get shareMint(): Address {
    return this.is.shareMint
  }
  get lending(): Address {
    return this.is.lending
  }

  static async create(chain: TestChain, options: LendingOptions = {}): Promise<TestLending> {
    for (const program of [LENDING_PROGRAM, LIQUIDITY_PROGRAM, REWARDS_PROGRAM])
      chain.addProgram(program, 'lend')
    const mint = options.mint ?? (await anyAddress())
    const shareMint = await derived(LENDING_PROGRAM, 'f_token_mint', mint)
    const [lending, bump] = await derivedWithBump(LENDING_PROGRAM, 'lending', mint, shareMint)
    const [admin, adminBump] = await derivedWithBump(LENDING_PROGRAM, 'lending_admin')
    const [liquidity, liquidityBump] = await derivedWithBump(LIQUIDITY_PROGRAM, 'liquidity')
    const of = (word: string, ...keys: Address[]) => derived(LIQUIDITY_PROGRAM, word, ...keys)
    const tokenProgram = options.hasFee ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM
    const made = new TestLending(
      chain,
      {
        mint,
        shareMint,
        lending,
        admin,
        liquidity,
        vault: await tokenAccountOf(liquidity, mint, tokenProgram),
        reserve: await of('reserve', mint),
        position: await of('user_supply_position', mint, lending),
        rateModel: await of('rate_model', mint),
        claim: await of('user_claim', admin, mint),
        model: await derived(REWARDS_PROGRAM, 'lending_rewards_rate_model', mint),
      },
      bump,
      options,
    )
    const { decimals, hasFee } = made
    const isOf = { decimals, program: tokenProgram }
    if (!options.mint) setMint(chain, mint, admin, { ...isOf, hasFee })
    setMint(chain, shareMint, admin, isOf)
    made.setLying(0n)
    const set = (at: Address, owner: Address, kind: string, ...fields: Uint8Array[]) =>
      chain.setAccount(at, owner, Buffer.concat([tagOf(`account:${kind}`), ...fields]))
    const [none, noKey] = [Buffer.alloc(329), bytesOf(SYSTEM)]
    none[6] = adminBump
    set(admin, LENDING_PROGRAM, 'LendingAdmin', noKey, bytesOf(LIQUIDITY_PROGRAM), noKey, none)
    set(liquidity, LIQUIDITY_PROGRAM, 'Liquidity', noKey, noKey, Buffer.of(0, liquidityBump))
    // Nothing is paid for loans, up to 80 % of utilization and beyond.
    set(
      made.is.rateModel,
      LIQUIDITY_PROGRAM,
      'RateModel',
      bytesOf(mint),
      Buffer.of(1),
      u16(0, 8_000, 0, 0, 0, 0),
    )
    set(made.is.claim, LIQUIDITY_PROGRAM, 'UserClaim', bytesOf(admin), Buffer.alloc(8), bytesOf(mint))
    made.setPosition({ amount: 10n ** 18n })
    made.setReserve({})
    made.setRewards({ startTime: 0n, duration: 0n, yearlyReward: 0n })
    made.setPrice(10n ** 12n)
    return made
  }

  /** What a transfer of the asset keeps from now on, in basis points. */
  setTransferFee(fee: number): void {
    setTransferFee(this.chain, this.mint, fee)
  }

  /** What accrues: interest and rewards, as an update writes them down. */
  setPrice(price: bigint): void {
    const data = Buffer.alloc(196)
    tagOf('account:Lending').copy(data, 0)
    bytesOf(this.mint).copy(data, 8)
    bytesOf(this.shareMint).copy(data, 40)
    data[74] = this.decimals
    bytesOf(this.is.model).copy(data, 75)
    data.writeBigUInt64LE(this.liquidityPrice, 107)
    data.writeBigUInt64LE(price, 115)
    data.writeBigUInt64LE(BigInt(this.chain.time), 123)
    bytesOf(this.is.reserve).copy(data, 131)
    bytesOf(this.is.position).copy(data, 163)
    data[195] = this.bump
    this.chain.setAccount(this.lending, LENDING_PROGRAM, data)
  }

  /** The price as the account has it. */
  price(): bigint {
    const found = this.chain.svm.getAccount(this.lending)
    return found.exists ? Buffer.from(found.data).readBigUInt64LE(115) : 0n
  }

  /** All shares, as their mint has them. */
  supply(): bigint {
    const found = this.chain.svm.getAccount(this.shareMint)
    return found.exists ? Buffer.from(found.data).readBigUInt64LE(36) : 0n
  }

  /** Assets that nobody has borrowed. */
  setLying(amount: bigint): void {
    this.fund(this.is.vault, this.mint, this.is.liquidity, amount)
  }

  /** The books of the liquidity layer. Its program is not here: who sets the price says what has accrued. */
  setReserve({ supplyPrice = 10n ** 12n }: { supplyPrice?: bigint }): void {
    this.liquidityPrice = supplyPrice
    const data = Buffer.alloc(192)
    tagOf('account:TokenReserve').copy(data, 0)
    bytesOf(this.mint).copy(data, 8)
    bytesOf(this.is.vault).copy(data, 40)
    data.writeBigUInt64LE(BigInt(this.chain.time), 78)
    data.writeBigUInt64LE(supplyPrice, 86)
    data.writeBigUInt64LE(10n ** 12n, 94)
    data.writeUInt16LE(10_000, 102)
    this.chain.setAccount(this.is.reserve, LIQUIDITY_PROGRAM, data)
  }

  setRewards(rewards: Rewards): void {
    const data = Buffer.alloc(89)
    tagOf('account:LendingRewardsRateModel').copy(data, 0)
    bytesOf(this.mint).copy(data, 8)
    const {
      // Without assets there is nothing to reward, and the program divides by them.
      startTvl = 1n,
      duration,
      startTime,
      yearlyReward,
      nextDuration = 0n,
      nextRewardAmount = 0n,
    } = rewards
    const words = [startTvl, duration, startTime, yearlyReward, nextDuration, nextRewardAmount]
    for (const [i, word] of words.entries()) data.writeBigUInt64LE(word, 40 + 8 * i)
    this.chain.setAccount(this.is.model, REWARDS_PROGRAM, data)
  }

  /** What the liquidity layer owes the vault, and what of it has to stay. */
  setPosition({ amount, limit = 0n }: { amount: bigint; limit?: bigint }): void {
    const data = Buffer.alloc(124)
    tagOf('account:UserSupplyPosition').copy(data, 0)
    bytesOf(this.lending).copy(data, 8)
    bytesOf(this.mint).copy(data, 40)
    data[72] = 1
    data.writeBigUInt64LE(amount, 73)
    data.writeBigUInt64LE(limit, 81)
    data.writeBigUInt64LE(BigInt(this.chain.time), 97)
    data.writeUInt16LE(10_000, 105)
    data.writeBigUInt64LE(1_000_000_000n, 107)
    this.chain.setAccount(this.is.position, LIQUIDITY_PROGRAM, data)
  }

  describe(mint: Address, name: string, symbol: string): Promise<void> {
    return describeMint(this.chain, mint, this.is.admin, name, symbol)
  }

  tokenAccountOf(owner: Address, mint: Address): Promise<Address> {
    return tokenAccountOf(owner, mint, this.tokenProgram)
  }

  /** Puts a token account there, with tokens of nowhere. */
  fund(account: Address, mint: Address, owner: Address, amount: bigint): void {
    const hasFee = this.hasFee && mint === this.mint
    setTokens(this.chain, account, { mint, owner, amount }, { program: this.tokenProgram, hasFee })
  }

  amountOf(account: Address): bigint {
    const found = this.chain.svm.getAccount(account)
    return found.exists && found.data.length > 0 ? Buffer.from(found.data).readBigUInt64LE(64) : 0n
  }

  deposit(signer: KeyPairSigner, from: Address, to: Address, assets: bigint, least?: bigint): Instruction {
    const { mint, admin, lending, shareMint, reserve, position, rateModel, vault, liquidity, model } = this.is
    return this.instruction('deposit', 'deposit_with_min_amount_out', [assets, least], signer, [
      [from, to],
      [mint, admin, lending, shareMint],
      [reserve, position, rateModel, vault, liquidity, LIQUIDITY_PROGRAM, model],
    ])
  }

  /** Of shares (redeem) or assets (withdraw). */
  take(
    name: 'redeem' | 'withdraw',
    signer: KeyPairSigner,
    from: Address,
    to: Address,
    amount: bigint,
    least?: bigint,
  ): Instruction {
    const { mint, admin, lending, shareMint, reserve, position, rateModel, vault, claim, liquidity, model } =
      this.is
    return this.instruction(name, `${name}_with_min_amount_out`, [amount, least], signer, [
      [from, to],
      [admin, lending, mint, shareMint],
      [reserve, position, rateModel, vault, claim, liquidity, LIQUIDITY_PROGRAM, model],
    ])
  }

  /** Brings the price up to date; anybody may. */
  update(): Instruction {
    const { lending, mint, shareMint, reserve, model } = this.is
    return {
      programAddress: LENDING_PROGRAM,
      accounts: [lending, mint, shareMint, reserve, model].map(each => ({
        address: each,
        role: each === lending ? WRITABLE : READONLY,
      })),
      data: Buffer.from(tagOf('global:update_rate')),
    }
  }

  private instruction(
    name: string,
    bounded: string,
    [amount, least]: [bigint, bigint | undefined],
    signer: KeyPairSigner,
    accounts: Address[][],
  ): Instruction {
    const data = Buffer.alloc(least === undefined ? 16 : 24)
    tagOf(`global:${least === undefined ? name : bounded}`).copy(data, 0)
    data.writeBigUInt64LE(amount, 8)
    if (least !== undefined) data.writeBigUInt64LE(least, 16)
    const { mint, admin, rateModel, model } = this.is
    return {
      programAddress: LENDING_PROGRAM,
      accounts: [
        { address: signer.address, role: WRITABLE_SIGNER, signer } as never,
        ...accounts.flat().map(each => ({
          address: each,
          role: [mint, admin, rateModel, model].includes(each) ? READONLY : WRITABLE,
        })),
        ...[this.tokenProgram, ASSOCIATED, SYSTEM].map(each => ({ address: each, role: READONLY })),
      ],
      data,
    }
  }
}
