import { PublicKey, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { bytesOf, keyFrom } from '../../../abi/svm/addresses.ts'
import type { Instruction } from '../../../abi/svm/instruction.ts'
import type { Key } from '../../../abi/svm/programs.ts'

/** Keys and instructions in the words of web3.js, which shares no code with ours. */
export const theirs = (key: Key): PublicKey => new PublicKey(bytesOf(key))
export const ours = (key: PublicKey): Key => keyFrom(key.toBytes())

export const instructionOf = ({ program, accounts, data }: Instruction): TransactionInstruction =>
  new TransactionInstruction({
    programId: theirs(program),
    keys: accounts.map(({ key, ...flags }) => ({ pubkey: theirs(key), ...flags })),
    data: Buffer.from(data),
  })

/** For comparing: what two builders made, as text. */
export const described = ({ programId, keys, data }: TransactionInstruction) => ({
  program: programId.toBase58(),
  accounts: keys.map(
    ({ pubkey, isSigner, isWritable }) =>
      `${pubkey.toBase58()} ${isSigner ? 's' : ''}${isWritable ? 'w' : ''}`,
  ),
  data: data.toString('hex'),
})

export const anyKey: fc.Arbitrary<Key> = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(keyFrom)
export const anyU64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: 0n, max: 10n ** 12n }),
)
