import { depositAssets, type LendingAt, redeemShares } from '../../../abi/jupiter-lend/instructions.ts'
import { assetsOfShares, sharesOfDeposit, sharesOfWithdrawal } from '../../../abi/jupiter-lend/math.ts'
import { createTokenAccount, unwrapSol, wrapSol } from '../../../abi/svm/instructions.ts'
import { type Key, WRAPPED_SOL } from '../../../abi/svm/programs.ts'
import { rentOf, SIGNATURE_FEE, TOKEN_ACCOUNT_RENT } from '../../../abi/svm/rent.ts'
import { beforeFee, feeOfTransfer } from '../../../abi/svm/token.ts'
import type { SvmFamily, SvmLook } from '../../svm/family.ts'
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
import { LEAST, WORDS } from './errors.ts'
import { type LendingState, readLending } from './state.ts'

/** What may come out less than was seen, in hundredths of a percent: prices only grow, and a deposit gives fewer shares by that. */
const SLIPPAGE = 50n

/** Vaults that lend. Deposits and redemptions carry the least that has to come of them. */
export const jupiterLend: SvmFamily = {
  // Whole programs vouch for them: only their admin can make one.
  floor: { assets: 1n },
  look,
}

async function look(node: SolanaNode, vault: SvmVault, user: Key): Promise<SvmLook> {
  const state = await readLending(node, vault, user)
  const at: LendingAt = {
    program: vault.program,
    lending: vault.address,
    mint: state.lending.mint,
    shareMint: state.lending.shareMint,
    reserve: state.lending.reserve,
    supplyPosition: state.lending.supplyPosition,
    rewardsModel: state.lending.rewardsModel,
    tokenProgram: state.tokenProgram,
  }
  const isSol = at.mint === WRAPPED_SOL
  const { price, asset, epoch, sharesAt, assetsAt } = state
  const [shares, assets] = [tokensIn(state.shares), tokensIn(state.assets)]
  const held = state.wallet?.lamports ?? 0n
  const opened = (shares ? 0n : TOKEN_ACCOUNT_RENT) + (assets ? 0n : TOKEN_ACCOUNT_RENT)
  const kept = SIGNATURE_FEE + rentOf(0) + (isSol ? opened : shares ? 0n : TOKEN_ACCOUNT_RENT)
  const wrapped = assets?.owner === user ? assets.amount : 0n
  const openShares = shares ? [] : [createTokenAccount(user, at.shareMint, at.tokenProgram)]
  const openAssets = assets ? [] : [createTokenAccount(user, at.mint, at.tokenProgram)]
  return {
    slot: state.slot,
    assets: wrapped + (isSol ? above(held, kept) : 0n),
    shares: shares?.owner === user ? shares.amount : 0n,
    barred: barredBy(state, user, held, {
      deposit: kept,
      redeem: SIGNATURE_FEE + rentOf(0) + (assets ? 0n : TOKEN_ACCOUNT_RENT),
    }),
    redeemLimit: state.withdrawable,
    least: { deposit: LEAST, redeem: LEAST },
    own: [user, sharesAt, assetsAt],
    deposit: amount => [
      ...openShares,
      ...(isSol ? [...openAssets, ...(amount > wrapped ? wrapSol(user, amount - wrapped) : [])] : []),
      depositAssets(at, user, amount, lessSlippage(sharesOfDeposit(amount, state.supplyPrice, price))),
      // What was opened for it alone gives its rent back.
      ...(isSol && !assets ? [unwrapSol(user)] : []),
    ],
    redeem: amount => [
      ...openAssets,
      redeemShares(at, user, amount, lessSlippage(assetsOfShares(amount, price))),
      ...(isSol ? [unwrapSol(user)] : []),
    ],
    sharesFor(wanted) {
      const sent = beforeFee(asset, wanted, epoch)
      return sent === undefined ? undefined : sharesOfWithdrawal(sent, price)
    },
    moved: (before, after) => ({
      assets: isSol
        ? lamportsIn(after) - lamportsIn(before) + SIGNATURE_FEE
        : amountAt(after, 2) - amountAt(before, 2),
      shares: amountAt(after, 1) - amountAt(before, 1),
    }),
    words: code => WORDS[code],
  }
}

const lessSlippage = (of: bigint) => (of * (10_000n - SLIPPAGE)) / 10_000n

function barredBy(
  state: LendingState,
  user: Key,
  held: bigint,
  needed: { deposit: bigint; redeem: bigint },
): SvmLook['barred'] {
  const own = sharesBarred(user, tokensIn(state.shares)) ?? assetsBarred(user, tokensIn(state.assets))
  const keepsPart = feeOfTransfer(state.asset, LEAST, state.epoch) > 0n
  const deposit = own ?? (keepsPart ? WORDS[6033]?.text : undefined) ?? tooPoor(held, needed.deposit)
  const redeem = own ?? tooPoor(held, needed.redeem)
  return { ...(deposit ? { deposit } : {}), ...(redeem ? { redeem } : {}) }
}
