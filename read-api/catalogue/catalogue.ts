import type { Face } from '../../db/faces.ts'
import type { ChainMoment, Moment } from '../moment/snapshot.ts'
import { EMPTY_MOMENT, momentOfFace } from '../moment/snapshot.ts'
import type { AssetInfo } from './assets.ts'
import { FactBook } from './facts.ts'
import type { Order, SortKey } from './orders.ts'

import { EMPTY_ORDER, SORT_KEYS } from './orders.ts'
import { Shown } from './shown.ts'
import type { Vault } from './vault.ts'

export const keyOf = (chainId: number, address: string) => `${chainId}:${address}`

export interface CatalogueParts {
  moment: Moment
  facts: FactBook
  /** Index of a vault by `chain:address`; grows only and is shared by all catalogues. */
  index: ReadonlyMap<string, number>
  vaults: readonly (Vault | undefined)[]
  assets: ReadonlyMap<string, AssetInfo>
  /** Vaults with an identifier that is not their address, by `chain:identifier`. */
  named: ReadonlyMap<string, number>
  /** USD prices of the chains' own coins that facts lead to, by chain. */
  coins: ReadonlyMap<number, number>
  /** USD prices of assets of chains of another kind that facts lead to, by `chain:address`. */
  quoted: ReadonlyMap<string, number>
  identity: readonly Vault[]
  orders: Readonly<Record<SortKey, Order>>
  /** Chains on which this process can prepare transactions. */
  transactsOn: ReadonlySet<number>
}

/** All vaults at one moment. Never changed: a request that holds one sees one moment, however long it takes. */
export class Catalogue {
  readonly moment: Moment
  readonly facts: FactBook
  readonly identity: readonly Vault[]
  readonly assets: ReadonlyMap<string, AssetInfo>
  readonly parts: CatalogueParts
  private readonly lazy: { all?: Shown; vouchedFor?: Shown }

  constructor(parts: CatalogueParts, same?: Catalogue) {
    this.parts = parts
    this.lazy = same?.lazy ?? {}
    this.moment = parts.moment
    this.facts = parts.facts
    this.identity = parts.identity
    this.assets = parts.assets
  }

  static empty(transactsOn: ReadonlySet<number> = new Set()): Catalogue {
    return new Catalogue({
      moment: EMPTY_MOMENT,
      facts: new FactBook(),
      index: new Map(),
      vaults: [],
      assets: new Map(),
      named: new Map(),
      coins: new Map(),
      quoted: new Map(),
      identity: [],
      orders: Object.fromEntries(SORT_KEYS.map(key => [key, EMPTY_ORDER])) as Record<SortKey, Order>,
      transactsOn,
    })
  }

  /** The same vaults after other faces than the core moved. */
  withMoment(moment: Moment): Catalogue {
    return new Catalogue({ ...this.parts, moment }, this)
  }

  get size(): number {
    return this.identity.length
  }

  /** A vault by address (lower-case) or other identifier. */
  find(chainId: number, vaultId: string): Vault | undefined {
    const { index, named, vaults } = this.parts
    const key = keyOf(chainId, vaultId)
    const at = index.get(key) ?? named.get(key)
    return at === undefined ? undefined : vaults[at]
  }

  asset(chainId: number, address: string): AssetInfo | undefined {
    return this.assets.get(keyOf(chainId, address))
  }

  /** USD price of a chain's own coin by what facts say of it or of its wrapped form, whether or not a vault holds that. */
  coinPrice(chainId: number): number | undefined {
    return this.parts.coins.get(chainId)
  }

  /** USD price of an asset of a chain of another kind, by what facts say of it. */
  quotedPrice(chainId: number, address: string): number | undefined {
    return this.parts.quoted.get(keyOf(chainId, address))
  }

  order(key: SortKey): Order {
    return this.parts.orders[key]
  }

  /** Where a chain stands for answers of a face; undefined where it is not served by it. */
  chain(chainId: number, face: Face = 'core'): ChainMoment | undefined {
    return momentOfFace(this.moment, chainId, face)
  }

  /** The vaults that an answer may be made of: without those that nobody vouches for, unless they are wanted too. */
  shown(withUnlisted: boolean): Shown {
    const which = withUnlisted ? 'all' : 'vouchedFor'
    this.lazy[which] ??= new Shown(this, withUnlisted)
    return this.lazy[which]
  }
}

/** Gives the newest catalogue; implemented by the keeper, and by tests that hold one fixed. */
export interface CatalogueSource {
  /** False while the read models are not whole. */
  readonly isServed: boolean
  /** @throws IncompleteError where it is not served */
  current(): Catalogue
}
