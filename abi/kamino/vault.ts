import { LRUCache } from 'lru-cache'
import { bytesOf, findProgramAddress } from '../svm/addresses.ts'
import { type Key, keyOf, SYSTEM_PROGRAM } from '../svm/programs.ts'
import { ByteReader } from '../svm/reader.ts'

/**
 * The program of the vaults, and those that it calls: the lending markets, and the farms that shares are staked in.
 * @see npm @kamino-finance/klend-sdk
 */
export const VAULT_PROGRAM = keyOf('KvauGMspG5k6rtzrqqn7WNn3oZdyKqLKwK2XWQ8FLjd')
export const LENDING_PROGRAM = keyOf('KLend2g3cP87fffoy8q1mQqGKjrxjC8boSyAYavgmjD')
export const FARMS_PROGRAM = keyOf('FarmsPZpWu9i7Kky8tPN37rs2TpmMrAZrC7S7vJa91Hr')

/** What lies in one reserve. */
export interface Allocation {
  reserve: Key
  /** Token account of the vault for the reserve's shares (cTokens). */
  ctokenVault: Key
  /** cTokens in it, as the vault counts them. */
  ctokens: bigint
}

export interface KaminoVault {
  authority: Key
  tokenMint: Key
  tokenVault: Key
  tokenProgram: Key
  sharesMint: Key
  /** Asset base units that lie in no reserve. */
  available: bigint
  sharesIssued: bigint
  /** Asset base units with 60 fractional bits: fees that are charged and not yet taken out. */
  pendingFeesSf: bigint
  /** Those in use, in the order that the program wants their accounts in. */
  allocations: readonly Allocation[]
  /** Asset base units. */
  minDeposit: bigint
  minWithdrawal: bigint
  name: string
  /** Undefined where the vault has none. */
  lookupTable: Key | undefined
  farm: Key | undefined
  /** Of a withdrawal, asset base units and hundredths of a percent. */
  penalty: bigint
  penaltyBps: bigint
  fees: KaminoFees
  rewards: KaminoRewards
}

/** What who runs a vault takes; charged by whatever is done with it. */
export interface KaminoFees {
  /** Hundredths of a percent: of what was earned, and of what lies in it a year. */
  performanceBps: bigint
  managementBps: bigint
  /** Unix seconds; 0: never. */
  chargedAt: bigint
  /** What belonged to the holders then, asset base units with 60 fractional bits. */
  assetsSf: bigint
}

/** Assets that lie beside those of the holders and become theirs with time. */
export interface KaminoRewards {
  perSecond: bigint
  left: bigint
  /** Unix seconds; 0: never. */
  issuedAt: bigint
}

/** sha256 of "account:VaultState", its first eight bytes. @see anchor-lang, discriminator */
const DISCRIMINATOR = 'e4c452a562d2eb98'
const SIZE = 62_552
const MOST_ALLOCATIONS = 25
const ALLOCATION_SIZE = 2_160
/** @see npm @kamino-finance/klend-sdk 8.0.2, kvault.json, VaultState and VaultAllocation: places of fields */
const AT = {
  authority: 40,
  tokenMint: 80,
  tokenVault: 120,
  tokenProgram: 152,
  sharesMint: 184,
  available: 224,
  sharesIssued: 232,
  performanceFee: 256,
  managementFee: 264,
  feesChargedAt: 272,
  assetsOfFees: 280,
  pendingFees: 296,
  allocations: 312,
  minDeposit: 58_408,
  minWithdrawal: 58_416,
  name: 58_528,
  lookupTable: 58_568,
  farm: 58_600,
  penalty: 58_680,
  penaltyBps: 58_688,
  rewards: 58_744,
} as const
const NAME_SIZE = 40
const CTOKENS_AT = 1_104

/**
 * Reads an account of a vault. Undefined where `owner` is not the program or the bytes are no vault, or where an account that the
 * program derives from the vault's address is another one.
 */
export function decodeVault(vault: Key, owner: Key, data: Uint8Array): KaminoVault | undefined {
  if (owner !== VAULT_PROGRAM || data.length !== SIZE) return undefined
  if (Buffer.from(data.subarray(0, 8)).toString('hex') !== DISCRIMINATOR) return undefined
  const key = (at: number) => new ByteReader(data.subarray(at)).key()
  const u64 = (at: number) => new ByteReader(data.subarray(at)).u64()
  const u128 = (at: number) => new ByteReader(data.subarray(at)).u128()
  const state: KaminoVault = {
    authority: key(AT.authority),
    tokenMint: key(AT.tokenMint),
    tokenVault: key(AT.tokenVault),
    tokenProgram: key(AT.tokenProgram),
    sharesMint: key(AT.sharesMint),
    available: u64(AT.available),
    sharesIssued: u64(AT.sharesIssued),
    pendingFeesSf: u128(AT.pendingFees),
    allocations: allocationsOf(data),
    minDeposit: u64(AT.minDeposit),
    minWithdrawal: u64(AT.minWithdrawal),
    name: textOf(data.subarray(AT.name, AT.name + NAME_SIZE)),
    lookupTable: unlessNone(key(AT.lookupTable)),
    farm: unlessNone(key(AT.farm)),
    penalty: u64(AT.penalty),
    penaltyBps: u64(AT.penaltyBps),
    fees: {
      performanceBps: u64(AT.performanceFee),
      managementBps: u64(AT.managementFee),
      chargedAt: u64(AT.feesChargedAt),
      assetsSf: u128(AT.assetsOfFees),
    },
    rewards: {
      perSecond: u64(AT.rewards),
      issuedAt: u64(AT.rewards + 8),
      left: u64(AT.rewards + 16),
    },
  }
  return isDerived(vault, state) ? state : undefined
}

/** A reserve that is all zero bytes is none. */
function allocationsOf(data: Uint8Array): Allocation[] {
  const found: Allocation[] = []
  for (let i = 0; i < MOST_ALLOCATIONS; i++) {
    const start = AT.allocations + i * ALLOCATION_SIZE
    const from = new ByteReader(data.subarray(start))
    const [reserve, ctokenVault] = [from.key(), from.key()]
    if (reserve === SYSTEM_PROGRAM) continue
    const ctokens = new ByteReader(data.subarray(start + CTOKENS_AT)).u64()
    found.push({ reserve, ctokenVault, ctokens })
  }
  return found
}

function isDerived(vault: Key, state: KaminoVault): boolean {
  const reserves = new Set(state.allocations.map(({ reserve }) => reserve))
  return (
    state.authority === vaultAuthority(vault) &&
    state.sharesMint === sharesMint(vault) &&
    state.tokenVault === tokenVault(vault) &&
    reserves.size === state.allocations.length &&
    state.allocations.every(({ reserve, ctokenVault }) => ctokenVault === ctokenVaultOf(vault, reserve))
  )
}

const unlessNone = (key: Key) => (key === SYSTEM_PROGRAM ? undefined : key)

/** Names are filled up with zero bytes. */
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8').replaceAll('\0', '').trim()

/** A derivation takes a millisecond, and a vault has up to 28. */
const known = new LRUCache<string, Key>({ max: 20_000 })

function derived(seed: string, ...keys: readonly Key[]): Key {
  const name = [seed, ...keys].join(' ')
  const found =
    known.get(name) ?? findProgramAddress([Buffer.from(seed), ...keys.map(bytesOf)], VAULT_PROGRAM)
  known.set(name, found)
  return found
}

/** Signs for the vault: it mints the shares. */
export const vaultAuthority = (vault: Key): Key => derived('authority', vault)
export const sharesMint = (vault: Key): Key => derived('shares', vault)
/** Where assets lie that are in no reserve. */
export const tokenVault = (vault: Key): Key => derived('token_vault', vault)
export const ctokenVaultOf = (vault: Key, reserve: Key): Key => derived('ctoken_vault', vault, reserve)
export const globalConfig = (): Key => derived('global_config')
export const eventAuthority = (): Key => derived('__event_authority')

/** What the program sets for all vaults at least, of a withdrawal: asset base units and hundredths of a percent. */
export interface KaminoConfig {
  penalty: bigint
  penaltyBps: bigint
}

/** sha256 of "account:GlobalConfig", its first eight bytes. */
const CONFIG = '95089ccaa0fcb0d9'
const CONFIG_SIZE = 1_032

/** Undefined where it is no such account of the program. @see npm @kamino-finance/klend-sdk 8.0.2, kvault.json, GlobalConfig */
export function decodeConfig(owner: Key, data: Uint8Array): KaminoConfig | undefined {
  if (owner !== VAULT_PROGRAM || data.length !== CONFIG_SIZE) return undefined
  if (Buffer.from(data.subarray(0, 8)).toString('hex') !== CONFIG) return undefined
  const from = new ByteReader(data.subarray(72))
  return { penalty: from.u64(), penaltyBps: from.u64() }
}
