import { associatedTokenAccount } from '../svm/addresses.ts'
import { discriminator } from '../svm/discriminator.ts'
import { type AccountMeta, type Instruction, reads, signsAndWrites, writes } from '../svm/instruction.ts'
import { ASSOCIATED_TOKEN_PROGRAM, type Key, SYSTEM_PROGRAM } from '../svm/programs.ts'
import { lendingAdmin, liquidityOf } from './lending.ts'
import { claimAccountOf, liquidityAccountOf, rateModelOf } from './liquidity.ts'

/** A vault by its account, under the lending program that it belongs to. */
export interface LendingAt {
  program: Key
  lending: Key
  mint: Key
  shareMint: Key
  /** As the account of the vault names them. */
  reserve: Key
  supplyPosition: Key
  rewardsModel: Key
  /** Of the asset, and so of the share. */
  tokenProgram: Key
}

/** Deposits assets of a wallet's own token account; fails where it would give fewer shares than `least`. */
export function depositAssets(at: LendingAt, user: Key, assets: bigint, least: bigint): Instruction {
  const { program, lending, mint, shareMint } = at
  return {
    program,
    accounts: [
      signsAndWrites(user),
      writes(associatedTokenAccount(user, mint, at.tokenProgram)),
      writes(associatedTokenAccount(user, shareMint, at.tokenProgram)),
      reads(mint),
      reads(lendingAdmin(program)),
      writes(lending),
      writes(shareMint),
      ...ofLiquidity(at, []),
      ...ofPrograms(at),
    ],
    data: withAmounts('deposit_with_min_amount_out', assets, least),
  }
}

/** Burns shares of a wallet's own token account; fails where it would pay fewer assets than `least`. */
export function redeemShares(at: LendingAt, user: Key, shares: bigint, least: bigint): Instruction {
  const { program, lending, mint, shareMint } = at
  const claim = claimAccountOf(liquidityOf(program), lendingAdmin(program), mint)
  return {
    program,
    accounts: [
      signsAndWrites(user),
      writes(associatedTokenAccount(user, shareMint, at.tokenProgram)),
      writes(associatedTokenAccount(user, mint, at.tokenProgram)),
      reads(lendingAdmin(program)),
      writes(lending),
      reads(mint),
      writes(shareMint),
      ...ofLiquidity(at, [writes(claim)]),
      ...ofPrograms(at),
    ],
    data: withAmounts('redeem_with_min_amount_out', shares, least),
  }
}

function ofLiquidity(at: LendingAt, claim: readonly AccountMeta[]): AccountMeta[] {
  const liquidity = liquidityOf(at.program)
  const account = liquidityAccountOf(liquidity)
  return [
    writes(at.reserve),
    writes(at.supplyPosition),
    reads(rateModelOf(liquidity, at.mint)),
    writes(associatedTokenAccount(account, at.mint, at.tokenProgram)),
    ...claim,
    writes(account),
    writes(liquidity),
  ]
}

const ofPrograms = ({ rewardsModel, tokenProgram }: LendingAt): AccountMeta[] =>
  [rewardsModel, tokenProgram, ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM].map(reads)

function withAmounts(name: string, amount: bigint, least: bigint): Uint8Array {
  const data = Buffer.alloc(24)
  data.write(discriminator('global', name), 0, 'hex')
  data.writeBigUInt64LE(amount, 8)
  data.writeBigUInt64LE(least, 16)
  return data
}
