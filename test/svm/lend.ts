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

/** A lending vault of the tests' own program, set up and used as the published interface has it. */

const LENDING_PROGRAM = address('jup3YeL8QhtSx1e253b2FDvsMNC87fDrgQZivbrndc9')
const ASSOCIATED = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
const SYSTEM = address('11111111111111111111111111111111')
const { READONLY, WRITABLE, WRITABLE_SIGNER } = AccountRole
const bytesOf = (key: Address) => Buffer.from(getAddressEncoder().encode(key))
const tagOf = (kind: string) => createHash('sha256').update(kind).digest().subarray(0, 8)

export class TestLending {
  readonly chain: TestChain
  readonly mint: Address
  readonly shareMint: Address
  readonly lending: Address
  readonly admin: Address
  readonly vault: Address
  private readonly other: Address

  private constructor(
    chain: TestChain,
    is: Record<'mint' | 'shareMint' | 'lending' | 'admin' | 'vault' | 'other', Address>,
  ) {
    this.chain = chain
    this.mint = is.mint
    this.shareMint = is.shareMint
    this.lending = is.lending
    this.admin = is.admin
    this.vault = is.vault
    this.other = is.other
  }

  static async create(chain: TestChain, decimals = 6): Promise<TestLending> {
    chain.svm.addProgram(LENDING_PROGRAM, builtProgram('lend').bytes)
    const fresh = async () => (await generateKeyPairSigner()).address
    const derived = async (...seeds: (string | Uint8Array)[]) =>
      (await getProgramDerivedAddress({ programAddress: LENDING_PROGRAM, seeds }))[0]
    const mint = await fresh()
    const shareMint = await derived('f_token_mint', bytesOf(mint))
    const lending = await derived('lending', bytesOf(mint), bytesOf(shareMint))
    const admin = await derived('lending_admin')
    const made = new TestLending(chain, {
      mint,
      shareMint,
      lending,
      admin,
      vault: await fresh(),
      other: await fresh(),
    })
    for (const each of [mint, shareMint]) {
      const bytes = Buffer.alloc(82)
      bytes.writeUInt32LE(1, 0)
      bytesOf(admin).copy(bytes, 4)
      bytes[44] = decimals
      bytes[45] = 1
      chain.setAccount(each, TOKEN_PROGRAM, bytes)
    }
    made.fund(made.vault, mint, admin, 0n)
    chain.setAccount(made.other, SYSTEM, new Uint8Array(8))
    made.setPrice(10n ** 12n)
    return made
  }

  /** What accrues: interest and rewards, as an update writes them down. */
  setPrice(price: bigint): void {
    const data = Buffer.alloc(196)
    tagOf('account:Lending').copy(data, 0)
    bytesOf(this.mint).copy(data, 8)
    bytesOf(this.shareMint).copy(data, 40)
    data[74] = 6
    data.writeBigUInt64LE(price, 107)
    data.writeBigUInt64LE(price, 115)
    data.writeBigUInt64LE(BigInt(this.chain.time), 123)
    this.chain.setAccount(this.lending, LENDING_PROGRAM, data)
  }

  /** Puts a token account there, with tokens of nowhere. */
  fund(account: Address, mint: Address, owner: Address, amount: bigint): void {
    const bytes = Buffer.alloc(165)
    bytesOf(mint).copy(bytes, 0)
    bytesOf(owner).copy(bytes, 32)
    bytes.writeBigUInt64LE(amount, 64)
    bytes[108] = 1
    this.chain.setAccount(account, TOKEN_PROGRAM, bytes)
  }

  amountOf(account: Address): bigint {
    const found = this.chain.svm.getAccount(account)
    return found.exists ? Buffer.from(found.data).readBigUInt64LE(64) : 0n
  }

  deposit(signer: KeyPairSigner, from: Address, to: Address, assets: bigint): Instruction {
    return this.instruction('deposit', assets, signer, [
      [from, to],
      [this.mint, this.admin, this.lending, this.shareMint],
      [this.other, this.other, this.other, this.vault, this.other, this.other, this.other],
    ])
  }

  /** Of shares (redeem) or assets (withdraw). */
  take(
    name: 'redeem' | 'withdraw',
    signer: KeyPairSigner,
    from: Address,
    to: Address,
    amount: bigint,
  ): Instruction {
    return this.instruction(name, amount, signer, [
      [from, to],
      [this.admin, this.lending, this.mint, this.shareMint],
      [this.other, this.other, this.other, this.vault, this.other, this.other, this.other, this.other],
    ])
  }

  private instruction(
    name: string,
    amount: bigint,
    signer: KeyPairSigner,
    accounts: Address[][],
  ): Instruction {
    const data = Buffer.alloc(16)
    tagOf(`global:${name}`).copy(data, 0)
    data.writeBigUInt64LE(amount, 8)
    return {
      programAddress: LENDING_PROGRAM,
      accounts: [
        { address: signer.address, role: WRITABLE_SIGNER, signer } as never,
        ...accounts.flat().map(each => ({
          address: each,
          role: each === this.mint || each === this.admin ? READONLY : WRITABLE,
        })),
        ...[TOKEN_PROGRAM, ASSOCIATED, SYSTEM].map(each => ({ address: each, role: READONLY })),
      ],
      data,
    }
  }
}
