import { createHash } from 'node:crypto'
import {
  AccountRole,
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import type { TestChain } from './chain.ts'
import { builtProgram } from './programs/build.ts'
import { TOKEN_PROGRAM } from './stake-pool.ts'

const WRAPPED_SOL = address('So11111111111111111111111111111111111111112')
const TOKEN_RENT = 2_039_280n

/** A lending vault of the tests' own program, set up and used as the published interface has it. */

const LENDING_PROGRAM = address('jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9')
const LIQUIDITY_PROGRAM = address('jupeiUmn818Jg1ekPURTpr4mFo29p46vygyykFJ3wZC')
const REWARDS_PROGRAM = address('jup7TthsMgcR9Y3L277b8Eo9uboVSmu1utkuXHNUKar')
export const TOKEN_2022_PROGRAM = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
const ASSOCIATED = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const METADATA = address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
const SYSTEM = address('11111111111111111111111111111111')
const { READONLY, WRITABLE, WRITABLE_SIGNER } = AccountRole
const bytesOf = (key: Address) => Buffer.from(getAddressEncoder().encode(key))
const tagOf = (kind: string) => createHash('sha256').update(kind).digest().subarray(0, 8)
const derived = async (programAddress: Address, ...seeds: (string | Uint8Array)[]) =>
  (await getProgramDerivedAddress({ programAddress, seeds }))[0]

/** Gives shares or an asset a name, as their metadata have it. */
export async function describeMint(
  chain: TestChain,
  mint: Address,
  authority: Address,
  name: string,
  symbol: string,
): Promise<void> {
  const metadata = await derived(METADATA, 'metadata', bytesOf(METADATA), bytesOf(mint))
  const text = (value: string, length: number) => {
    const bytes = Buffer.alloc(4 + length)
    bytes.writeUInt32LE(length, 0)
    bytes.write(value, 4)
    return bytes
  }
  const head = [Buffer.of(4), bytesOf(authority), bytesOf(mint), text(name, 32), text(symbol, 10)]
  chain.setAccount(metadata, METADATA, Buffer.concat([...head, text('', 200), Buffer.alloc(100)]))
}

export interface LendingOptions {
  decimals?: number
  /** An asset that is there; absent: one is made. */
  mint?: Address
  /** In basis points, of every transfer of the asset: it is of Token-2022 then. */
  transferFee?: number
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
  private liquidityPrice = 10n ** 12n

  private constructor(chain: TestChain, is: Accounts, { decimals = 6, transferFee }: LendingOptions) {
    this.chain = chain
    this.is = is
    this.decimals = decimals
    this.tokenProgram = transferFee === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
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
    chain.svm.addProgram(LENDING_PROGRAM, builtProgram('lend').bytes)
    const mint = options.mint ?? (await generateKeyPairSigner()).address
    const shareMint = await derived(LENDING_PROGRAM, 'f_token_mint', bytesOf(mint))
    const lending = await derived(LENDING_PROGRAM, 'lending', bytesOf(mint), bytesOf(shareMint))
    const admin = await derived(LENDING_PROGRAM, 'lending_admin')
    const liquidity = await derived(LIQUIDITY_PROGRAM, 'liquidity')
    const of = (word: string, ...keys: Address[]) => derived(LIQUIDITY_PROGRAM, word, ...keys.map(bytesOf))
    const tokenProgram = options.transferFee === undefined ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM
    const made = new TestLending(
      chain,
      {
        mint,
        shareMint,
        lending,
        admin,
        liquidity,
        vault: await derived(ASSOCIATED, bytesOf(liquidity), bytesOf(tokenProgram), bytesOf(mint)),
        reserve: await of('reserve', mint),
        position: await of('user_supply_position', mint, lending),
        rateModel: await of('rate_model', mint),
        claim: await of('user_claim', admin, mint),
        model: await derived(REWARDS_PROGRAM, 'lending_rewards_rate_model', bytesOf(mint)),
      },
      options,
    )
    if (!options.mint) made.makeMint(mint, options.transferFee)
    made.makeMint(shareMint)
    made.fund(made.is.vault, mint, admin, 0n)
    for (const each of [liquidity, made.is.rateModel, made.is.claim])
      chain.setAccount(each, LIQUIDITY_PROGRAM, new Uint8Array(8))
    made.setPosition({ amount: 10n ** 18n })
    made.setReserve({})
    made.setRewards({ startTime: 0n, duration: 0n, yearlyReward: 0n })
    made.setPrice(10n ** 12n)
    return made
  }

  private makeMint(mint: Address, transferFee?: number): void {
    const bytes = Buffer.alloc(transferFee === undefined ? 82 : 278)
    bytes.writeUInt32LE(1, 0)
    bytesOf(this.is.admin).copy(bytes, 4)
    bytes[44] = this.decimals
    bytes[45] = 1
    if (transferFee !== undefined) {
      bytes[165] = 1
      bytes.writeUInt16LE(1, 166)
      bytes.writeUInt16LE(108, 168)
      for (const at of [170 + 72, 170 + 90]) {
        bytes.writeBigUInt64LE(2n ** 64n - 1n, at + 8)
        bytes.writeUInt16LE(transferFee, at + 16)
      }
    }
    this.chain.setAccount(mint, this.tokenProgram, bytes)
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
    this.chain.setAccount(this.is.reserve, LIQUIDITY_PROGRAM, data)
  }

  setRewards(rewards: Rewards): void {
    const data = Buffer.alloc(89)
    tagOf('account:LendingRewardsRateModel').copy(data, 0)
    bytesOf(this.mint).copy(data, 8)
    const {
      startTvl = 0n,
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
    return derived(ASSOCIATED, bytesOf(owner), bytesOf(this.tokenProgram), bytesOf(mint))
  }

  /** Puts a token account there, with tokens of nowhere. */
  fund(account: Address, mint: Address, owner: Address, amount: bigint): void {
    const hasFee = this.tokenProgram === TOKEN_2022_PROGRAM && mint === this.mint
    const bytes = Buffer.alloc(hasFee ? 178 : 165)
    bytesOf(mint).copy(bytes, 0)
    bytesOf(owner).copy(bytes, 32)
    bytes.writeBigUInt64LE(amount, 64)
    bytes[108] = 1
    if (hasFee) {
      bytes[165] = 2
      bytes.writeUInt16LE(2, 166)
      bytes.writeUInt16LE(8, 168)
    }
    // What is wrapped is lamports of the account itself, beside its rent.
    const isWrapped = mint === WRAPPED_SOL
    if (isWrapped) bytes.writeUInt32LE(1, 109)
    if (isWrapped) bytes.writeBigUInt64LE(TOKEN_RENT, 113)
    this.chain.setAccount(account, this.tokenProgram, bytes, isWrapped ? amount + TOKEN_RENT : undefined)
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
