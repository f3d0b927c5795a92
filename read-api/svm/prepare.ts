import type { Instruction } from '../../abi/svm/instruction.ts'
import { setComputeUnitLimit } from '../../abi/svm/instructions.ts'
import { MOST_BYTES, unsignedTransaction } from '../../abi/svm/message.ts'
import { type Key, SYSTEM_PROGRAM, WRAPPED_SOL } from '../../abi/svm/programs.ts'
import { toBase58 } from '../../db/base58.ts'
import { RefusedError } from '../http/errors.ts'
import type { SvmAction, SvmFamily, SvmLook } from './family.ts'
import type { SolanaNode } from './node.ts'
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
  lastValidBlockHeight: bigint
  /** In the order in which they have to land. */
  steps: readonly PreparedStep[]
}

export interface PreparedStep {
  name: SvmAction | 'setup'
  transaction: Uint8Array
  /**
   * Base units, as the simulation moved them: negative where they leave the wallet. Undefined where it could not be run: the step
   * before it has to land first.
   */
  moved: Moved | undefined
}

type Moved = ReturnType<SvmLook['moved']>

/** What a transaction may compute at most, and what more than the simulation the next state may want. @see solana-compute-budget */
const MOST_UNITS = 1_400_000
const MORE = 1.2

const LARGEST = 2n ** 64n - 1n

/**
 * A transaction that does what is wished for, tried out on the newest state: what would fail, give nothing or move anything
 * else of the wallet's is refused with the reason. Every account of it was derived or read from accounts of the vault's own program.
 * Where one cannot hold it, two: what can be done beforehand, and the act, which cannot be tried before that has landed.
 */
export async function prepareSvm(node: SolanaNode, family: SvmFamily, wish: SvmWish): Promise<PreparedSvm> {
  const look = await family.look(node, wish.vault, wish.user)
  const barred = look.barred[wish.action]
  if (barred !== undefined) throw new RefusedError(barred)
  const [first, second] = partsOf(wish, instructionsOf(wish, look), look)
  const trial = await tryOut(node, wish.user, first, look)
  const { blockhash, lastValidBlockHeight } = await node.blockhash()
  const written = (act: readonly Instruction[], units: number) =>
    messageOf(wish.user, [setComputeUnitLimit(units), ...act], blockhash, look)
  const moved = look.moved(trial.before, trial.after)
  if (second) refuseLoss(moved)
  else refuseNothing(wish, moved)
  const units = Math.min(MOST_UNITS, Math.ceil(Number(trial.units) * MORE))
  const act = { name: wish.action, transaction: written(second ?? first, second ? MOST_UNITS : units) }
  return {
    slot: look.slot,
    lastValidBlockHeight,
    steps: second
      ? [
          { name: 'setup', transaction: written(first, units), moved },
          { ...act, moved: undefined },
        ]
      : [{ ...act, moved }],
  }
}

/** All of it, or what comes before the vault's program is called or SOL is wrapped, and the rest. */
function partsOf(
  { user, vault }: SvmWish,
  all: readonly Instruction[],
  look: SvmLook,
): [readonly Instruction[], (readonly Instruction[])?] {
  const lengthOf = (of: readonly Instruction[]) =>
    messageOf(user, [setComputeUnitLimit(MOST_UNITS), ...of], SYSTEM_PROGRAM, look).length
  const whole = lengthOf(all)
  if (whole <= MOST_BYTES) return [all]
  const from = all.findIndex(({ program }) => program === vault.program || program === SYSTEM_PROGRAM)
  const [first, second] = [all.slice(0, from), all.slice(from)]
  if (first.length === 0 || lengthOf(first) > MOST_BYTES || lengthOf(second) > MOST_BYTES)
    throw new RefusedError(
      `The transaction has ${whole} bytes, and ${MOST_BYTES} is the most. A smaller amount may need less.`,
    )
  return [first, second]
}

/** Without look-up tables where it is short enough. */
function messageOf(user: Key, instructions: readonly Instruction[], blockhash: Key, { tables }: SvmLook) {
  const plain = unsignedTransaction(user, instructions, blockhash)
  return plain.length > MOST_BYTES ? unsignedTransaction(user, instructions, blockhash, tables) : plain
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

function refuseNothing({ action }: SvmWish, { assets, shares }: Moved): void {
  const received = action === 'deposit' ? shares : assets
  if (received <= 0n)
    throw new RefusedError('So small an amount pays nothing: what comes out is rounded down. Ask for more.')
  const spent = action === 'deposit' ? assets : shares
  if (spent > 0n) throw new RefusedError(STRANGE)
}

function refuseLoss({ assets, shares }: Moved): void {
  if (assets < 0n || shares < 0n) throw new RefusedError(STRANGE)
}

const STRANGE = 'The transaction would not do what was asked for, and is not handed out.'

async function tryOut(node: SolanaNode, user: Key, act: readonly Instruction[], look: SvmLook) {
  const all = [setComputeUnitLimit(MOST_UNITS), ...act]
  const { accounts: before } = await node.accounts(look.own)
  const trial = messageOf(user, all, SYSTEM_PROGRAM, look)
  const { error, units, logs, accounts: after } = await node.simulate(trial, look.own)
  if (error !== undefined) throw simulationError({ error, logs }, all, look)
  return { units, before, after }
}
