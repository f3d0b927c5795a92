import type { EvkVault } from '../../../abi/euler/math.ts'
import type { LendingMarket } from '../../lending/market.ts'

/** A vault with interest up to the moment. */
export interface EvkSide {
  readonly vault: string
  readonly state: EvkVault
}

/** What a vault takes as collateral. */
export interface EvkSecurity {
  readonly vault: string
  /** Undefined where the vault is not indexed. */
  readonly state: EvkVault | undefined
  readonly liquidationBps: number
  /** Of a base unit of its asset; undefined where none was recorded. */
  readonly oraclePrice: bigint | undefined
}

export interface EvkLendingMarket extends LendingMarket {
  readonly protocol: 'euler-v2'
  readonly lender: EvkSide & {
    /** Whom it asks for prices; undefined where that was not read yet. */
    readonly oracle: string | undefined
    readonly oraclePrice: bigint | undefined
    /** All of them, whichever pair this market is. */
    readonly securities: readonly EvkSecurity[]
  }
  readonly collateral: EvkSide
  /** By marketAssetId. */
  readonly vaults: Readonly<Record<string, string>>
}
