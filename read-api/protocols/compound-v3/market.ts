import type { CometHolding, CometTotals } from '../../../abi/compound-v3/math.ts'
import type { LendingMarket } from '../../lending/market.ts'

export interface CometCollateral extends Omit<CometHolding, 'balance' | 'price'> {
  readonly asset: string
  /** USD per whole unit scaled by 1e8; undefined where none was recorded, or none above zero. */
  readonly oraclePrice: bigint | undefined
}

export interface CometLendingMarket extends LendingMarket {
  readonly protocol: 'compound-v3'
  /** With interest up to the moment. */
  readonly totals: CometTotals
  readonly base: { asset: string; scale: bigint; oraclePrice: bigint | undefined }
  readonly collaterals: readonly CometCollateral[]
}
