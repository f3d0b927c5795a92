import { defineLendingFamily } from '../../lending/family.ts'
import { defineApiProtocol } from '../../protocol.ts'
import { compoundV3 as borrow } from './borrow.ts'
import { compoundV3 as vaults } from './deposit.ts'
import { errors } from './errors.ts'
import { cometPoints } from './history.ts'
import { cometMarkets, cometPositions } from './lending.ts'
import type { CometLendingMarket } from './market.ts'
import { compoundRewards as rewards } from './rewards.ts'
import { cometStakes } from './stakes.ts'

const lending = defineLendingFamily<CometLendingMarket>({
  markets: cometMarkets,
  positions: cometPositions,
  history: cometPoints,
  stakes: cometStakes,
})

export default defineApiProtocol({ lending, vaults, borrow, errors, rewards })
