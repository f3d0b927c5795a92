import { AccountRole, type Address, address, type Instruction, type KeyPairSigner } from '@solana/kit'
import type { TestChain } from './chain.ts'
import {
  ASSOCIATED,
  anyAddress,
  bytesOf,
  derivedWithBump,
  describeMint,
  SYSTEM,
  setMint,
  setTokens,
  TOKEN_PROGRAM,
  tokenAccountOf,
} from './tokens.ts'

/** A stake pool of the tests' own program, set up and used as the published layout has it. */

export const STAKE_POOL_PROGRAM = address('SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy')
const STAKE = address('Stake11111111111111111111111111111111111111')
const CLOCK = address('SysvarC1ock11111111111111111111111111111111')
const STAKE_HISTORY = address('SysvarStakeHistory1111111111111111111111111')
/** Of a stake account of 200 bytes. */
const RESERVE_RENT = 2_282_880n

const { READONLY, WRITABLE, READONLY_SIGNER, WRITABLE_SIGNER } = AccountRole

interface Fee {
  numerator: bigint
  denominator: bigint
}

export interface PoolOptions {
  program?: Address
  depositFee?: Fee
  withdrawalFee?: Fee
  epochFee?: Fee
  /** Percent of the fee of a deposit. */
  referral?: number
  depositAuthority?: Address
  withdrawAuthority?: Address
  freezeAuthority?: Address
}

const NONE = { numerator: 0n, denominator: 0n }

type Accounts = Record<
  'program' | 'pool' | 'mint' | 'reserve' | 'authority' | 'feeAccount' | 'validators' | 'manager',
  Address
>

export class TestPool {
  readonly chain: TestChain
  readonly program: Address
  readonly pool: Address
  readonly mint: Address
  readonly reserve: Address
  readonly authority: Address
  readonly feeAccount: Address
  readonly validators: Address
  readonly manager: Address

  private constructor(chain: TestChain, is: Accounts) {
    this.chain = chain
    this.program = is.program
    this.pool = is.pool
    this.mint = is.mint
    this.reserve = is.reserve
    this.authority = is.authority
    this.feeAccount = is.feeAccount
    this.validators = is.validators
    this.manager = is.manager
  }

  /** Puts a pool without deposits onto the chain. */
  static async create(chain: TestChain, options: PoolOptions = {}): Promise<TestPool> {
    const { program = STAKE_POOL_PROGRAM } = options
    chain.addProgram(program, 'stake-pool')
    const [pool, mint, reserve] = [await anyAddress(), await anyAddress(), await anyAddress()]
    const [validators, manager] = [await anyAddress(), await anyAddress()]
    const [authority, bump] = await derivedWithBump(program, pool, 'withdraw')
    const feeAccount = await tokenAccountOf(manager, mint)
    const made = new TestPool(chain, {
      program,
      pool,
      mint,
      reserve,
      authority,
      feeAccount,
      validators,
      manager,
    })
    setMint(chain, mint, authority, { decimals: 9, freezeAuthority: options.freezeAuthority })
    setTokens(chain, feeAccount, { mint, owner: manager, amount: 0n })
    chain.setAccount(reserve, STAKE, stakeBytes(authority), RESERVE_RENT)
    // A list of validators, for at most one, and of none.
    chain.setAccount(validators, program, Buffer.concat([Buffer.of(2, 1, 0, 0, 0), Buffer.alloc(59)]))
    chain.setAccount(pool, program, made.poolBytes(bump, options))
    return made
  }

  private poolBytes(bump: number, options: PoolOptions): Uint8Array {
    const key = (of: Address) => bytesOf(of)
    const option = (of: Address | undefined) => (of ? [Buffer.of(1), key(of)] : [Buffer.of(0)])
    const fee = ({ denominator, numerator }: Fee = NONE) => u64(denominator, numerator)
    const bytes = Buffer.concat([
      Buffer.of(1),
      key(this.manager),
      key(this.manager),
      key(this.authority),
      Buffer.of(bump),
      key(this.validators),
      key(this.reserve),
      key(this.mint),
      key(this.feeAccount),
      key(TOKEN_PROGRAM),
      u64(0n, 0n, BigInt(this.chain.epoch)),
      u64(0n, 0n),
      key(SYSTEM),
      fee(options.epochFee),
      // No fee is to come, no validator is preferred.
      Buffer.of(0, 0, 0),
      fee(),
      fee(),
      Buffer.of(0, 0),
      ...option(options.depositAuthority),
      fee(options.depositFee),
      Buffer.of(options.referral ?? 0),
      ...option(options.withdrawAuthority),
      fee(options.withdrawalFee),
      Buffer.of(0),
      u64(0n, 0n),
    ])
    return Buffer.concat([bytes, Buffer.alloc(611 - bytes.length)])
  }

  describe(name: string, symbol: string): Promise<void> {
    return describeMint(this.chain, this.mint, this.manager, name, symbol)
  }

  async openAccount(owner: Address, payer: KeyPairSigner): Promise<Instruction> {
    return {
      programAddress: ASSOCIATED,
      accounts: [
        { address: payer.address, role: WRITABLE_SIGNER, signer: payer } as never,
        { address: await tokenAccountOf(owner, this.mint), role: WRITABLE },
        { address: owner, role: READONLY },
        { address: this.mint, role: READONLY },
        { address: SYSTEM, role: READONLY },
        { address: TOKEN_PROGRAM, role: READONLY },
      ],
      data: Uint8Array.of(1),
    }
  }

  async depositSol(
    from: KeyPairSigner,
    lamports: bigint,
    { to, referrer, least }: { to?: Address; referrer?: Address; least?: bigint } = {},
  ): Promise<Instruction> {
    return {
      programAddress: this.program,
      accounts: [
        { address: this.pool, role: WRITABLE },
        { address: this.authority, role: READONLY },
        { address: this.reserve, role: WRITABLE },
        { address: from.address, role: WRITABLE_SIGNER, signer: from } as never,
        { address: to ?? (await tokenAccountOf(from.address, this.mint)), role: WRITABLE },
        { address: this.feeAccount, role: WRITABLE },
        { address: referrer ?? this.feeAccount, role: WRITABLE },
        { address: this.mint, role: WRITABLE },
        { address: SYSTEM, role: READONLY },
        { address: TOKEN_PROGRAM, role: READONLY },
      ],
      data: least === undefined ? tagged(0x0e, lamports) : tagged(0x19, lamports, least),
    }
  }

  async withdrawSol(owner: KeyPairSigner, tokens: bigint, to?: Address): Promise<Instruction> {
    return {
      programAddress: this.program,
      accounts: [
        { address: this.pool, role: WRITABLE },
        { address: this.authority, role: READONLY },
        { address: owner.address, role: READONLY_SIGNER, signer: owner } as never,
        { address: await tokenAccountOf(owner.address, this.mint), role: WRITABLE },
        { address: this.reserve, role: WRITABLE },
        { address: to ?? owner.address, role: WRITABLE },
        { address: this.feeAccount, role: WRITABLE },
        { address: this.mint, role: WRITABLE },
        { address: CLOCK, role: READONLY },
        { address: STAKE_HISTORY, role: READONLY },
        { address: STAKE, role: READONLY },
        { address: TOKEN_PROGRAM, role: READONLY },
      ],
      data: tagged(0x10, tokens),
    }
  }

  update(): Instruction {
    return {
      programAddress: this.program,
      accounts: [
        { address: this.pool, role: WRITABLE },
        { address: this.authority, role: READONLY },
        { address: this.validators, role: WRITABLE },
        { address: this.reserve, role: READONLY },
        { address: this.feeAccount, role: WRITABLE },
        { address: this.mint, role: WRITABLE },
        { address: TOKEN_PROGRAM, role: READONLY },
      ],
      data: Uint8Array.of(7),
    }
  }

  /** Staking rewards: lamports that come to the reserve by no instruction. */
  earn(lamports: bigint): void {
    const reserve = this.chain.svm.getAccount(this.reserve)
    if (!reserve.exists) throw new Error('the pool has no reserve')
    this.chain.setAccount(this.reserve, STAKE, reserve.data, reserve.lamports + lamports)
  }

  async balanceOf(owner: Address): Promise<bigint> {
    const account = this.chain.svm.getAccount(await tokenAccountOf(owner, this.mint))
    return account.exists && account.data.length > 0 ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
  }

  /** As the accounts say it: lamports of the pool and shares of the mint. */
  state(): { lamports: bigint; supply: bigint } {
    const [pool, mint] = [this.chain.svm.getAccount(this.pool), this.chain.svm.getAccount(this.mint)]
    if (!pool.exists || !mint.exists) throw new Error('there is no pool')
    return {
      lamports: Buffer.from(pool.data).readBigUInt64LE(258),
      supply: Buffer.from(mint.data).readBigUInt64LE(36),
    }
  }
}

/** An instruction of the token program on accounts of a wallet's own. */
export async function tokenInstruction(
  pool: TestPool,
  owner: KeyPairSigner,
  act: { send: bigint; to: Address } | { giveTo: Address } | 'close',
): Promise<Instruction> {
  const from = await tokenAccountOf(owner.address, pool.mint)
  const signer = { address: owner.address, role: READONLY_SIGNER, signer: owner } as never
  const programAddress = TOKEN_PROGRAM
  if (act === 'close') {
    const accounts = [{ address: from, role: WRITABLE }, { address: owner.address, role: WRITABLE }, signer]
    return { programAddress, accounts, data: Uint8Array.of(9) }
  }
  if ('giveTo' in act) {
    // SetAuthority of kind AccountOwner.
    const data = Buffer.concat([Buffer.of(6, 2, 1), bytesOf(act.giveTo)])
    return { programAddress, accounts: [{ address: from, role: WRITABLE }, signer], data }
  }
  const accounts = [{ address: from, role: WRITABLE }, { address: act.to, role: WRITABLE }, signer]
  return { programAddress, accounts, data: tagged(3, act.send) }
}

function u64(...values: bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  values.forEach((value, i) => void bytes.writeBigUInt64LE(value, 8 * i))
  return bytes
}

const tagged = (tag: number, ...values: bigint[]) => Buffer.concat([Buffer.of(tag), u64(...values)])

function stakeBytes(authority: Address): Uint8Array {
  const bytes = Buffer.alloc(200)
  bytes.writeUInt32LE(1, 0)
  bytes.writeBigUInt64LE(RESERVE_RENT, 4)
  bytesOf(authority).copy(bytes, 12)
  bytesOf(authority).copy(bytes, 44)
  return bytes
}
