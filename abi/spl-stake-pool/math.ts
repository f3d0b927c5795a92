import type { Fee, StakePool } from './pool.ts'

/** What the program reckons, unit for unit. @see processor.rs and state.rs of solana-program/stake-pool */

type Totals = Pick<StakePool, 'totalLamports' | 'tokenSupply'>

/** Rounded up, and nothing where there is no fee. */
export function feeOf(amount: bigint, { numerator, denominator }: Fee): bigint {
  return denominator === 0n ? 0n : (amount * numerator + denominator - 1n) / denominator
}

/** Tokens that are minted for lamports, before any fee: one for one while the pool is empty. */
export function tokensFor(lamports: bigint, { totalLamports, tokenSupply }: Totals): bigint {
  return totalLamports === 0n || tokenSupply === 0n ? lamports : (lamports * tokenSupply) / totalLamports
}

/** Lamports that are paid for tokens which are burnt. */
export function lamportsFor(tokens: bigint, { totalLamports, tokenSupply }: Totals): bigint {
  return tokenSupply === 0n ? 0n : (tokens * totalLamports) / tokenSupply
}

/** Tokens that a depositor gets who refers himself. */
export function tokensOfDeposit(lamports: bigint, pool: StakePool): bigint {
  const minted = tokensFor(lamports, pool)
  const fee = feeOf(minted, pool.solDepositFee)
  return minted - fee + (fee * BigInt(pool.solReferralFee)) / 100n
}

/** Lamports that a holder is paid for tokens, the fee taken off. */
export function lamportsOfWithdrawal(tokens: bigint, pool: StakePool): bigint {
  return lamportsFor(tokens - feeOf(tokens, pool.solWithdrawalFee), pool)
}

/** The fewest tokens that pay at least so many lamports; undefined where none would. */
export function tokensOfWithdrawal(lamports: bigint, pool: StakePool): bigint | undefined {
  const { totalLamports, tokenSupply, solWithdrawalFee: fee } = pool
  if (totalLamports === 0n) return undefined
  const burnt = ceil(lamports * tokenSupply, totalLamports)
  if (fee.denominator === 0n) return burnt
  const left = fee.denominator - fee.numerator
  return left > 0n ? ceil(burnt * fee.denominator, left) : undefined
}

const ceil = (a: bigint, b: bigint) => (a + b - 1n) / b
