import { createHash } from 'node:crypto'
import {
  type Address,
  address,
  generateKeyPairSigner,
  getAddressEncoder,
  getProgramDerivedAddress,
} from '@solana/kit'
import type { TestChain } from './chain.ts'

/** Addresses, and accounts of the token programs and of what tells names, put there as those programs would have written them. */

export const TOKEN_PROGRAM: Address = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')
export const TOKEN_2022_PROGRAM: Address = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb')
export const ASSOCIATED = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
export const SYSTEM = address('11111111111111111111111111111111')
const METADATA = address('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')
const WRAPPED_SOL = address('So11111111111111111111111111111111111111112')
const TOKEN_RENT = 2_039_280n
/** Of a mint that can keep a part of transfers: where its two fees are. */
const TRANSFER_FEES = [258, 276]

export const bytesOf = (key: Address) => Buffer.from(getAddressEncoder().encode(key))
/** What the instructions and accounts of Anchor's programs begin with. */
export const tagOf = (kind: string) => createHash('sha256').update(kind).digest().subarray(0, 8)
export const anyAddress = async () => (await generateKeyPairSigner()).address
/** Of words and keys. */
export const derivedWithBump = (programAddress: Address, ...seeds: (string | Address)[]) =>
  getProgramDerivedAddress({
    programAddress,
    seeds: seeds.map(seed => (seed.length < 32 ? seed : bytesOf(seed as Address))),
  })
/** Once of the same, since it takes a millisecond. */
const found = new Map<string, Promise<Address>>()
export function derived(...of: Parameters<typeof derivedWithBump>): Promise<Address> {
  const key = of.join(' ')
  const known = found.get(key) ?? derivedWithBump(...of).then(([at]) => at)
  found.set(key, known)
  return known
}

export const tokenAccountOf = (owner: Address, mint: Address, program = TOKEN_PROGRAM): Promise<Address> =>
  derived(ASSOCIATED, owner, program, mint)

export interface MintOptions {
  decimals: number
  program?: Address
  freezeAuthority?: Address | undefined
  /** It can keep a part of transfers, and keeps nothing yet; it has to be of Token-2022. */
  hasFee?: boolean
}

/** A mint without tokens. */
export function setMint(
  chain: TestChain,
  at: Address,
  authority: Address,
  { decimals, program = TOKEN_PROGRAM, freezeAuthority, hasFee = false }: MintOptions,
): void {
  const bytes = Buffer.alloc(hasFee ? 278 : 82)
  bytes.writeUInt32LE(1, 0)
  bytesOf(authority).copy(bytes, 4)
  bytes[44] = decimals
  bytes[45] = 1
  if (freezeAuthority) {
    bytes.writeUInt32LE(1, 46)
    bytesOf(freezeAuthority).copy(bytes, 50)
  }
  if (hasFee) {
    bytes[165] = 1
    bytes.writeUInt16LE(1, 166)
    bytes.writeUInt16LE(108, 168)
    for (const fee of TRANSFER_FEES) bytes.writeBigUInt64LE(2n ** 64n - 1n, fee - 8)
  }
  chain.setAccount(at, program, bytes)
}

/** What a mint keeps of transfers from now on, in basis points. */
export function setTransferFee(chain: TestChain, mint: Address, basisPoints: number): void {
  const found = chain.svm.getAccount(mint)
  if (!found.exists) throw new TypeError(`there is no mint ${mint}`)
  const bytes = Buffer.from(found.data)
  for (const at of TRANSFER_FEES) bytes.writeUInt16LE(basisPoints, at)
  chain.setAccount(mint, found.programAddress, bytes)
}

/** A token account with tokens of nowhere; of a mint that can keep a part of transfers where `hasFee`. */
export function setTokens(
  chain: TestChain,
  at: Address,
  { mint, owner, amount }: { mint: Address; owner: Address; amount: bigint },
  { program = TOKEN_PROGRAM, hasFee = false } = {},
): void {
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
  chain.setAccount(at, program, bytes, isWrapped ? amount + TOKEN_RENT : undefined)
}

/** Gives a mint a name, as its metadata have it: filled up with zero bytes. */
export async function describeMint(
  chain: TestChain,
  mint: Address,
  authority: Address,
  name: string,
  symbol: string,
): Promise<void> {
  const text = (value: string, length: number) => {
    const bytes = Buffer.alloc(4 + length)
    bytes.writeUInt32LE(length, 0)
    bytes.write(value, 4)
    return bytes
  }
  const head = [Buffer.of(4), bytesOf(authority), bytesOf(mint), text(name, 32), text(symbol, 10)]
  chain.setAccount(
    await derived(METADATA, 'metadata', METADATA, mint),
    METADATA,
    Buffer.concat([...head, text('', 200), Buffer.alloc(100)]),
  )
}
