import { type AccountMeta, type Instruction, reads, signs, signsAndWrites, writes } from '../svm/instruction.ts'
import { type Key, keyOf, TOKEN_PROGRAM } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'
import { type KaminoReserve, marketAuthority } from './reserve.ts'
import {
  ctokenVaultOf,
  eventAuthority,
  globalConfig,
  type KaminoVault,
  LENDING_PROGRAM,
  VAULT_PROGRAM,
} from './vault.ts'

/** sha256 of "global:<name>", the first eight bytes. @see anchor-lang, discriminator */
const DEPOSIT = 'f223c68952e1f2b6'
const WITHDRAW = 'b712469c946da122'
const WITHDRAW_FROM_AVAILABLE = '1383709baadc2239'
/** @see solana-sysvar, instructions */
const INSTRUCTIONS = keyOf('Sysvar1nstructions1111111111111111111111111')

/** A vault by its address, and the reserves of its allocations by theirs. */
export interface KaminoAt {
  vault: Key
  state: KaminoVault
  reserves: ReadonlyMap<string, KaminoReserve>
}

/** The wallet's own accounts of the asset and of the share. */
export interface KaminoUser {
  user: Key
  tokens: Key
  shares: Key
}

/** Pays in at most so many assets: all reserves, then all of their lending markets, stand behind the accounts that are named. */
export function deposit(at: KaminoAt, { user, tokens, shares }: KaminoUser, assets: bigint): Instruction {
  const { vault, state } = at
  return {
    program: VAULT_PROGRAM,
    accounts: [
      signsAndWrites(user),
      writes(vault),
      writes(state.tokenVault),
      reads(state.tokenMint),
      reads(state.authority),
      writes(state.sharesMint),
      writes(tokens),
      writes(shares),
      reads(LENDING_PROGRAM),
      reads(state.tokenProgram),
      reads(TOKEN_PROGRAM),
      ...events(),
      ...reservesOf(at),
    ],
    data: told(DEPOSIT, assets),
  }
}

/** Burns shares for what lies in no reserve. */
export function withdrawFromAvailable(at: KaminoAt, of: KaminoUser, shares: bigint): Instruction {
  return {
    program: VAULT_PROGRAM,
    accounts: [...fromAvailable(at, of), ...reservesOf(at)],
    data: told(WITHDRAW_FROM_AVAILABLE, shares),
  }
}

/**
 * Burns shares for what lies in no reserve and, beyond it, for what one reserve pays.
 * @throws RangeError where the reserve is none of the vault's
 */
export function withdraw(at: KaminoAt, of: KaminoUser, reserve: Key, shares: bigint): Instruction {
  const state = reserveOf(at, reserve)
  return {
    program: VAULT_PROGRAM,
    accounts: [
      ...fromAvailable(at, of),
      writes(at.vault),
      writes(reserve),
      writes(ctokenVaultOf(at.vault, reserve)),
      reads(state.lendingMarket),
      reads(marketAuthority(state.lendingMarket)),
      writes(state.supplyVault),
      writes(state.ctokenMint),
      reads(TOKEN_PROGRAM),
      reads(INSTRUCTIONS),
      ...events(),
      ...reservesOf(at),
    ],
    data: told(WITHDRAW, shares),
  }
}

function fromAvailable({ vault, state }: KaminoAt, { user, tokens, shares }: KaminoUser): AccountMeta[] {
  return [
    signs(user),
    writes(vault),
    reads(globalConfig()),
    writes(state.tokenVault),
    reads(state.authority),
    writes(tokens),
    writes(state.tokenMint),
    writes(shares),
    writes(state.sharesMint),
    reads(state.tokenProgram),
    reads(TOKEN_PROGRAM),
    reads(LENDING_PROGRAM),
    ...events(),
  ]
}

function reserveOf({ reserves }: KaminoAt, address: Key): KaminoReserve {
  const reserve = reserves.get(address)
  if (!reserve) throw new RangeError(`the reserve ${address} is none of the vault's`)
  return reserve
}

function reservesOf(at: KaminoAt): AccountMeta[] {
  const addresses = at.state.allocations.map(({ reserve }) => reserve)
  return [...addresses.map(writes), ...addresses.map(each => reads(reserveOf(at, each).lendingMarket))]
}

/** The program tells its events by calling itself. */
const events = () => [reads(eventAuthority()), reads(VAULT_PROGRAM)]

function told(discriminator: string, amount: bigint): Uint8Array {
  const data = Buffer.alloc(16)
  data.write(discriminator, 'hex')
  data.writeBigUInt64LE(amount, 8)
  return data
}

/** What the program tells by calling itself: base units. */
export type KaminoEvent =
  | { type: 'deposit'; shares: bigint; assets: bigint; crankFunds: bigint }
  | { type: 'withdrawal'; shares: bigint; available: bigint; ctokens: bigint; invested: bigint }

/** @see anchor-lang, event_cpi; npm @kamino-finance/klend-sdk 8.0.2, kvault.json, events */
const TOLD = 'e445a52e51cb9a1d'
const DEPOSIT_RESULT = '7b40dc0458677fcc'
const WITHDRAW_RESULT = '14bf0fe7c4316526'

/**
 * Of the data of an instruction that the program gave itself; undefined where it is another.
 * @throws RangeError where it ends too early
 */
export function decodeEvent(data: Uint8Array): KaminoEvent | undefined {
  const hex = Buffer.from(data).toString('hex', 0, 16)
  const from = new ByteReader(data.subarray(16))
  if (hex === TOLD + DEPOSIT_RESULT)
    return { type: 'deposit', shares: from.u64(), assets: from.u64(), crankFunds: from.u64() }
  if (hex === TOLD + WITHDRAW_RESULT)
    return {
      type: 'withdrawal',
      shares: from.u64(),
      available: from.u64(),
      ctokens: from.u64(),
      invested: from.u64(),
    }
  return undefined
}
