import type { StakePool } from './pool.ts'

/**
 * The fewest tokens that pay at least so many lamports; undefined where none would. The program takes its fee off first, rounded up,
 * and pays rounded down for what is left.
 * @see processor.rs and state.rs of solana-program/stake-pool
 */
export function tokensOfWithdrawal(
  lamports: bigint,
  { totalLamports, tokenSupply, solWithdrawalFee: fee }: Pick<StakePool, 'totalLamports' | 'tokenSupply' | 'solWithdrawalFee'>,
): bigint | undefined {
  if (totalLamports === 0n) return undefined
  const burnt = ceil(lamports * tokenSupply, totalLamports)
  if (fee.denominator === 0n) return burnt
  const left = fee.denominator - fee.numerator
  return left > 0n ? ceil(burnt * fee.denominator, left) : undefined
}

const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b
