import {
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  getAssociatedTokenAddressSync,
  NATIVE_MINT,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { ComputeBudgetProgram, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { associatedTokenAccount, bytesOf, findProgramAddress } from '../../../abi/svm/addresses.ts'
import { createTokenAccount, setComputeUnitLimit, unwrapSol } from '../../../abi/svm/instructions.ts'
import { unsignedTransaction } from '../../../abi/svm/message.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import { toBase58 } from '../../../db/base58.ts'
import { anyKey, described, instructionOf, ours, theirs } from './oracle.ts'

const anyTokenProgram = fc.constantFrom(TOKEN_PROGRAM, TOKEN_2022_PROGRAM)

describe('addresses, by web3.js', () => {
  it('a program derives the same ones', () => {
    const seeds = fc.array(fc.uint8Array({ maxLength: 32 }), { maxLength: 6 })
    fc.assert(
      fc.property(seeds, anyKey, (of, program) => {
        const [found] = PublicKey.findProgramAddressSync(
          of.map(seed => Buffer.from(seed)),
          theirs(program),
        )
        expect(findProgramAddress(of, program)).toBe(ours(found))
      }),
      { numRuns: 200 },
    )
  })

  it('of token accounts are the same', () => {
    fc.assert(
      fc.property(anyKey, anyKey, anyTokenProgram, (owner, mint, program) => {
        const found = getAssociatedTokenAddressSync(theirs(mint), theirs(owner), true, theirs(program))
        expect(associatedTokenAccount(owner, mint, program)).toBe(ours(found))
      }),
      { numRuns: 200 },
    )
  })

  it('programs have their names', () => {
    expect(ours(TOKEN_PROGRAM_ID)).toBe(TOKEN_PROGRAM)
    expect(ours(TOKEN_2022_PROGRAM_ID)).toBe(TOKEN_2022_PROGRAM)
  })
})

describe('instructions, by spl-token and web3.js', () => {
  it('are the same', () => {
    fc.assert(
      fc.property(
        anyKey,
        anyKey,
        anyTokenProgram,
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        (owner, mint, program, units) => {
          const payer = theirs(owner)
          const at = getAssociatedTokenAddressSync(theirs(mint), payer, true, theirs(program))
          expect(described(instructionOf(createTokenAccount(owner, mint, program)))).toEqual(
            described(
              createAssociatedTokenAccountIdempotentInstruction(
                payer,
                at,
                payer,
                theirs(mint),
                theirs(program),
              ),
            ),
          )
          const wrapped = getAssociatedTokenAddressSync(NATIVE_MINT, payer, true)
          expect(described(instructionOf(unwrapSol(owner)))).toEqual(
            described(createCloseAccountInstruction(wrapped, payer, payer)),
          )
          expect(described(instructionOf(setComputeUnitLimit(units)))).toEqual(
            described(ComputeBudgetProgram.setComputeUnitLimit({ units })),
          )
        },
      ),
      { numRuns: 200 },
    )
  })
})

const flags = { isSigner: fc.boolean(), isWritable: fc.boolean() }

it('a transaction reads back as what was put in, payer first and every account with all that was asked of it', () => {
  // Few keys, so that instructions share some.
  const anyInstructions = fc.uniqueArray(anyKey, { minLength: 3, maxLength: 12 }).chain(keys =>
    fc.record({
      payer: fc.constantFrom(...keys),
      blockhash: anyKey,
      instructions: fc.array(
        fc.record({
          program: fc.constantFrom(...keys),
          accounts: fc.array(fc.record({ key: fc.constantFrom(...keys), ...flags }), { maxLength: 20 }),
          data: fc.uint8Array({ maxLength: 200 }),
        }),
        { maxLength: 5 },
      ),
    }),
  )
  fc.assert(
    fc.property(anyInstructions, ({ payer, blockhash, instructions }) => {
      const bytes = unsignedTransaction(payer, instructions, blockhash)
      const read = VersionedTransaction.deserialize(bytes)
      expect(read.version).toBe(0)
      expect(read.signatures.every(signature => signature.every(byte => byte === 0))).toBe(true)
      expect(read.signatures.length).toBe(read.message.header.numRequiredSignatures)
      expect(read.message.recentBlockhash).toBe(toBase58(blockhash))
      expect(Buffer.from(read.serialize()).equals(bytes)).toBe(true)

      // By web3.js the order among equals is another; what each account may do is the same.
      const compiled = new TransactionMessage({
        payerKey: theirs(payer),
        recentBlockhash: toBase58(blockhash),
        instructions: instructions.map(instructionOf),
      }).compileToV0Message()
      expect(read.message.header).toEqual(compiled.header)
      const named = ({ staticAccountKeys, header }: typeof compiled) =>
        staticAccountKeys
          .map((key, at) => {
            const isSigner = at < header.numRequiredSignatures
            const unsigned = at - header.numRequiredSignatures
            const isWritable = isSigner
              ? at < header.numRequiredSignatures - header.numReadonlySignedAccounts
              : unsigned <
                staticAccountKeys.length - header.numRequiredSignatures - header.numReadonlyUnsignedAccounts
            return `${key.toBase58()} ${isSigner} ${isWritable}`
          })
          .sort()
      const { message } = read
      if (message.version !== 0) return expect.unreachable()
      expect(message.staticAccountKeys[0]?.toBytes()).toEqual(new Uint8Array(bytesOf(payer)))
      expect(named(message)).toEqual(named(compiled))
      const decompiled = TransactionMessage.decompile(message)
      expect(
        decompiled.instructions.map(({ programId, keys, data }) => [
          programId,
          keys.map(k => k.pubkey),
          data,
        ]),
      ).toEqual(
        instructions
          .map(instructionOf)
          .map(({ programId, keys, data }) => [programId, keys.map(k => k.pubkey), data]),
      )
    }),
    { numRuns: 300 },
  )
})
