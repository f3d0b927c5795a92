import type { Instruction } from '../../abi/svm/instruction.ts'
import { setComputeUnitLimit } from '../../abi/svm/instructions.ts'
import { MOST_BYTES, unsignedTransaction } from '../../abi/svm/message.ts'
import { type Key, SYSTEM_PROGRAM, WRAPPED_SOL } from '../../abi/svm/programs.ts'
import { decodeTokenAccount } from '../../abi/svm/token.ts'
import { toBase58 } from '../../db/base58.ts'
import { RefusedError } from '../http/errors.ts'
import type { OwnAccount, SvmAction, SvmFamily, SvmLook } from './family.ts'
import type { SolanaNode, SvmAccount } from './node.ts'
import { simulationError } from './simulation-error.ts'
import type { SvmVault } from './vault.ts'

export interface SvmWish {
  vault: SvmVault
  user: Key
  action: SvmAction
  /** Of which `amount` is an amount: the asset or the share. */
  assetAddress: Key
  amount: bigint
}

export interface PreparedSvm {
  slot: bigint
  transaction: Uint8Array
  lastValidBlockHeight: bigint
  /** Base units, as the simulation moved them: negative where they leave the wallet. */
  moved: { assets: bigint; shares: bigint }
}

/** What a transaction may compute at most, and what more than the simulation the next state may want. @see solana-compute-budget */
const MOST_UNITS = 1_400_000
const MORE = 1.2

const LARGEST = 2n ** 64n - 1n

/**
 * A transaction that does what is wished for, tried out on the newest state: what would fail, give nothing or move anything
 * else of the wallet's is refused with the reason. Every account of it was derived or read from accounts of the vault's own program.
 */
export async function prepareSvm(node: SolanaNode, family: SvmFamily, wish: SvmWish): Promise<PreparedSvm> {
  const look = await family.look(node, wish.vault, wish.user)
  const barred = look.barred[wish.action]
  if (barred !== undefined) throw new RefusedError(barred)
  const act = instructionsOf(wish, look)
  const trial = await tryOut(node, wish.user, act, look)
  const { blockhash, lastValidBlockHeight } = await node.blockhash()
  const units = Math.min(MOST_UNITS, Math.ceil(Number(trial.units) * MORE))
  const transaction = unsignedTransaction(wish.user, [setComputeUnitLimit(units), ...act], blockhash)
  const moved = look.moved(trial.before, trial.after)
  refuseNothing(wish, moved)
  return { slot: look.slot, transaction, lastValidBlockHeight, moved }
}

function instructionsOf({ vault, action, assetAddress, amount }: SvmWish, look: SvmLook) {
  if (amount === 0n) throw new RefusedError('amount is 0: there is nothing to do.')
  if (amount > LARGEST)
    throw new RefusedError('amount is more than 2^64 - 1: no token of Solana has so many units.')
  const isShare = assetAddress === vault.share.mint
  if (!isShare && !isAsset(vault, assetAddress))
    throw new RefusedError(
      `assetAddress has to be ${toBase58(vault.asset.mint)}, the asset of the vault, or ${toBase58(vault.share.mint)}, its share.`,
    )
  if (action === 'deposit') {
    if (isShare)
      throw new RefusedError(
        `A deposit is an amount of the asset: give assetAddress=${toBase58(vault.asset.mint)}.`,
      )
    refuseMore(amount, look.assets, vault.asset)
    return look.deposit(amount)
  }
  const shares = isShare ? amount : look.sharesFor(amount)
  if (shares === undefined) throw new RefusedError('The vault pays nothing for its shares at present.')
  refuseMore(shares, look.shares, vault.share)
  return look.redeem(shares)
}

/** The system program stands for SOL itself. */
const isAsset = ({ asset }: SvmVault, address: Key) =>
  address === asset.mint || (asset.mint === WRAPPED_SOL && address === SYSTEM_PROGRAM)

function refuseMore(amount: bigint, held: bigint, { symbol, mint }: { symbol: string; mint: Key }): void {
  if (amount > held)
    throw new RefusedError(
      `The wallet can give ${held} base units of ${symbol || toBase58(mint)}, and this takes ${amount}: ask for less.`,
    )
}

function refuseNothing({ action }: SvmWish, { assets, shares }: PreparedSvm['moved']): void {
  const received = action === 'deposit' ? shares : assets
  if (received <= 0n)
    throw new RefusedError('So small an amount pays nothing: what comes out is rounded down. Ask for more.')
  const spent = action === 'deposit' ? assets : shares
  if (spent > 0n)
    throw new RefusedError('The transaction would not do what was asked for, and is not handed out.')
}

async function tryOut(node: SolanaNode, user: Key, act: readonly Instruction[], look: SvmLook) {
  const all = [setComputeUnitLimit(MOST_UNITS), ...act]
  const { accounts } = await node.accounts(look.own)
  const trial = unsignedTransaction(user, all, SYSTEM_PROGRAM)
  if (trial.length > MOST_BYTES)
    throw new RefusedError(`The transaction has ${trial.length} bytes, and ${MOST_BYTES} is the most.`)
  const { error, units, logs, accounts: after } = await node.simulate(trial, look.own)
  if (error !== undefined) throw simulationError({ error, logs }, all, look)
  return {
    units,
    before: look.own.map((_, at) => ownOf(accounts[at])),
    after: look.own.map((_, at) => ownOf(after[at])),
  }
}

function ownOf(account: SvmAccount | undefined): OwnAccount {
  if (!account) return { lamports: 0n, amount: 0n }
  const { owner, data, lamports } = account
  return { lamports, amount: decodeTokenAccount(owner, data)?.amount ?? 0n }
}
