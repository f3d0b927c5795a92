import { StakePoolInstruction } from '@solana/spl-stake-pool'
import type { PublicKey, TransactionInstruction } from '@solana/web3.js'
import { StakeProgram, SystemProgram } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Key, TOKEN_PROGRAM, WRAPPED_SOL } from '../../../abi/svm/programs.ts'
import type { SvmInstruction, SvmTransaction } from '../../../processors/svm/block.ts'
import stakePool from '../../../processors/svm/programs/spl-stake-pool.ts'
import { anyKey, ours, theirs } from '../../abi/svm/oracle.ts'

/** Instructions of the chain's own builder, with what the program does below them. */

const NAMES = [
  'stakePool',
  'validatorList',
  'depositAuthority',
  'withdrawAuthority',
  'depositStake',
  'validatorStake',
  'reserveStake',
  'destinationPoolAccount',
  'managerFeeAccount',
  'referralPoolAccount',
  'poolMint',
  'fundingAccount',
  'sourcePoolAccount',
  'destinationStake',
  'destinationStakeAuthority',
  'sourceTransferAuthority',
  'destinationSystemAccount',
] as const
type Name = (typeof NAMES)[number]
type Keys = Record<Name, Key>
const anyKeys: fc.Arbitrary<Keys> = fc
  .uniqueArray(anyKey, { minLength: NAMES.length, maxLength: NAMES.length })
  .map(keys => Object.fromEntries(NAMES.map((name, i) => [name, keys[i]])) as Keys)
const anyAmount = fc.bigInt({ min: 1n, max: 10n ** 15n })

const params = (keys: Keys) =>
  Object.fromEntries(NAMES.map(name => [name, theirs(keys[name])])) as Record<Name, PublicKey>

function inside(
  { programId, keys, data }: TransactionInstruction,
  path: number[],
  place: number,
): SvmInstruction {
  return { path, place, program: ours(programId), accounts: keys.map(({ pubkey }) => ours(pubkey)), data }
}

const token = (number: number, accounts: Key[], amount: bigint, place: number): SvmInstruction => {
  const data = Buffer.alloc(9)
  data[0] = number
  data.writeBigUInt64LE(amount, 1)
  return { path: [0, place - 1], place, program: TOKEN_PROGRAM, accounts, data }
}

function transactionOf(instructions: SvmInstruction[], account: Key, owner: Key): SvmTransaction {
  const held = { mint: WRAPPED_SOL, owner, amount: 1n }
  return { index: 0, signature: '', instructions, balances: [{ account, before: held, after: held }] }
}

it('deposits of SOL: what was minted for the depositor, not for the manager or who referred him', () =>
  fc.assert(
    fc.property(anyKeys, anyKey, anyAmount, anyAmount, anyAmount, (keys, owner, lamports, shares, fee) => {
      const made = StakePoolInstruction.depositSol({ ...params(keys), lamports: Number(lamports) })
      const outer = inside(made, [0], 0)
      const { poolMint, destinationPoolAccount: to, withdrawAuthority: authority } = keys
      const transaction = transactionOf(
        [
          outer,
          inside(
            SystemProgram.transfer({
              fromPubkey: theirs(keys.fundingAccount),
              toPubkey: theirs(keys.reserveStake),
              lamports,
            }),
            [0, 0],
            1,
          ),
          token(7, [poolMint, to, authority], shares, 2),
          token(7, [poolMint, keys.managerFeeAccount, authority], fee, 3),
          token(7, [poolMint, keys.referralPoolAccount, authority], fee, 4),
          // Of another outer instruction.
          { ...token(7, [poolMint, to, authority], fee, 6), path: [1, 0] },
        ],
        to,
        owner,
      )
      expect(stakePool.decode(outer, transaction)).toEqual({
        vault: keys.stakePool,
        accounts: {
          program: outer.program,
          shareMint: poolMint,
          asset: WRAPPED_SOL,
          authority,
          reserve: keys.reserveStake,
        },
        events: [
          {
            type: 'SvmDeposited',
            protocol: 'spl-stake-pool',
            contract: keys.stakePool,
            data: {
              account: owner,
              sender: keys.fundingAccount,
              assets: lamports,
              shares,
              instructionIndex: 0,
              path: '0',
            },
          },
        ],
      })
    }),
  ))

it('withdrawals of SOL: what was burnt and what the manager kept, for what the reserve paid', () =>
  fc.assert(
    fc.property(anyKeys, anyKey, anyAmount, anyAmount, anyAmount, (keys, owner, lamports, burnt, fee) => {
      const made = StakePoolInstruction.withdrawSol({ ...params(keys), poolTokens: 1 })
      const outer = inside(made, [0], 0)
      const from = keys.sourcePoolAccount
      const [paid] = StakeProgram.withdraw({
        stakePubkey: theirs(keys.reserveStake),
        authorizedPubkey: theirs(keys.withdrawAuthority),
        toPubkey: theirs(keys.destinationSystemAccount),
        lamports: Number(lamports),
      }).instructions
      const told = stakePool.decode(
        outer,
        transactionOf(
          [
            outer,
            token(3, [from, keys.managerFeeAccount, owner], fee, 1),
            token(8, [from, keys.poolMint, owner], burnt, 2),
            ...(paid ? [inside(paid, [0, 2], 3)] : []),
          ],
          from,
          owner,
        ),
      )
      expect(told?.accounts).toMatchObject({ shareMint: keys.poolMint, reserve: keys.reserveStake })
      expect(told?.events).toEqual([
        {
          type: 'SvmWithdrawn',
          protocol: 'spl-stake-pool',
          contract: keys.stakePool,
          data: {
            account: owner,
            receiver: keys.destinationSystemAccount,
            assets: lamports,
            shares: burnt + fee,
            instructionIndex: 0,
            path: '0',
          },
        },
      ])
    }),
  ))

it('deposits and withdrawals of stake accounts, the lamports of the former not said', () =>
  fc.assert(
    fc.property(anyKeys, anyKey, anyAmount, anyAmount, (keys, owner, lamports, shares) => {
      const { poolMint, withdrawAuthority } = keys
      const deposit = inside(StakePoolInstruction.depositStake(params(keys)), [0], 0)
      const minted = token(7, [poolMint, keys.destinationPoolAccount, withdrawAuthority], shares, 1)
      const deposited = stakePool.decode(
        deposit,
        transactionOf([deposit, minted], keys.destinationPoolAccount, owner),
      )
      expect(deposited?.accounts).toMatchObject({
        shareMint: poolMint,
        authority: withdrawAuthority,
        reserve: keys.reserveStake,
      })
      expect(deposited?.events[0]?.data).toEqual({
        account: owner,
        sender: owner,
        shares,
        instructionIndex: 0,
        path: '0',
      })

      const withdrawal = inside(
        StakePoolInstruction.withdrawStake({ ...params(keys), poolTokens: 1 }),
        [0],
        0,
      )
      const [split] = StakeProgram.split(
        {
          stakePubkey: theirs(keys.validatorStake),
          authorizedPubkey: theirs(withdrawAuthority),
          splitStakePubkey: theirs(keys.destinationStake),
          lamports: Number(lamports),
        },
        0,
      ).instructions.slice(-1)
      const withdrawn = stakePool.decode(
        withdrawal,
        transactionOf(
          [
            withdrawal,
            token(8, [keys.sourcePoolAccount, poolMint, owner], shares, 1),
            ...(split ? [inside(split, [0, 1], 2)] : []),
          ],
          keys.sourcePoolAccount,
          owner,
        ),
      )
      expect(withdrawn?.vault).toBe(keys.stakePool)
      expect(withdrawn?.events[0]?.data).toEqual({
        account: owner,
        receiver: keys.destinationStakeAuthority,
        assets: lamports,
        shares,
        instructionIndex: 0,
        path: '0',
      })
    }),
  ))

it('an update names the pool and moves nothing', () =>
  fc.assert(
    fc.property(anyKeys, keys => {
      const update = inside(StakePoolInstruction.updateStakePoolBalance(params(keys)), [0], 0)
      expect(stakePool.decode(update, transactionOf([update], keys.poolMint, keys.poolMint))).toMatchObject({
        vault: keys.stakePool,
        accounts: { shareMint: keys.poolMint, authority: keys.withdrawAuthority, reserve: keys.reserveStake },
        events: [],
      })
    }),
  ))
