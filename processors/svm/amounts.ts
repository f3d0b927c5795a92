import { type Key, STAKE_PROGRAM, SYSTEM_PROGRAM } from '../../abi/svm/programs.ts'
import { isTokenProgram } from '../../abi/svm/token.ts'
import { below, type SvmInstruction, type SvmTransaction } from './block.ts'

/** What an instruction moved. Lamports have no mint; a plain transfer of tokens does not say of which mint they are. */
export interface Movement {
  kind: 'mint' | 'burn' | 'transfer' | 'lamports' | 'stake-withdrawal' | 'stake-split'
  mint?: Key
  from?: Key
  to?: Key
  amount: bigint
}

/** Numbers of the token programs' instructions, and where their accounts are. @see solana-program/token, instruction.rs */
const TOKEN: Record<number, { kind: Movement['kind']; mint?: number; from?: number; to?: number }> = {
  3: { kind: 'transfer', from: 0, to: 1 },
  7: { kind: 'mint', mint: 0, to: 1 },
  8: { kind: 'burn', from: 0, mint: 1 },
  12: { kind: 'transfer', from: 0, mint: 1, to: 2 },
  14: { kind: 'mint', mint: 0, to: 1 },
  15: { kind: 'burn', from: 0, mint: 1 },
}
/** Of Token-2022: TransferFeeExtension, TransferCheckedWithFee. */
const [TRANSFER_FEE, WITH_FEE] = [26, 1]
/** @see solana-program/system, instruction.rs; solana-program/stake, instruction.rs */
const [SYSTEM_TRANSFER, STAKE_SPLIT, STAKE_WITHDRAW] = [2, 3, 4]

/** What the instructions below one moved. */
export const movementsBelow = (instruction: SvmInstruction, transaction: SvmTransaction): Movement[] =>
  below(instruction, transaction).flatMap(each => movementOf(each) ?? [])

/** Undefined where it moves nothing that is understood. */
function movementOf({ program, accounts, data }: SvmInstruction): Movement | undefined {
  if (isTokenProgram(program)) return tokenMovement(accounts, data)
  if ((program !== SYSTEM_PROGRAM && program !== STAKE_PROGRAM) || data.length < 12) return undefined
  const [number, amount, [from, to]] = [data.readUInt32LE(0), data.readBigUInt64LE(4), accounts]
  const kind =
    program === SYSTEM_PROGRAM
      ? number === SYSTEM_TRANSFER && 'lamports'
      : number === STAKE_WITHDRAW
        ? 'stake-withdrawal'
        : number === STAKE_SPLIT && 'stake-split'
  return kind && from && to ? { kind, from, to, amount } : undefined
}

function tokenMovement(accounts: readonly Key[], data: Buffer): Movement | undefined {
  const [number = -1, second] = data
  if (number === TRANSFER_FEE && second === WITH_FEE && data.length >= 11) {
    const [from, mint, to] = accounts
    return from && mint && to
      ? { kind: 'transfer', from, mint, to, amount: data.readBigUInt64LE(2) }
      : undefined
  }
  const shape = TOKEN[number]
  if (!shape || data.length < 9) return undefined
  const at = (place: number | undefined) => (place === undefined ? undefined : accounts[place])
  const [mint, from, to] = [at(shape.mint), at(shape.from), at(shape.to)]
  return {
    kind: shape.kind,
    amount: data.readBigUInt64LE(1),
    ...(mint && { mint }),
    ...(from && { from }),
    ...(to && { to }),
  }
}

/** The sum of the movements that are like this one. */
export function sumOf(
  movements: readonly Movement[],
  like: Partial<Omit<Movement, 'amount'>>,
): bigint | undefined {
  const found = movements.filter(each =>
    Object.entries(like).every(([field, value]) => each[field as keyof Movement] === value),
  )
  return found.length === 0 ? undefined : found.reduce((sum, { amount }) => sum + amount, 0n)
}
