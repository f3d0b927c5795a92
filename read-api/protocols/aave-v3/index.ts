import { defineLendingFamily } from '../../lending/family.ts'
import { defineApiProtocol } from '../../protocol.ts'
import { aaveV3 as borrow } from './borrow.ts'
import { aaveV3 as vaults } from './deposit.ts'
import { errors } from './errors.ts'
import { aavePoints } from './history.ts'
import { aaveMarkets } from './lending.ts'
import type { AaveLendingMarket } from './market.ts'
import { aavePositions, aaveSupplies } from './positions.ts'
import { lent } from './queries.ts'
import { aaveRewards as rewards } from './rewards.ts'
import { aaveStakes } from './stakes.ts'

const lending = defineLendingFamily<AaveLendingMarket>({
  markets: aaveMarkets,
  positions: aavePositions,
  history: aavePoints,
  stakes: aaveStakes,
  supplies: aaveSupplies,
  lent,
})

export default defineApiProtocol({ lending, vaults, borrow, errors, rewards })
