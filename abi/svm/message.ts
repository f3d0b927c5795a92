import { bytesOf } from './addresses.ts'
import type { AccountMeta, Instruction } from './instruction.ts'
import type { LookupTable } from './lookup-table.ts'
import type { Key } from './programs.ts'

/** Bytes of a transaction on the wire, signatures included. */
export const MOST_BYTES = 1_232

/**
 * A transaction of version 0 that nobody has signed: as many empty signatures as signers, then the message. The payer of the
 * fee comes first, then who signs and writes, who signs, what is written, what is read; then what look-up tables name, which
 * is what they have of accounts that neither sign nor are called.
 * @see docs.solana.com, transaction structure; solana-message, v0
 */
export function unsignedTransaction(
  payer: Key,
  instructions: readonly Instruction[],
  blockhash: Key,
  tables: readonly LookupTable[] = [],
): Uint8Array {
  const { named, lookups } = apart(payer, instructions, tables)
  const signers = named.filter(({ isSigner }) => isSigner)
  const lookedUp = [...lookups.flatMap(of => of.writable), ...lookups.flatMap(of => of.readonly)]
  const place = new Map([...named, ...lookedUp].map(({ key }, at) => [key, at]))
  const indexOf = (key: Key) => place.get(key) ?? 0
  return Buffer.concat([
    shortLength(signers.length),
    Buffer.alloc(64 * signers.length),
    Uint8Array.of(
      VERSION_0,
      signers.length,
      signers.filter(({ isWritable }) => !isWritable).length,
      named.filter(({ isSigner, isWritable }) => !isSigner && !isWritable).length,
    ),
    shortLength(named.length),
    ...named.map(({ key }) => bytesOf(key)),
    bytesOf(blockhash),
    shortLength(instructions.length),
    ...instructions.flatMap(({ program, accounts: used, data }) => [
      Uint8Array.of(indexOf(program)),
      shortLength(used.length),
      Uint8Array.from(used.map(({ key }) => indexOf(key))),
      shortLength(data.length),
      data,
    ]),
    shortLength(lookups.length),
    ...lookups.flatMap(({ table, writable, readonly }) => [
      bytesOf(table),
      ...[writable, readonly].flatMap(of => [
        shortLength(of.length),
        Uint8Array.from(of.map(({ index }) => index)),
      ]),
    ]),
  ])
}

interface Lookup {
  table: Key
  writable: { key: Key; index: number }[]
  readonly: { key: Key; index: number }[]
}

/** What the message names itself, and what of which table: the first that has it. */
function apart(payer: Key, instructions: readonly Instruction[], tables: readonly LookupTable[]) {
  const called = new Set(instructions.map(({ program }) => program))
  const named: AccountMeta[] = []
  const lookups: Lookup[] = tables.map(({ address }) => ({ table: address, writable: [], readonly: [] }))
  for (const account of accountsOf(payer, instructions)) {
    const { key, isSigner, isWritable } = account
    const of = isSigner || called.has(key) ? -1 : tables.findIndex(({ keys }) => keys.has(key))
    const index = tables[of]?.keys.get(key)
    const lookup = lookups[of]
    if (index === undefined || !lookup) named.push(account)
    else lookup[isWritable ? 'writable' : 'readonly'].push({ key, index })
  }
  return {
    named,
    lookups: lookups.filter(({ writable, readonly }) => writable.length + readonly.length > 0),
  }
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
