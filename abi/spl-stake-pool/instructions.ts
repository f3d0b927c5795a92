import { type Instruction, reads, signs, signsAndWrites, withU64, writes } from '../svm/instruction.ts'
import { CLOCK, type Key, STAKE_HISTORY, STAKE_PROGRAM, SYSTEM_PROGRAM } from '../svm/programs.ts'
import { type StakePool, withdrawAuthority } from './pool.ts'

/** @see instruction.rs of solana-program/stake-pool */
const DEPOSIT_SOL = 14
const WITHDRAW_SOL = 16

/** A pool by its address, under the program that it belongs to. */
export interface PoolAt {
  program: Key
  pool: Key
  state: Pick<StakePool, 'reserve' | 'mint' | 'feeAccount' | 'tokenProgram'>
}

/** Stakes lamports of a wallet. The depositor refers himself: his is the referrer's part of the fee. */
export function depositSol(
  { program, pool, state }: PoolAt,
  from: Key,
  tokensTo: Key,
  lamports: bigint,
): Instruction {
  return {
    program,
    accounts: [
      writes(pool),
      reads(withdrawAuthority(program, pool)),
      writes(state.reserve),
      signsAndWrites(from),
      writes(tokensTo),
      writes(state.feeAccount),
      writes(tokensTo),
      writes(state.mint),
      reads(SYSTEM_PROGRAM),
      reads(state.tokenProgram),
    ],
    data: withU64(DEPOSIT_SOL, lamports),
  }
}

/** Burns tokens of a wallet for lamports of the reserve. */
export function withdrawSol(
  { program, pool, state }: PoolAt,
  owner: Key,
  tokensFrom: Key,
  tokens: bigint,
): Instruction {
  return {
    program,
    accounts: [
      writes(pool),
      reads(withdrawAuthority(program, pool)),
      signs(owner),
      writes(tokensFrom),
      writes(state.reserve),
      writes(owner),
      writes(state.feeAccount),
      writes(state.mint),
      reads(CLOCK),
      reads(STAKE_HISTORY),
      reads(STAKE_PROGRAM),
      reads(state.tokenProgram),
    ],
    data: withU64(WITHDRAW_SOL, tokens),
  }
}
