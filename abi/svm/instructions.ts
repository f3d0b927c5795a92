import { associatedTokenAccount } from './addresses.ts'
import { type Instruction, reads, signs, signsAndWrites, writes } from './instruction.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  type Key,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  WRAPPED_SOL,
} from './programs.ts'

/** The most that the instructions of a transaction may compute. @see solana-compute-budget-interface, SetComputeUnitLimit */
export function setComputeUnitLimit(units: number): Instruction {
  const data = Buffer.alloc(5)
  data.writeUInt8(2)
  data.writeUInt32LE(units, 1)
  return { program: COMPUTE_BUDGET_PROGRAM, accounts: [], data }
}

/** Makes a wallet's token account at its own cost, and does nothing where there is one. @see spl-associated-token-account, CreateIdempotent */
export function createTokenAccount(owner: Key, mint: Key, tokenProgram: Key): Instruction {
  return {
    program: ASSOCIATED_TOKEN_PROGRAM,
    accounts: [
      signsAndWrites(owner),
      writes(associatedTokenAccount(owner, mint, tokenProgram)),
      reads(owner),
      reads(mint),
      reads(SYSTEM_PROGRAM),
      reads(tokenProgram),
    ],
    data: Uint8Array.of(1),
  }
}

/** Turns all wrapped SOL of a wallet's token account into SOL, the rent of that account too. @see spl-token, CloseAccount */
export function unwrapSol(owner: Key): Instruction {
  return {
    program: TOKEN_PROGRAM,
    accounts: [
      writes(associatedTokenAccount(owner, WRAPPED_SOL, TOKEN_PROGRAM)),
      writes(owner),
      signs(owner),
    ],
    data: Uint8Array.of(9),
  }
}

/** Wraps SOL in a wallet's token account, which has to be there. @see solana-system-interface, Transfer; spl-token, SyncNative */
export function wrapSol(owner: Key, lamports: bigint): readonly Instruction[] {
  const wrapped = associatedTokenAccount(owner, WRAPPED_SOL, TOKEN_PROGRAM)
  const data = Buffer.alloc(12)
  data.writeUInt32LE(2)
  data.writeBigUInt64LE(lamports, 4)
  return [
    { program: SYSTEM_PROGRAM, accounts: [signsAndWrites(owner), writes(wrapped)], data },
    { program: TOKEN_PROGRAM, accounts: [writes(wrapped)], data: Uint8Array.of(17) },
  ]
}
