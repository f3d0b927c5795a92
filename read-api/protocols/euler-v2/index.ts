import { defineLendingFamily } from '../../lending/family.ts'
import { defineApiProtocol } from '../../protocol.ts'
import { eulerEvk as borrow } from './borrow.ts'
import { eulerEvk as vaults } from './deposit.ts'
import { errors } from './errors.ts'
import { readEvkEvents } from './events.ts'
import { evkPoints } from './history.ts'
import { evkMarkets } from './lending.ts'
import type { EvkLendingMarket } from './market.ts'
import { evkPositions, evkSubPositions, securedPairs } from './positions.ts'
import { evkStakes } from './stakes.ts'

const lending = defineLendingFamily<EvkLendingMarket>({
  markets: evkMarkets,
  positions: evkPositions,
  positionsOfSubAccounts: evkSubPositions,
  distinct: securedPairs,
  history: evkPoints,
  stakes: evkStakes,
  events: readEvkEvents,
  vouching: ({ root, lender }, { vaults }) => ({ isListed: vaults.has(root), oracle: lender.oracle }),
})

export default defineApiProtocol({ lending, vaults, borrow, errors })
