import type { MorphoMarket } from '../../../abi/morpho-blue/math.ts'
import type { LendingMarket } from '../../lending/market.ts'

export interface MorphoLendingMarket extends LendingMarket {
  readonly protocol: 'morpho-blue'
  /** With interest up to the moment. */
  readonly state: MorphoMarket
  /** As its oracle last answered; undefined where it has not. */
  readonly oraclePrice: bigint | undefined
  /** What the id is the hash of; the zero address: none. */
  readonly params: MorphoParams
}

export interface MorphoParams {
  readonly loanToken: string
  readonly collateralToken: string
  readonly oracle: string
  readonly irm: string
  readonly lltv: bigint
}
