import type { AaveIndexes } from '../../../abi/aave-v3/math.ts'
import type { LendingMarket } from '../../lending/market.ts'

export interface AaveReserve {
  readonly asset: string
  readonly aToken: string
  readonly debtToken: string
  readonly decimals: number
  readonly indexes: AaveIndexes
  /** Rounds in favour of the pool, as v3.5 and later do. */
  readonly isDirected: boolean
  /** Its settings hold outside of eModes alone, as those of v3.6 and later do. */
  readonly isDecoupled: boolean
  readonly income: bigint
  readonly debt: bigint
  readonly ltvBps: bigint
  readonly liquidationThresholdBps: bigint
  readonly eModeCategory: number
  /** In the oracle's base currency; undefined where the market's oracle has no recorded answer. */
  readonly oraclePrice: bigint | undefined
  readonly setting: (key: string, market?: string) => string | undefined
}

export interface AaveLendingMarket extends LendingMarket {
  readonly protocol: 'aave-v3'
  readonly reserves: readonly AaveReserve[]
}
