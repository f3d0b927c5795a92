import { z } from 'zod'
import { address } from '../../../db/events/shapes.ts'
import table from '../../../db/registry/contracts/aave-v3.json' with { type: 'json' }
import { byNetwork } from '../../knowledge/address-tables.ts'

const market = z.object({
  name: z.string(),
  addressesProvider: address,
  pool: address,
  configurator: address,
  oracle: address,
  aclManager: address,
  stataFactory: address.optional(),
  rewardsController: address.optional(),
  reserves: z.array(
    z.object({ symbol: z.string(), asset: address, aToken: address, variableDebtToken: address }),
  ),
})

export type AaveMarket = z.infer<typeof market>

/** The Aave v3 deployments known today, by network; reserves listed later are learned from ReserveInitialized. */
export const aaveMarkets = byNetwork(
  z.object({ source: z.string(), networks: z.record(z.string(), z.array(market)) }).parse(table).networks,
)
