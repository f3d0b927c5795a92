import {
  decodeFarmStake,
  FARM_STAKE_SIZE,
  farmStakeOf,
  partsFor,
  stakedIn,
  wholeStake,
} from '../../../abi/kamino/farm.ts'
import { deposit, withdraw, withdrawFromAvailable } from '../../../abi/kamino/instructions.ts'
import { beforePenalty, sharesWorth } from '../../../abi/kamino/math.ts'
import { givesBack, openStake, stake, takeUnstaked, unstake } from '../../../abi/kamino/staking.ts'
import type { Instruction } from '../../../abi/svm/instruction.ts'
import { createTokenAccount, unwrapSol, wrapSol } from '../../../abi/svm/instructions.ts'
import { type Key, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../abi/svm/programs.ts'
import { rentOf, SIGNATURE_FEE, TOKEN_ACCOUNT_RENT } from '../../../abi/svm/rent.ts'
import { RefusedError } from '../../http/errors.ts'
import type { OwnAccounts, SvmFamily, SvmLook } from '../../svm/family.ts'
import type { SolanaNode } from '../../svm/node.ts'
import type { SvmVault } from '../../svm/vault.ts'
import {
  above,
  amountAt,
  assetsBarred,
  lamportsIn,
  sharesBarred,
  tokensIn,
  tooPoor,
} from '../../svm/wallet.ts'
import { TOO_LITTLE_LEFT, wordsOf } from './errors.ts'
import { partsOf, payablesOf } from './redemption.ts'
import { type KaminoState, readKamino } from './state.ts'

/**
 * Vaults that lend in Kamino's markets. Shares of a deposit are staked where the registry lists the vault, which has a farm that gives
 * them back at any moment, and the wallet has no others loose: whoever runs a farm may change its terms. They are taken out of it for a redemption as far as the wallet's token account has too few. What a farm pays besides is
 * not claimed.
 */
export const kamino: SvmFamily = {
  // Anybody can make a vault, of a token of their own too.
  floor: { usd: 25_000 },
  look,
}

/** All that there is in the token account. */
const ALL = 2n ** 64n - 1n

async function look(node: SolanaNode, of: SvmVault, user: Key): Promise<SvmLook> {
  const state = await readKamino(node, of, user)
  const { vault, config, books, reserves, sharesAt, assetsAt, slot } = state
  const isSol = vault.tokenMint === WRAPPED_SOL
  const [shares, assets] = [tokensIn(state.shares), tokensIn(state.assets)]
  const held = state.wallet?.lamports ?? 0n
  const wrapped = assets?.owner === user ? assets.amount : 0n
  const loose = shares?.owner === user ? shares.amount : 0n
  const staked = stakedBy(state)
  const isVouchedFor = of.standing === 'listed'
  const farm = state.farm && isVouchedFor && loose === 0n && givesBack(state.farm) ? state.farm : undefined
  const rents = {
    shares: shares ? 0n : TOKEN_ACCOUNT_RENT,
    assets: assets ? 0n : TOKEN_ACCOUNT_RENT,
    stake: farm && !state.stake ? rentOf(FARM_STAKE_SIZE) : 0n,
  }
  const fee = SIGNATURE_FEE + rentOf(0)
  const kept = fee + rents.shares + rents.stake + (isSol ? rents.assets : 0n)
  const openShares = shares ? [] : [createTokenAccount(user, vault.sharesMint, TOKEN_PROGRAM)]
  const openAssets = assets ? [] : [createTokenAccount(user, vault.tokenMint, vault.tokenProgram)]
  const at = { vault: of.address, state: vault, reserves }
  const own = { user, tokens: assetsAt, shares: sharesAt }
  const payables = payablesOf(vault, reserves, slot)
  return {
    slot,
    assets: wrapped + (isSol ? above(held, kept) : 0n),
    shares: loose + staked.free,
    barred: barredBy(state, user, held, { deposit: kept, redeem: fee + rents.assets + rents.shares }),
    redeemLimit: payables.reduce((sum, each) => sum + each.assets, books.available),
    least: { deposit: vault.minDeposit, redeem: vault.minWithdrawal + 1n },
    notes: [...(staked.note === undefined ? [] : [staked.note]), ...penaltyNote(state)],
    tables: state.table ? [state.table] : [],
    own: [user, sharesAt, assetsAt, ...(vault.farm ? [farmStakeOf(vault.farm, user)] : [])],
    deposit: amount => [
      ...openShares,
      ...(farm && !state.stake ? [openStake(farm, user)] : []),
      ...(isSol ? [...openAssets, ...(amount > wrapped ? wrapSol(user, amount - wrapped) : [])] : []),
      deposit(at, own, amount),
      // There is nothing else in the account.
      ...(farm ? [stake(farm, user, ALL)] : []),
      // What was opened for it alone gives its rent back.
      ...(isSol && !assets ? [unwrapSol(user)] : []),
    ],
    redeem(amount) {
      const parts = partsOf(books, { vault, all: config }, payables, amount)
      if (!parts) throw new RefusedError(TOO_LITTLE_LEFT)
      return [
        ...openAssets,
        ...openShares,
        ...(amount > loose ? takenOut(state, user, amount - loose) : []),
        ...parts.map(({ reserve, shares }) =>
          reserve ? withdraw(at, own, reserve, shares) : withdrawFromAvailable(at, own, shares),
        ),
        ...(isSol ? [unwrapSol(user)] : []),
      ]
    },
    sharesFor(wanted) {
      const least = beforePenalty(vault, config, wanted)
      if (least === undefined) return undefined
      // What a reserve pays may be a unit less than what was reckoned.
      return sharesWorth(books, wanted > books.available ? least + 1n : least)
    },
    moved: (before, after) => ({
      assets: isSol
        ? lamportsIn(after) - lamportsIn(before) + SIGNATURE_FEE
        : amountAt(after, 2) - amountAt(before, 2),
      shares: sharesIn(state, user, after) - sharesIn(state, user, before),
    }),
    words: (code, program) => wordsOf(vault, code, program),
  }
}

/** Shares that can be taken out of the farm at once, and what to say of the others. */
function stakedBy({ farm, totals, stake }: KaminoState): { free: bigint; note: string | undefined } {
  if (!stake || !totals) return { free: 0n, note: undefined }
  const { active, unstaked } = stakedIn(stake, totals)
  const all = wholeStake(stake, totals)
  const isFree = farm && farm.cooldown === 0 && !farm.isLocked
  const free = isFree ? active + unstaked : 0n
  const note =
    all > free
      ? `${all - free} shares are staked in the farm of the vault and cannot be taken out at once: they are not in balanceNative.`
      : undefined
  return { free, note }
}

/** What the vault keeps of a redemption. */
function penaltyNote({ vault, config }: KaminoState): string[] {
  const [bps, units] = [vault.penaltyBps, vault.penalty].map((own, i) => {
    const all = i === 0 ? config.penaltyBps : config.penalty
    return own > all ? own : all
  }) as [bigint, bigint]
  if (bps === 0n && units === 0n) return []
  return [
    `The vault keeps ${Number(bps) / 100} % of a redemption, and ${units} base units of the asset at least. Who runs it may change that; balanceNative is before it.`,
  ]
}

/** What was unstaked before lies ready, and has to be taken out before more is unstaked. */
function takenOut({ farm, stake: of }: KaminoState, user: Key, wanted: bigint): Instruction[] {
  if (!farm || !of) return []
  const ready = stakedIn(of, farm).unstaked
  const take = takeUnstaked(farm, user)
  return [
    // A part of a unit, too, has to be taken out before.
    ...(of.pendingWithdrawalScaled > 0n ? [take] : []),
    ...(wanted > ready ? [unstake(farm, user, partsFor(wanted - ready, farm)), take] : []),
  ]
}

/** In the token account and in the farm. */
function sharesIn({ vault, totals }: KaminoState, user: Key, accounts: OwnAccounts): bigint {
  const account = accounts[3]
  const stake =
    account && vault.farm && decodeFarmStake(farmStakeOf(vault.farm, user), account.owner, account.data)
  return amountAt(accounts, 1) + (stake && totals ? wholeStake(stake, totals) : 0n)
}

function barredBy(
  { shares, assets }: KaminoState,
  user: Key,
  held: bigint,
  needed: { deposit: bigint; redeem: bigint },
): SvmLook['barred'] {
  const own = sharesBarred(user, tokensIn(shares)) ?? assetsBarred(user, tokensIn(assets))
  const deposit = own ?? tooPoor(held, needed.deposit)
  const redeem = own ?? tooPoor(held, needed.redeem)
  return { ...(deposit ? { deposit } : {}), ...(redeem ? { redeem } : {}) }
}
