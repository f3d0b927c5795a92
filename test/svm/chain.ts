import { createHash } from 'node:crypto'
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase58Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransaction,
  signTransactionMessageWithSigners,
  type Transaction,
} from '@solana/kit'
import { Clock, FailedTransactionMetadata, LiteSVM, type TransactionMetadata } from 'litesvm'
import { builtProgram, type ProgramName } from './programs/build.ts'
import { dumpOf } from './programs/dumps.ts'

const base58 = getBase58Decoder()
const base58Bytes = getBase58Encoder()
const TOKEN_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
]
const SLOTS_PER_EPOCH = 432_000n

/** A block as getBlock answers it. */
export interface RpcBlock {
  slot: number
  blockhash: string
  previousBlockhash: string
  parentSlot: number
  blockHeight: number
  blockTime: number | null
  transactions: unknown[]
}

interface TokenHolding {
  accountIndex: number
  mint: string
  owner: string
  programId: string
  uiTokenAmount: { amount: string; decimals: number; uiAmount: null; uiAmountString: string }
}

/** What a transaction of a block came to. */
export interface Sent {
  signature: string
  slot: number
  failed: string | undefined
}

/** The real virtual machine in this process, with slots, blocks and time of our own. */
export class TestChain {
  readonly svm = new LiteSVM()
  readonly blocks: RpcBlock[] = []
  slot: number
  time: number

  private readonly dumps: typeof dumpOf
  private readonly programs = new Set<Address>()

  constructor({ slot = 250_000_000, time = 1_700_000_000, dumps = dumpOf } = {}) {
    this.slot = slot
    this.time = time
    this.dumps = dumps
    this.svm.withTransactionHistory(0n).withNativeMints()
    this.tick(0)
    this.blocks.push(this.block(slot, []))
  }

  get epoch(): number {
    return Number(this.svm.getClock().epoch)
  }

  get head(): RpcBlock {
    return this.blocks.at(-1) as RpcBlock
  }

  async wallet(lamports = 1_000_000_000_000n): Promise<KeyPairSigner> {
    const signer = await generateKeyPairSigner()
    this.setAccount(signer.address, '11111111111111111111111111111111', new Uint8Array(), lamports)
    return signer
  }

  /** Loads a program: the chain's own where there are dumps of it and of its caller, if it takes calls of one alone; else ours. */
  addProgram(program: Address, ours: ProgramName, caller: Address = program): void {
    if (this.programs.has(program)) return
    this.programs.add(program)
    const dump = this.dumps(caller) && this.dumps(program)
    this.svm.addProgram(program, dump ?? builtProgram(ours).bytes)
  }

  /** Writes an account past the rules, as no transaction does: for what a world begins with, and for yields. */
  setAccount(at: string, owner: string, data: Uint8Array, lamports?: bigint): void {
    this.svm.setAccount({
      address: address(at),
      programAddress: address(owner),
      data,
      lamports: (lamports ?? this.svm.minimumBalanceForRentExemption(BigInt(data.length))) as never,
      executable: false,
      space: BigInt(data.length),
    })
  }

  /** Slots without a block, and time that goes by. */
  skip(slots: number, seconds = Math.round(slots * 0.4)): void {
    this.slot += slots
    this.time += seconds
  }

  /** Into the next epoch: the clock moves, not the slots, so that few have to be walked. */
  nextEpoch(seconds = 172_800): void {
    this.time += seconds
    this.tick(this.epoch + 1)
  }

  async transaction(payer: KeyPairSigner, instructions: readonly Instruction[]): Promise<Transaction> {
    const message = setTransactionMessageFeePayerSigner(payer, this.messageOf(instructions))
    return signTransactionMessageWithSigners(message)
  }

  private messageOf(instructions: readonly Instruction[]) {
    return pipe(
      createTransactionMessage({ version: 0 }),
      made =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: this.svm.latestBlockhash() as Blockhash, lastValidBlockHeight: 1n << 60n },
          made,
        ),
      made => appendTransactionMessageInstructions(instructions, made),
    )
  }

  /** Signs what was prepared, mines it, and gives how it failed. */
  async land(signer: KeyPairSigner, prepared: Uint8Array): Promise<string | undefined> {
    const signed = await signTransaction([signer.keyPair], getTransactionDecoder().decode(prepared))
    return this.mine([signed as never])[0]?.failed
  }

  /** What would come of it, were it signed. */
  tryOut(payer: Address, instructions: readonly Instruction[]): ReturnType<LiteSVM['simulateTransaction']> {
    const message = setTransactionMessageFeePayer(payer, this.messageOf(instructions))
    this.svm.withSigverify(false).withBlockhashCheck(false)
    const tried = this.svm.simulateTransaction(compileTransaction(message) as never)
    this.svm.withSigverify(true)
    return tried
  }

  /** One block with these transactions, the failed ones included; none: an empty block. */
  mine(transactions: readonly Transaction[], seconds = 1): Sent[] {
    this.slot++
    this.time += seconds
    this.tick(this.epoch)
    this.svm.expireBlockhash()
    const ran = transactions.map(each => this.run(each))
    this.blocks.push(
      this.block(
        this.slot,
        ran.map(({ shown }) => shown),
      ),
    )
    return ran.map(({ sent }) => sent)
  }

  /** One transaction in a block of its own. */
  async send(payer: KeyPairSigner, instructions: readonly Instruction[]): Promise<Sent> {
    const [sent] = this.mine([await this.transaction(payer, instructions)])
    return sent as Sent
  }

  private tick(epoch: number): void {
    this.svm.setClock(
      new Clock(BigInt(this.slot), BigInt(this.time), BigInt(epoch), BigInt(epoch + 1), BigInt(this.time)),
    )
  }

  private block(slot: number, transactions: unknown[]): RpcBlock {
    const before = this.blocks.at(-1)
    return {
      slot,
      blockhash: base58.decode(createHash('sha256').update(`slot ${slot}`).digest()),
      previousBlockhash: before?.blockhash ?? base58.decode(new Uint8Array(32)),
      parentSlot: before?.slot ?? slot - 1,
      blockHeight: (before?.blockHeight ?? Number(BigInt(slot) % SLOTS_PER_EPOCH)) + 1,
      blockTime: this.time,
      transactions,
    }
  }

  private run(transaction: Transaction): { sent: Sent; shown: unknown } {
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
    if (message.version !== 0) throw new TypeError('only transactions of version 0')
    const lookups = message.addressTableLookups ?? []
    const writable = lookups.flatMap(of => this.lookedUp(of.lookupTableAddress, of.writableIndexes))
    const readonly = lookups.flatMap(of => this.lookedUp(of.lookupTableAddress, of.readonlyIndexes))
    const keys = [...message.staticAccounts, ...writable, ...readonly]
    const before = this.held(keys)
    // What was signed for an older blockhash is still good here.
    this.svm.withBlockhashCheck(false)
    const result = this.svm.sendTransaction(transaction)
    const failed = result instanceof FailedTransactionMetadata ? errorOf(result) : undefined
    const meta: TransactionMetadata = result instanceof FailedTransactionMetadata ? result.meta() : result
    const after = this.held(keys)
    const signatures = Object.values(transaction.signatures).map(bytes => base58.decode(bytes as Uint8Array))
    const shown = {
      version: 0,
      transaction: {
        signatures,
        message: {
          header: {
            numRequiredSignatures: message.header.numSignerAccounts,
            numReadonlySignedAccounts: message.header.numReadonlySignerAccounts,
            numReadonlyUnsignedAccounts: message.header.numReadonlyNonSignerAccounts,
          },
          accountKeys: message.staticAccounts,
          recentBlockhash: message.lifetimeToken,
          instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
            programIdIndex: programAddressIndex,
            accounts: accountIndices ?? [],
            data: base58.decode(data ?? new Uint8Array()),
            stackHeight: null,
          })),
          addressTableLookups: lookups.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
            accountKey: lookupTableAddress,
            writableIndexes,
            readonlyIndexes,
          })),
        },
      },
      meta: {
        err: failed ?? null,
        status: failed ? { Err: failed } : { Ok: null },
        fee: 5000 * signatures.length,
        preBalances: before.lamports,
        postBalances: after.lamports,
        preTokenBalances: before.tokens,
        postTokenBalances: after.tokens,
        innerInstructions: meta.innerInstructions().flatMap((list, index) =>
          list.length === 0
            ? []
            : [
                {
                  index,
                  instructions: list.map(inner => ({
                    programIdIndex: inner.instruction().programIdIndex(),
                    accounts: [...inner.instruction().accounts()],
                    data: base58.decode(inner.instruction().data()),
                    stackHeight: inner.stackHeight(),
                  })),
                },
              ],
        ),
        logMessages: meta.logs(),
        loadedAddresses: { writable, readonly },
        computeUnitsConsumed: Number(meta.computeUnitsConsumed()),
        rewards: [],
      },
    }
    const signature = signatures[0] ?? ''
    return {
      sent: { signature, slot: this.slot, failed: failed === undefined ? undefined : JSON.stringify(failed) },
      shown,
    }
  }

  /** Puts a table of addresses there that transactions may look up from now on. */
  setTable(at: Address, keys: readonly Address[]): void {
    const data = Buffer.alloc(56 + 32 * keys.length)
    data.writeUInt32LE(1, 0)
    data.writeBigUInt64LE(2n ** 64n - 1n, 4)
    data.writeBigUInt64LE(BigInt(this.slot - 1), 12)
    for (const [i, key] of keys.entries()) data.set(base58Bytes.encode(key), 56 + 32 * i)
    this.setAccount(at, 'AddressLookupTab1e1111111111111111111111111', data)
  }

  private lookedUp(table: Address, indexes: readonly number[]): Address[] {
    const found = this.svm.getAccount(table)
    if (!found.exists) throw new TypeError(`no table at ${table}`)
    return indexes.map(i => address(base58.decode(found.data.subarray(56 + 32 * i, 88 + 32 * i))))
  }

  /** Lamports of these accounts, and the tokens of those that are token accounts. */
  private held(keys: readonly Address[]): { lamports: number[]; tokens: TokenHolding[] } {
    const accounts = keys.map(key => this.svm.getAccount(key))
    const tokens = accounts.flatMap((account, accountIndex) => {
      if (!account.exists || !TOKEN_PROGRAMS.includes(account.programAddress)) return []
      const data = Buffer.from(account.data)
      if (data.length < 165 || data[108] === 0 || (data.length > 165 && data[165] !== 2)) return []
      const mint = base58.decode(data.subarray(0, 32))
      const found = this.svm.getAccount(address(mint))
      const decimals = found.exists ? (found.data[44] ?? 0) : 0
      const amount = data.readBigUInt64LE(64).toString()
      return [
        {
          accountIndex,
          mint,
          owner: base58.decode(data.subarray(32, 64)),
          programId: account.programAddress,
          uiTokenAmount: { amount, decimals, uiAmount: null, uiAmountString: amount } as const,
        },
      ]
    })
    return { lamports: accounts.map(account => (account.exists ? Number(account.lamports) : 0)), tokens }
  }
}

/** As a node says what failed. */
export function errorOf(failed: FailedTransactionMetadata): unknown {
  const error = failed.err() as { index?: number; err?: () => { code?: number } }
  if (typeof error !== 'object') return `error ${String(error)}`
  const inner = error.err?.()
  return {
    InstructionError: [error.index ?? 0, inner?.code === undefined ? String(inner) : { Custom: inner.code }],
  }
}
