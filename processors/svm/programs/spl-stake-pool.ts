import { decodeStakePool, STAKE_POOL_PROGRAMS, withdrawAuthority } from '../../../abi/spl-stake-pool/pool.ts'
import { type Key, STAKE_PROGRAM, WRAPPED_SOL } from '../../../abi/svm/programs.ts'
import { type Movement, movementsBelow, sumOf } from '../amounts.ts'
import { accountAt, ownerOf, type SvmInstruction, type SvmTransaction } from '../block.ts'
import type { SvmProgram, Told } from '../program.ts'

/**
 * Places of accounts in instructions, by the instruction's number.
 * @see solana-program/stake-pool, instruction.rs
 */
interface Shape {
  kind: 'deposit' | 'withdrawal' | 'other'
  authority: number
  reserve?: number
  mint: number
  /** Token account of the shares that come or go. */
  shares?: number
  /** Who pays the assets or is paid them. */
  wallet?: number
  /** Lamports of the instruction's own tell the assets. */
  assets?: (movements: readonly Movement[], accounts: readonly Key[]) => bigint | undefined
}

const INITIALIZE: Shape = { kind: 'other', authority: 3, reserve: 5, mint: 6 }
const UPDATE: Shape = { kind: 'other', authority: 1, reserve: 3, mint: 5 }
const DEPOSIT_SOL: Shape = {
  kind: 'deposit',
  authority: 1,
  reserve: 2,
  mint: 7,
  shares: 4,
  wallet: 3,
  assets: (movements, [, , reserve]) => reserve && sumOf(movements, { kind: 'lamports', to: reserve }),
}
const WITHDRAW_SOL: Shape = {
  kind: 'withdrawal',
  authority: 1,
  reserve: 4,
  mint: 7,
  shares: 3,
  wallet: 5,
  assets: (movements, { 4: from, 5: to }) =>
    from && to && sumOf(movements, { kind: 'stake-withdrawal', from, to }),
}
/** How many lamports a stake account had that was merged is in no instruction. */
const DEPOSIT_STAKE: Shape = { kind: 'deposit', authority: 3, reserve: 6, mint: 10, shares: 7 }
const WITHDRAW_STAKE: Shape = {
  kind: 'withdrawal',
  authority: 2,
  mint: 9,
  shares: 7,
  wallet: 5,
  assets: (movements, { 3: from, 4: to }) =>
    from && to && sumOf(movements, { kind: 'stake-split', from, to }),
}

const SHAPES: Record<number, Shape> = {
  0: INITIALIZE,
  7: UPDATE,
  9: DEPOSIT_STAKE,
  10: WITHDRAW_STAKE,
  14: DEPOSIT_SOL,
  16: WITHDRAW_SOL,
  // The same with the least that has to come of them.
  23: DEPOSIT_STAKE,
  24: WITHDRAW_STAKE,
  25: DEPOSIT_SOL,
  26: WITHDRAW_SOL,
}

/** Of a stake account: the lamports that stay in it. @see solana-program/stake, state.rs */
const RENT_AT = 4

const splStakePool: SvmProgram = {
  name: 'spl-stake-pool',
  programs: STAKE_POOL_PROGRAMS,
  decode(instruction, transaction) {
    const shape = SHAPES[instruction.data[0] ?? -1]
    if (!shape) return undefined
    const { program, accounts } = instruction
    const vault = accountAt(accounts, 0)
    const reserve = shape.reserve === undefined ? undefined : accountAt(accounts, shape.reserve)
    const told = {
      program,
      shareMint: accountAt(accounts, shape.mint),
      asset: WRAPPED_SOL,
      authority: accountAt(accounts, shape.authority),
    }
    return {
      vault,
      accounts: reserve && { ...told, reserve },
      events: shape.kind === 'other' ? [] : [flowOf(shape, vault, instruction, transaction)],
    }
  },
  wants: (_, { reserve }) => (reserve ? [reserve as Key] : []),
  read({ vault, accounts, account: pool, supply, wanted: [reserve] }) {
    const program = accounts.program as Key
    if (pool.owner !== program) throw new TypeError(`the account is of ${pool.owner}, not of the program`)
    const state = decodeStakePool(pool.data)
    if (!state) throw new TypeError('the account is no stake pool')
    if (state.mint !== accounts.shareMint) throw new TypeError(`the pool names another mint, ${state.mint}`)
    if (withdrawAuthority(program, vault) !== accounts.authority)
      throw new TypeError(`${accounts.authority} is not derived from the pool`)
    const isReserve = reserve?.owner === STAKE_PROGRAM && state.reserve === accounts.reserve
    const kept = isReserve && reserve.data.length >= 12 ? reserve.data.readBigUInt64LE(RENT_AT) : undefined
    return {
      totalAssets: state.totalLamports,
      totalSupply: supply,
      // The pool's own count of its tokens is not kept by a burn that it does not see, nor before its first update.
      ...(supply > 0n &&
        state.totalLamports > 0n && { priceAssets: state.totalLamports, priceShares: supply }),
      ...(reserve &&
        kept !== undefined && { idleAssets: reserve.lamports > kept ? reserve.lamports - kept : 0n }),
      updatedEpoch: Number(state.lastUpdateEpoch),
    }
  },
}

function flowOf(
  shape: Shape,
  vault: Key,
  instruction: SvmInstruction,
  transaction: SvmTransaction,
): Told['events'][number] {
  const { accounts, path } = instruction
  const movements = movementsBelow(instruction, transaction)
  const tokens = accountAt(accounts, shape.shares ?? -1)
  const mint = accountAt(accounts, shape.mint)
  const owner = ownerOf(tokens, transaction)
  const wallet = shape.wallet === undefined ? undefined : accountAt(accounts, shape.wallet)
  const assets = shape.assets?.(movements, accounts)
  const common = {
    ...(assets !== undefined && { assets }),
    instructionIndex: path[0] ?? 0,
    path: path.join('.'),
  }
  const contract = { protocol: splStakePool.name, contract: vault }
  if (shape.kind === 'deposit') {
    const shares = sumOf(movements, { kind: 'mint', mint, to: tokens })
    const holder = owner.after ?? owner.before ?? wallet
    if (shares === undefined || !holder) throw new TypeError('nothing was minted for the depositor')
    return {
      type: 'SvmDeposited',
      ...contract,
      data: { ...common, account: holder, sender: wallet ?? holder, shares },
    }
  }
  const burnt = sumOf(movements, { kind: 'burn', mint, from: tokens })
  const holder = owner.before ?? owner.after ?? wallet
  if (burnt === undefined || !holder) throw new TypeError('no share was burnt')
  const fee = sumOf(movements, { kind: 'transfer', from: tokens }) ?? 0n
  return {
    type: 'SvmWithdrawn',
    ...contract,
    data: { ...common, account: holder, receiver: wallet ?? holder, shares: burnt + fee },
  }
}

export default splStakePool
