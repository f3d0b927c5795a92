import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import { type Key, keyOf } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'

/**
 * The program as it is deployed: SPL's own, and two of Sanctum's of the same code.
 * @see solana-program/stake-pool; igneous-labs/sanctum-spl-stake-pool
 */
export const STAKE_POOL_PROGRAMS: readonly Key[] = [
  keyOf('SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy'),
  keyOf('SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY'),
  keyOf('SPMBzsVUuoHA4Jm6KunbsotaahvVikZs1JyTW6iJvbn'),
]

export interface Fee {
  numerator: bigint
  denominator: bigint
}

/** What follows the public keys of a pool's account and is of use here. */
export interface StakePool {
  reserve: Key
  mint: Key
  feeAccount: Key
  tokenProgram: Key
  totalLamports: bigint
  /** As of the last update of the pool: what the mint says is newer. */
  tokenSupply: bigint
  lastUpdateEpoch: bigint
  /** Who has to sign deposits of SOL too; a pool with one takes them from nobody else. */
  solDepositAuthority: Key | undefined
  solDepositFee: Fee
  /** Percent of the fee of a deposit that its referrer gets. */
  solReferralFee: number
  solWithdrawAuthority: Key | undefined
  solWithdrawalFee: Fee
}

/** Of a pool's account. */
const STAKE_POOL = 1

/** Undefined where the bytes are no stake pool. @see state.rs of solana-program/stake-pool */
export function decodeStakePool(data: Uint8Array): StakePool | undefined {
  try {
    return read(new ByteReader(data))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function read(from: ByteReader): StakePool | undefined {
  if (from.u8() !== STAKE_POOL) return undefined
  const fee = (): Fee => {
    const denominator = from.u64()
    return { numerator: from.u64(), denominator }
  }
  const maybeKey = () => from.option(() => from.key())
  // Manager, staker, authority of stake deposits, bump; the list of validators.
  from.take(3 * 32 + 1)
  from.take(32)
  const [reserve, mint, feeAccount, tokenProgram] = [from.key(), from.key(), from.key(), from.key()]
  const [totalLamports, tokenSupply, lastUpdateEpoch] = [from.u64(), from.u64(), from.u64()]
  // Lockup; fee of each epoch, now and from the next ones on; preferred validators.
  from.take(8 + 8 + 32)
  fee()
  from.option(fee)
  maybeKey()
  maybeKey()
  // Fees of stake accounts.
  fee()
  fee()
  from.option(fee)
  from.u8()
  return {
    reserve,
    mint,
    feeAccount,
    tokenProgram,
    totalLamports,
    tokenSupply,
    lastUpdateEpoch,
    solDepositAuthority: maybeKey(),
    solDepositFee: fee(),
    solReferralFee: from.u8(),
    solWithdrawAuthority: maybeKey(),
    solWithdrawalFee: fee(),
  }
}

/** Mints the shares of a pool and pays its withdrawals. */
export const withdrawAuthority = (program: Key, pool: Key): Key =>
  findProgramAddress([bytesOf(pool), Buffer.from('withdraw')], program)
