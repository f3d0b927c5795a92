import { STAKE_POOL_PROGRAM_ID, StakePoolInstruction, StakePoolLayout } from '@solana/spl-stake-pool'
import BN from 'bn.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { depositSol, withdrawSol } from '../../../abi/spl-stake-pool/instructions.ts'
import { tokensOfWithdrawal } from '../../../abi/spl-stake-pool/math.ts'
import {
  decodeStakePool,
  type Fee,
  STAKE_POOL_PROGRAMS,
  withdrawAuthority,
} from '../../../abi/spl-stake-pool/pool.ts'
import { type Key, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import { anyKey, anyU64, described, instructionOf, theirs } from './oracle.ts'

const [PROGRAM] = STAKE_POOL_PROGRAMS
if (!PROGRAM) throw new TypeError('no stake pool program')

const big = (value: bigint) => new BN(value.toString())
const anyFee = fc.record({ denominator: anyU64, numerator: anyU64 })
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })

describe('by @solana/spl-stake-pool', () => {
  it('deposits and withdrawals have the same bytes and accounts', () => {
    expect(theirs(PROGRAM)).toEqual(STAKE_POOL_PROGRAM_ID)
    // Their builder takes a number.
    const amount = fc.bigInt({ min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) })
    fc.assert(
      fc.property(fc.array(anyKey, { minLength: 6, maxLength: 6 }), amount, (keys, of) => {
        const [pool = '0x', user = '0x', tokens = '0x', reserve = '0x', mint = '0x', feeAccount = '0x'] = keys
        const at = {
          program: PROGRAM,
          pool,
          state: { reserve, mint, feeAccount, tokenProgram: TOKEN_PROGRAM },
        }
        const authority = theirs(withdrawAuthority(PROGRAM, pool))
        const common = {
          stakePool: theirs(pool),
          withdrawAuthority: authority,
          reserveStake: theirs(reserve),
          managerFeeAccount: theirs(feeAccount),
          poolMint: theirs(mint),
        }
        expect(described(instructionOf(depositSol(at, user, tokens, of)))).toEqual(
          described(
            StakePoolInstruction.depositSol({
              ...common,
              fundingAccount: theirs(user),
              destinationPoolAccount: theirs(tokens),
              referralPoolAccount: theirs(tokens),
              lamports: Number(of),
            }),
          ),
        )
        expect(described(instructionOf(withdrawSol(at, user, tokens, of)))).toEqual(
          described(
            StakePoolInstruction.withdrawSol({
              ...common,
              sourceTransferAuthority: theirs(user),
              sourcePoolAccount: theirs(tokens),
              destinationSystemAccount: theirs(user),
              poolTokens: Number(of),
            }),
          ),
        )
      }),
      { numRuns: 300 },
    )
  })

  it('an account reads as they wrote it, whichever of its optional fields are there', () => {
    const anyPool = fc.record({
      keys: fc.array(anyKey, { minLength: 8, maxLength: 8 }),
      amounts: fc.array(anyU64, { minLength: 5, maxLength: 5 }),
      fees: fc.array(anyFee, { minLength: 5, maxLength: 5 }),
      referral: fc.integer({ min: 0, max: 100 }),
      next: fc.array(maybe(anyFee), { minLength: 3, maxLength: 3 }),
      preferred: fc.array(maybe(anyKey), { minLength: 2, maxLength: 2 }),
      depositAuthority: maybe(anyKey),
      withdrawalAuthority: maybe(anyKey),
    })
    fc.assert(
      fc.property(anyPool, ({ keys, amounts, fees, referral, next, preferred, ...authorities }) => {
        const key = (at: number) => theirs(keys[at] ?? '0x')
        const amount = (at: number) => big(amounts[at] ?? 0n)
        const written = (fee: { denominator: bigint; numerator: bigint } | undefined) =>
          fee ? { denominator: big(fee.denominator), numerator: big(fee.numerator) } : null
        // Their layout moves one byte back where an optional field is undefined.
        const keyOrNull = (of: Key | undefined) => (of ? theirs(of) : null)
        const bytes = Buffer.alloc(1_000)
        StakePoolLayout.encode(
          {
            accountType: 1,
            manager: key(0),
            staker: key(1),
            stakeDepositAuthority: key(2),
            stakeWithdrawBumpSeed: 254,
            validatorList: key(3),
            reserveStake: key(4),
            poolMint: key(5),
            managerFeeAccount: key(6),
            tokenProgramId: key(7),
            totalLamports: amount(0),
            poolTokenSupply: amount(1),
            lastUpdateEpoch: amount(2),
            lockup: { unixTimestamp: amount(3), epoch: amount(4), custodian: key(0) },
            epochFee: written(fees[0]),
            nextEpochFee: written(next[0]),
            preferredDepositValidatorVoteAddress: keyOrNull(preferred[0]),
            preferredWithdrawValidatorVoteAddress: keyOrNull(preferred[1]),
            stakeDepositFee: written(fees[1]),
            stakeWithdrawalFee: written(fees[2]),
            nextStakeWithdrawalFee: written(next[1]),
            stakeReferralFee: 7,
            solDepositAuthority: keyOrNull(authorities.depositAuthority),
            solDepositFee: written(fees[3]),
            solReferralFee: referral,
            solWithdrawAuthority: keyOrNull(authorities.withdrawalAuthority),
            solWithdrawalFee: written(fees[4]),
            nextSolWithdrawalFee: written(next[2]),
            lastEpochPoolTokenSupply: big(1n),
            lastEpochTotalLamports: big(2n),
          } as never,
          bytes,
        )
        expect(decodeStakePool(bytes)).toEqual({
          reserve: keys[4],
          mint: keys[5],
          feeAccount: keys[6],
          tokenProgram: keys[7],
          totalLamports: amounts[0],
          tokenSupply: amounts[1],
          lastUpdateEpoch: amounts[2],
          solDepositAuthority: authorities.depositAuthority,
          solDepositFee: fees[3],
          solReferralFee: referral,
          solWithdrawAuthority: authorities.withdrawalAuthority,
          solWithdrawalFee: fees[4],
        })
        const other = Buffer.from(bytes)
        other.writeUInt8(2)
        expect(decodeStakePool(other)).toBeUndefined()
        for (const length of [0, 1, 200, 400])
          expect(decodeStakePool(bytes.subarray(0, length))).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  })
})

describe('the fewest tokens that pay an amount', () => {
  /** As the program pays: the fee rounded up, what is paid rounded down. */
  const paid = (tokens: bigint, total: bigint, supply: bigint, { numerator, denominator }: Fee) => {
    const fee = denominator === 0n ? 0n : (tokens * numerator + denominator - 1n) / denominator
    return ((tokens - fee) * total) / supply
  }
  const anyTotal = fc.bigInt({ min: 1n, max: 10n ** 17n })
  const anyRate = fc.oneof(
    fc.constant({ numerator: 0n, denominator: 0n }),
    fc
      .tuple(fc.bigInt({ min: 1n, max: 10_000n }), fc.nat(9_999))
      .map(([denominator, n]) => ({ numerator: BigInt(n) % denominator, denominator })),
  )

  it('pay it, and one less does not', () => {
    fc.assert(
      fc.property(
        anyTotal,
        anyTotal,
        anyRate,
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        (total, supply, fee, of) => {
          const pool = { totalLamports: total, tokenSupply: supply, solWithdrawalFee: fee }
          const tokens = tokensOfWithdrawal(of, pool)
          if (tokens === undefined) return expect.unreachable()
          expect(paid(tokens, total, supply, fee)).toBeGreaterThanOrEqual(of)
          expect(paid(tokens - 1n, total, supply, fee)).toBeLessThan(of)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('are none where nothing is in the pool, or the fee is all of it', () => {
    const pool = {
      totalLamports: 10n,
      tokenSupply: 10n,
      solWithdrawalFee: { numerator: 1n, denominator: 1n },
    }
    expect(tokensOfWithdrawal(1n, pool)).toBeUndefined()
    expect(tokensOfWithdrawal(1n, { ...pool, totalLamports: 0n })).toBeUndefined()
  })
})
