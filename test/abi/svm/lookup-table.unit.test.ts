import {
  type Address,
  decompileTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../../abi/svm/addresses.ts'
import { decodeLookupTable } from '../../../abi/svm/lookup-table.ts'
import { unsignedTransaction } from '../../../abi/svm/message.ts'
import { type Key, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../../../abi/svm/programs.ts'
import { toBase58 } from '../../../db/base58.ts'
import { anyKey, instructionOf, ours, theirs } from './oracle.ts'

/** Tables and transactions with them, by web3.js and kit, which share no code with ours. */
const NEVER = 2n ** 64n - 1n

function tableOf(keys: readonly Key[], { deactivated = NEVER, extendedIn = 9n, from = 0 } = {}): Buffer {
  const data = Buffer.alloc(56 + 32 * keys.length)
  data.writeUInt32LE(1, 0)
  data.writeBigUInt64LE(deactivated, 4)
  data.writeBigUInt64LE(extendedIn, 12)
  data.writeUInt8(from, 20)
  data.writeUInt8(1, 21)
  data.fill(7, 22, 54)
  for (const [i, key] of keys.entries()) data.set(bytesOf(key), 56 + 32 * i)
  return data
}

const at: Key = `0x${'ab'.repeat(32)}`
const keysOf = (count: number) =>
  Array.from({ length: count }, (_, i): Key => `0x${i.toString(16).padStart(64, '0')}`)

describe('a table', () => {
  it('is that of the program which web3.js names, and reads as it does', () => {
    expect(ours(AddressLookupTableProgram.programId)).toBe(LOOKUP_TABLE_PROGRAM)
    fc.assert(
      fc.property(fc.uniqueArray(anyKey, { maxLength: 256 }), keys => {
        const data = tableOf(keys)
        const read = AddressLookupTableAccount.deserialize(data)
        const table = decodeLookupTable(at, LOOKUP_TABLE_PROGRAM, data, 10n)
        expect([...(table?.keys ?? [])].map(([key]) => key)).toEqual(read.addresses.map(ours))
        expect([...(table?.keys.values() ?? [])]).toEqual(keys.map((_, i) => i))
      }),
      { numRuns: 40 },
    )
  })

  it('has at first what was in it before its last extension', () => {
    const data = tableOf(keysOf(5), { extendedIn: 20n, from: 3 })
    const sizes = [19n, 20n, 21n].map(
      slot => decodeLookupTable(at, LOOKUP_TABLE_PROGRAM, data, slot)?.keys.size,
    )
    expect(sizes).toEqual([3, 3, 5])
  })

  it('that is of another program, being done away with, set up by nobody or cut off is none', () => {
    const data = tableOf(keysOf(3))
    expect(decodeLookupTable(at, SYSTEM_PROGRAM, data, 10n)).toBeUndefined()
    expect(decodeLookupTable(at, LOOKUP_TABLE_PROGRAM, tableOf([], { deactivated: 5n }), 10n)).toBeUndefined()
    expect(decodeLookupTable(at, LOOKUP_TABLE_PROGRAM, Buffer.alloc(88), 10n)).toBeUndefined()
    expect(decodeLookupTable(at, LOOKUP_TABLE_PROGRAM, data.subarray(0, 70), 10n)).toBeUndefined()
    expect(decodeLookupTable(at, LOOKUP_TABLE_PROGRAM, Buffer.alloc(4), 10n)).toBeUndefined()
  })
})

const flags = { isSigner: fc.boolean(), isWritable: fc.boolean() }
const anyInstructions = fc.uniqueArray(anyKey, { minLength: 4, maxLength: 30 }).chain(keys =>
  fc.record({
    payer: fc.constantFrom(...keys),
    blockhash: anyKey,
    tables: fc.array(fc.record({ address: anyKey, keys: fc.subarray(keys) }), { maxLength: 3 }),
    instructions: fc.array(
      fc.record({
        program: fc.constantFrom(...keys),
        accounts: fc.array(fc.record({ key: fc.constantFrom(...keys), ...flags }), { maxLength: 30 }),
        data: fc.uint8Array({ maxLength: 40 }),
      }),
      { maxLength: 4 },
    ),
  }),
)

it('a transaction with tables reads back as what was put in, and is as long as that of web3.js', () => {
  fc.assert(
    fc.property(anyInstructions, ({ payer, blockhash, tables, instructions }) => {
      const accounts = tables.map(({ address, keys }) => {
        const data = tableOf(keys)
        const table = decodeLookupTable(address, LOOKUP_TABLE_PROGRAM, data, 10n)
        if (!table) throw new TypeError('no table')
        const state = AddressLookupTableAccount.deserialize(data)
        return { table, theirs: new AddressLookupTableAccount({ key: theirs(address), state }) }
      })
      const bytes = unsignedTransaction(
        payer,
        instructions,
        blockhash,
        accounts.map(({ table }) => table),
      )
      const addressLookupTableAccounts = accounts.map(of => of.theirs)
      const compiled = new TransactionMessage({
        payerKey: theirs(payer),
        recentBlockhash: toBase58(blockhash),
        instructions: instructions.map(instructionOf),
      }).compileToV0Message(addressLookupTableAccounts)
      const { message } = VersionedTransaction.deserialize(bytes)
      if (message.version !== 0) return expect.unreachable()
      expect(message.serialize().length).toBe(compiled.serialize().length)
      expect(message.header).toEqual(compiled.header)
      expect(
        message.addressTableLookups.map(({ accountKey, ...of }) => [
          accountKey.toBase58(),
          of.writableIndexes.length,
          of.readonlyIndexes.length,
        ]),
      ).toEqual(
        compiled.addressTableLookups.map(({ accountKey, ...of }) => [
          accountKey.toBase58(),
          of.writableIndexes.length,
          of.readonlyIndexes.length,
        ]),
      )
      const read = TransactionMessage.decompile(message, { addressLookupTableAccounts })
      const shown = ({ programId, keys, data }: (typeof read.instructions)[number]) => [
        programId.toBase58(),
        keys.map(({ pubkey, isSigner, isWritable }) => `${pubkey.toBase58()} ${isSigner} ${isWritable}`),
        [...data],
      ]
      const of = TransactionMessage.decompile(compiled, { addressLookupTableAccounts })
      expect(read.instructions.map(shown)).toEqual(of.instructions.map(shown))

      const addresses = Object.fromEntries(
        tables.map(({ address, keys }) => [toBase58(address), keys.map(toBase58) as Address[]]),
      )
      const byKit = decompileTransactionMessage(
        getCompiledTransactionMessageDecoder().decode(
          getTransactionDecoder().decode(bytes).messageBytes,
        ) as never,
        { addressesByLookupTableAddress: addresses },
      )
      expect(
        byKit.instructions.map(({ programAddress, accounts = [], data = [] }) => [
          programAddress,
          accounts.map(({ address }) => address),
          [...data],
        ]),
      ).toEqual(
        instructions.map(({ program, accounts, data }) => [
          toBase58(program),
          accounts.map(({ key }) => toBase58(key)),
          [...data],
        ]),
      )
    }),
    { numRuns: 200 },
  )
})
