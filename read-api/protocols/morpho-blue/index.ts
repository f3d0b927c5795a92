import { defineLendingFamily } from '../../lending/family.ts'
import { defineApiProtocol } from '../../protocol.ts'
import { morphoBlue as borrow } from './borrow.ts'
import { morphoPoints } from './history.ts'
import { morphoMarkets } from './lending.ts'
import type { MorphoLendingMarket } from './market.ts'
import { morphoPositions, morphoSupplies } from './positions.ts'
import { lent } from './queries.ts'
import { morphoStakes } from './stakes.ts'

const lending = defineLendingFamily<MorphoLendingMarket>({
  markets: morphoMarkets,
  positions: morphoPositions,
  history: morphoPoints,
  stakes: morphoStakes,
  vouching: ({ id, params }, { capped }) => ({ isListed: capped.has(id), oracle: params.oracle }),
  supplies: morphoSupplies,
  lent,
})

export default defineApiProtocol({ lending, borrow })
