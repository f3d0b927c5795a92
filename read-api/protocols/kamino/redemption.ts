import {
  beforePenalty,
  type KaminoBooks,
  liquidityOf,
  ONE,
  penaltyOf,
  sharesWorth,
  worthOf,
} from '../../../abi/kamino/math.ts'
import type { KaminoReserve } from '../../../abi/kamino/reserve.ts'
import type { KaminoConfig, KaminoVault } from '../../../abi/kamino/vault.ts'
import type { Key } from '../../../abi/svm/programs.ts'

/** What a reserve can pay a vault at once, asset base units. */
export interface Payable {
  reserve: Key
  assets: bigint
}

/** One withdrawal: from what lies in no reserve first, then from one. */
export interface Part {
  /** Undefined where what lies in none is enough. */
  reserve: Key | undefined
  shares: bigint
}

/**
 * What the vault lent to each reserve, or as much as is not lent on, largest first; those that have less than the vault pays at
 * least are left out. A unit less: a withdrawal is rounded up in shares of the reserve.
 */
export function payablesOf(
  vault: Pick<KaminoVault, 'allocations' | 'minWithdrawal'>,
  reserves: ReadonlyMap<string, KaminoReserve>,
  slot: bigint,
): Payable[] {
  return vault.allocations
    .flatMap(({ reserve: address, ctokens }) => {
      const reserve = reserves.get(address)
      if (!reserve) return []
      const lent = liquidityOf(ctokens, reserve, slot) / ONE
      const most = lent < reserve.available ? lent : reserve.available
      return most - 1n > vault.minWithdrawal ? [{ reserve: address, assets: most - 1n }] : []
    })
    .sort((a, b) => (a.assets < b.assets ? 1 : a.assets > b.assets ? -1 : 0))
}

/** What a vault, and the program for all of them, keep of a withdrawal, and what of one the vault pays nothing. */
export interface Terms {
  vault: KaminoConfig & Pick<KaminoVault, 'minWithdrawal'>
  all: KaminoConfig
}

/** The withdrawals that burn so many shares, as few as there can be; undefined where the reserves cannot pay for them all now. */
export function partsOf(
  books: KaminoBooks,
  { vault, all }: Terms,
  payables: readonly Payable[],
  shares: bigint,
): Part[] | undefined {
  const paidFor = (of: bigint) => {
    const worth = worthOf(books, of)
    const kept = penaltyOf(vault, all, worth)
    return worth > kept ? worth - kept : 0n
  }
  const { assetsSf, sharesIssued, available } = books
  if (paidFor(shares) <= available) return [{ reserve: undefined, shares }]
  // No withdrawal may be of less.
  const least = beforePenalty(vault, all, vault.minWithdrawal + 1n)
  const fewest = (least !== undefined && sharesWorth(books, least)) || shares
  const parts: Part[] = []
  let [left, idle] = [shares, available]
  for (const { reserve, assets } of payables) {
    const most = assets + idle
    if (paidFor(left) <= most) return [...parts, { reserve, shares: left }]
    const paid = (most * ONE * sharesIssued) / assetsSf
    const burnt = left - paid < fewest ? left - fewest : paid
    if (burnt < fewest) continue
    parts.push({ reserve, shares: burnt })
    left -= burnt
    idle = 0n
  }
  return undefined
}
