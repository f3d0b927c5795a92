import {
  decodeFarmStake,
  decodeFarmTotals,
  type FarmStake,
  type FarmTotals,
  farmStakeOf,
} from '../../../abi/kamino/farm.ts'
import { booksAt, type KaminoBooks } from '../../../abi/kamino/math.ts'
import { decodeReserve, type KaminoReserve } from '../../../abi/kamino/reserve.ts'
import { decodeFarm, type KaminoFarm } from '../../../abi/kamino/staking.ts'
import {
  decodeConfig,
  decodeVault,
  globalConfig,
  type KaminoConfig,
  type KaminoVault,
} from '../../../abi/kamino/vault.ts'
import { associatedTokenAccount } from '../../../abi/svm/addresses.ts'
import { decodeClock } from '../../../abi/svm/clock.ts'
import { decodeLookupTable, type LookupTable } from '../../../abi/svm/lookup-table.ts'
import { CLOCK, type Key, TOKEN_PROGRAM } from '../../../abi/svm/programs.ts'
import { DependencyDownError, RefusedError } from '../../http/errors.ts'
import { assetMint, shareMint } from '../../svm/mint-trust.ts'
import type { SolanaNode, SvmAccount } from '../../svm/node.ts'
import type { SvmVault } from '../../svm/vault.ts'

/** A vault and a wallet's accounts, all of one slot. */
export interface KaminoState {
  slot: bigint
  vault: KaminoVault
  config: KaminoConfig
  reserves: ReadonlyMap<string, KaminoReserve>
  books: KaminoBooks
  /** Undefined where shares are staked nowhere, or where it does not take them from their owner. */
  farm: KaminoFarm | undefined
  /** What its stake is a part of, whether or not that can be taken out. */
  totals: FarmTotals | undefined
  table: LookupTable | undefined
  /** Token accounts of the wallet, and what it has staked. */
  sharesAt: Key
  assetsAt: Key
  wallet: SvmAccount | undefined
  shares: SvmAccount | undefined
  assets: SvmAccount | undefined
  stake: FarmStake | undefined
}

export async function readKamino(node: SolanaNode, of: SvmVault, user: Key): Promise<KaminoState> {
  const first = await node.accounts([of.address])
  const is = vaultAt(of, first.accounts[0])
  const sharesAt = associatedTokenAccount(user, is.sharesMint, TOKEN_PROGRAM)
  const assetsAt = associatedTokenAccount(user, is.tokenMint, is.tokenProgram)
  const keys = {
    vault: of.address,
    asset: is.tokenMint,
    share: is.sharesMint,
    config: globalConfig(),
    clock: CLOCK,
    wallet: user,
    shares: sharesAt,
    assets: assetsAt,
    ...(is.lookupTable && { table: is.lookupTable }),
    ...(is.farm && { farm: is.farm, stake: farmStakeOf(is.farm, user) }),
  }
  const names = Object.keys(keys)
  const lentIn = is.allocations.map(({ reserve }) => reserve)
  const { slot, accounts } = await node.accounts([...Object.values(keys), ...lentIn])
  const at = (name: string) => (names.includes(name) ? accounts[names.indexOf(name)] : undefined)
  const vault = vaultAt(of, at('vault'))
  if (!sameAccounts(vault, is)) throw new DependencyDownError('Solana')
  shareMint(at('share'), TOKEN_PROGRAM, vault.authority)
  const asset = assetMint(at('asset'), vault.tokenProgram)
  if (asset.transferFees.some(({ basisPoints }) => basisPoints > 0n))
    throw new RefusedError(
      'Of the asset of the vault each transfer keeps a part: no transaction is prepared.',
    )
  const read = <T>(name: string, by: (account: SvmAccount) => T | undefined) => {
    const account = at(name)
    return account && by(account)
  }
  const config = read('config', ({ owner, data }) => decodeConfig(owner, data))
  const time = decodeClock(at('clock')?.data)?.time
  if (!config || time === undefined) throw new DependencyDownError('Solana')
  const reserves = reservesOf(vault, accounts.slice(names.length))
  const { farm, lookupTable } = vault
  return {
    slot,
    vault,
    config,
    reserves,
    books: readBooks(vault, reserves, slot, time),
    farm: farm && read('farm', account => farmAt(farm, account, vault.sharesMint)),
    totals: read('farm', ({ owner, data }) => decodeFarmTotals(owner, data)),
    table:
      lookupTable && read('table', ({ owner, data }) => decodeLookupTable(lookupTable, owner, data, slot)),
    sharesAt,
    assetsAt,
    wallet: at('wallet'),
    shares: at('shares'),
    assets: at('assets'),
    stake: farm && read('stake', ({ owner, data }) => decodeFarmStake(farmStakeOf(farm, user), owner, data)),
  }
}

function vaultAt({ address, program, share, asset }: SvmVault, account: SvmAccount | undefined): KaminoVault {
  const vault = account?.owner === program ? decodeVault(address, account.owner, account.data) : undefined
  if (vault?.tokenMint !== asset.mint || vault.sharesMint !== share.mint)
    throw new RefusedError("The account of the vault is not Kamino's vault any more that was indexed.")
  return vault
}

/** Other accounts may be set for it between two answers. */
function sameAccounts(a: KaminoVault, b: KaminoVault): boolean {
  const named = ({ farm, lookupTable, allocations }: KaminoVault) =>
    JSON.stringify([farm, lookupTable, allocations.map(({ reserve }) => reserve)])
  return named(a) === named(b)
}

function farmAt(address: Key, { owner, data }: SvmAccount, mint: Key): KaminoFarm | undefined {
  const farm = decodeFarm(address, owner, data)
  return farm?.mint === mint && !farm.isDelegated ? farm : undefined
}

function reservesOf({ allocations }: KaminoVault, accounts: readonly (SvmAccount | undefined)[]) {
  const found = new Map<string, KaminoReserve>()
  for (const [i, { reserve }] of allocations.entries()) {
    const account = accounts[i]
    const decoded = account && decodeReserve(account.owner, account.data)
    if (decoded) found.set(reserve, decoded)
  }
  return found
}

function readBooks(...of: Parameters<typeof booksAt>): KaminoBooks {
  try {
    return booksAt(...of)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RefusedError(
      `The books of the vault and of the reserves that it lends in do not add up: no transaction is prepared (${error.message}).`,
    )
  }
}
