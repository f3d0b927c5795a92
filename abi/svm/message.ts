import { bytesOf } from './addresses.ts'
import type { AccountMeta, Instruction } from './instruction.ts'
import type { Key } from './programs.ts'

/** Bytes of a transaction on the wire, signatures included. */
export const MOST_BYTES = 1_232

/**
 * A transaction of version 0 without look-up tables that nobody has signed: as many empty signatures as signers, then the
 * message. The payer of the fee comes first, then who signs and writes, who signs, what is written, what is read.
 * @see docs.solana.com, transaction structure; solana-message, v0
 */
export function unsignedTransaction(
  payer: Key,
  instructions: readonly Instruction[],
  blockhash: Key,
): Uint8Array {
  const accounts = accountsOf(payer, instructions)
  const place = new Map(accounts.map(({ key }, at) => [key, at]))
  const signers = accounts.filter(({ isSigner }) => isSigner)
  const indexOf = (key: Key) => place.get(key) ?? 0
  return Buffer.concat([
    shortLength(signers.length),
    Buffer.alloc(64 * signers.length),
    Uint8Array.of(
      VERSION_0,
      signers.length,
      signers.filter(({ isWritable }) => !isWritable).length,
      accounts.filter(({ isSigner, isWritable }) => !isSigner && !isWritable).length,
    ),
    shortLength(accounts.length),
    ...accounts.map(({ key }) => bytesOf(key)),
    bytesOf(blockhash),
    shortLength(instructions.length),
    ...instructions.flatMap(({ program, accounts: used, data }) => [
      Uint8Array.of(indexOf(program)),
      shortLength(used.length),
      Uint8Array.from(used.map(({ key }) => indexOf(key))),
      shortLength(data.length),
      data,
    ]),
    // Look-up tables.
    shortLength(0),
  ])
}

const VERSION_0 = 0x80

/** Each account once, with all that any instruction wants of it; in the order of the message, else as they came. */
function accountsOf(payer: Key, instructions: readonly Instruction[]): AccountMeta[] {
  const all = new Map<Key, AccountMeta>()
  const note = ({ key, isSigner, isWritable }: AccountMeta) => {
    const before = all.get(key)
    all.set(key, {
      key,
      isSigner: isSigner || (before?.isSigner ?? false),
      isWritable: isWritable || (before?.isWritable ?? false),
    })
  }
  note({ key: payer, isSigner: true, isWritable: true })
  for (const { program, accounts } of instructions) {
    note({ key: program, isSigner: false, isWritable: false })
    for (const account of accounts) note(account)
  }
  const rank = ({ key, isSigner, isWritable }: AccountMeta) =>
    key === payer ? -1 : 2 * Number(!isSigner) + Number(!isWritable)
  return [...all.values()].sort((a, b) => rank(a) - rank(b))
}

/** A length in seven bits a byte, the lowest first (compact-u16). */
function shortLength(length: number): Uint8Array {
  const bytes: number[] = []
  let rest = length
  do {
    bytes.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
    rest >>= 7
  } while (rest > 0)
  return Uint8Array.from(bytes)
}
