import { depositSol, type PoolAt, withdrawSol } from '../../../abi/spl-stake-pool/instructions.ts'
import { tokensOfWithdrawal } from '../../../abi/spl-stake-pool/math.ts'
import {
  decodeStakePool,
  STAKE_POOL_PROGRAMS,
  type StakePool,
  withdrawAuthority,
} from '../../../abi/spl-stake-pool/pool.ts'
import { associatedTokenAccount } from '../../../abi/svm/addresses.ts'
import { createTokenAccount, unwrapSol } from '../../../abi/svm/instructions.ts'
import { type Key, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../abi/svm/programs.ts'
import { rentOf, SIGNATURE_FEE, TOKEN_ACCOUNT_RENT } from '../../../abi/svm/rent.ts'
import type { TokenAccount } from '../../../abi/svm/token.ts'
import { DependencyDownError, RefusedError } from '../../http/errors.ts'
import type { ProgramError, SvmFamily, SvmLook } from '../../svm/family.ts'
import { shareMint } from '../../svm/mint-trust.ts'
import type { SolanaNode, SvmAccount } from '../../svm/node.ts'
import type { SvmVault } from '../../svm/vault.ts'
import { above, amountAt, lamportsIn, sharesBarred, tokensIn } from '../../svm/wallet.ts'

/** Where a stake account says how many of its lamports stay. @see solana-program/stake, state.rs, Meta */
const STAKE_RENT_AT = 4

/** Stake pools of SOL. A deposit spends SOL itself, and a redemption is paid in it: wrapped SOL is unwrapped where it is needed. */
export const splStakePool: SvmFamily = {
  floor: { assets: 1_000n * 10n ** 9n },
  look,
}

interface Standing {
  at: PoolAt
  pool: StakePool
  user: Key
  /** Token accounts of the wallet: shares, and wrapped SOL. */
  sharesAt: Key
  wrappedAt: Key
  wallet: SvmAccount | undefined
  shares: SvmAccount | undefined
  wrapped: SvmAccount | undefined
  reserve: bigint
}

async function look(node: SolanaNode, vault: SvmVault, user: Key): Promise<SvmLook> {
  const first = await node.accounts([vault.address])
  const { reserve, tokenProgram } = poolOf(vault, first.accounts[0])
  const sharesAt = associatedTokenAccount(user, vault.share.mint, tokenProgram)
  const wrappedAt = associatedTokenAccount(user, WRAPPED_SOL, TOKEN_PROGRAM)
  const { slot, accounts } = await node.accounts([
    vault.address,
    vault.share.mint,
    reserve,
    user,
    sharesAt,
    wrappedAt,
  ])
  const [poolAccount, mint, reserveAccount, wallet, shares, wrapped] = accounts
  const pool = poolOf(vault, poolAccount)
  // The pool was made anew between the two answers.
  if (pool.reserve !== reserve || pool.tokenProgram !== tokenProgram) throw new DependencyDownError('Solana')
  shareMint(mint, tokenProgram, withdrawAuthority(vault.program, vault.address))
  return lookOf(slot, {
    at: { program: vault.program, pool: vault.address, state: pool },
    pool,
    user,
    sharesAt,
    wrappedAt,
    wallet,
    shares,
    wrapped,
    reserve: payable(reserveAccount),
  })
}

function poolOf(vault: SvmVault, account: SvmAccount | undefined): StakePool {
  const pool = account && STAKE_POOL_PROGRAMS.includes(account.owner) && decodeStakePool(account.data)
  if (!pool || account.owner !== vault.program || pool.mint !== vault.share.mint)
    throw new RefusedError('The account of the vault is not the stake pool any more that was indexed.')
  return pool
}

function lookOf(slot: bigint, standing: Standing): SvmLook {
  const { at, pool, user, sharesAt, wrappedAt, wallet, reserve } = standing
  const [shares, wrapped] = [tokensIn(standing.shares), tokensIn(standing.wrapped)]
  const held = wallet?.lamports ?? 0n
  const rent = shares ? 0n : TOKEN_ACCOUNT_RENT
  // Who redeems or deposits stays an account: less than its rent cannot be left.
  const kept = rent + SIGNATURE_FEE + rentOf(0)
  const spendable = above(held, kept)
  // Unwrapping gives the rent of that account back.
  const isOwn = wrapped?.owner === user && !wrapped.isFrozen && wrapped.amount > 0n
  const unwrapped = isOwn ? (standing.wrapped?.lamports ?? 0n) : 0n
  return {
    slot,
    assets: above(held + unwrapped, kept),
    shares: shares?.owner === user ? shares.amount : 0n,
    barred: barredBy(pool, user, shares),
    redeemLimit: reserve,
    own: [user, sharesAt, wrappedAt],
    deposit: amount => [
      ...(amount > spendable ? [unwrapSol(user)] : []),
      ...(shares ? [] : [createTokenAccount(user, pool.mint, pool.tokenProgram)]),
      depositSol(at, user, sharesAt, amount),
    ],
    redeem: shares => [withdrawSol(at, user, sharesAt, shares)],
    sharesFor: assets => tokensOfWithdrawal(assets, pool),
    moved: (before, after) => ({
      assets: lamportsIn(after) - lamportsIn(before) + SIGNATURE_FEE,
      shares: amountAt(after, 1) - amountAt(before, 1),
    }),
    words: code => WORDS[code],
  }
}

/** Why the pool, or who issues its shares, lets nobody or not this wallet act. */
function barredBy(pool: StakePool, user: Key, shares: TokenAccount | undefined): SvmLook['barred'] {
  const own = sharesBarred(user, shares)
  const deposit = own ?? (pool.solDepositAuthority && CLOSED_IN)
  const redeem = own ?? (pool.solWithdrawAuthority && CLOSED_OUT)
  return { ...(deposit ? { deposit } : {}), ...(redeem ? { redeem } : {}) }
}

const CLOSED_IN = 'The pool takes deposits of SOL only with the signature of an authority of its own.'
const CLOSED_OUT = 'The pool pays SOL only with the signature of an authority of its own.'

/** What a reserve can pay. */
function payable(reserve: SvmAccount | undefined): bigint {
  if (!reserve || reserve.data.length < STAKE_RENT_AT + 8) return 0n
  return above(reserve.lamports, reserve.data.readBigUInt64LE(STAKE_RENT_AT))
}

/** @see error.rs of solana-program/stake-pool */
const WORDS: Readonly<Record<number, ProgramError>> = {
  1: { text: 'The wallet has too little SOL, or too few shares.' },
  17: {
    text: 'A new epoch has begun and the pool has not been brought up to date in it: it takes and pays nothing for some minutes. Try again later.',
    retryAfter: 60,
  },
  28: { text: 'So few shares pay nothing: ask for more.' },
  29: { text: 'So little SOL gives no share: ask for more.' },
  31: { text: CLOSED_IN },
  34: { text: CLOSED_OUT },
  35: {
    text: 'The reserve of the pool holds less than that: redeemLimit of the context says how much can be redeemed at once. More leaves as a stake account, which is not prepared here.',
  },
  43: {
    text: 'The rewards of the epoch are being paid out, and the pool takes and pays nothing meanwhile. Try again later.',
    retryAfter: 60,
  },
}
