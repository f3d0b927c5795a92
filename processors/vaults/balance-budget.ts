import { LRUCache } from 'lru-cache'
import type { BlockRef } from '../../db/events/event-store.ts'
import { HOUR } from '../../db/units.ts'
import type { DeadLetter } from '../handling/block.ts'
import type { KnownContracts } from '../knowledge/known-contracts.ts'

/** Owners of one vault, and of all vaults of a standing. */
const OF_ONE = 25
const OF_ALL = 500
/** What is counted of older hours is counted anew where they are handled again. */
const HOURS = 100

export interface BalanceBudgetOptions {
  contracts: Pick<KnownContracts, 'hasLearned'>
  isListed(vault: string): boolean
}

/**
 * Owners whose balances are asked for in an hour of the chain, of vaults that nobody listed: anybody can have a contract
 * log deposits for as many as he likes, in every block. An owner counts once a block, however often it is handled.
 */
export class BalanceBudget {
  private readonly options: BalanceBudgetOptions
  private readonly hours = new LRUCache<number, Map<string, Set<string>>>({ max: HOURS })

  constructor(options: BalanceBudgetOptions) {
    this.options = options
  }

  isListed(vault: string): boolean {
    return this.options.isListed(vault)
  }

  /** Whether the balances of an owner are asked for around a block. */
  admits(vault: string, owner: string, block: BlockRef, letters: DeadLetter[]): boolean {
    const { contracts, isListed } = this.options
    if (isListed(vault)) return true
    const hour = Math.floor(block.timestamp / HOUR)
    const taken = this.hours.get(hour) ?? new Map<string, Set<string>>()
    this.hours.set(hour, taken)
    const own = taken.get(vault) ?? new Set()
    const standing = contracts.hasLearned(`VaultCreated ${vault}`) ? 'made' : 'found'
    const all = taken.get(standing) ?? new Set()
    const key = `${block.hash} ${owner}`
    if (own.has(key)) return true
    if (own.size >= OF_ONE || all.size >= OF_ALL) {
      const reason = `deposits or redemptions without transfers of more than ${OF_ONE} owners in an hour, or of ${OF_ALL} in all: taken at its word`
      letters.push({ stage: 'sample', block, contract: vault, reason })
      return false
    }
    taken.set(vault, own.add(key)).set(standing, all.add(`${vault} ${key}`))
    return true
  }
}
