import { z } from 'zod'
import { address } from '../../../db/events/shapes.ts'
import type { NetworkName } from '../../../db/networks.ts'
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

type AaveMarket = z.infer<typeof market>

/** The Aave v3 deployments known today, by network; reserves listed later are learned from ReserveInitialized. */
const aaveMarkets = byNetwork(
  z.object({ source: z.string(), networks: z.record(z.string(), z.array(market)) }).parse(table).networks,
)

/** One contract of every deployment, or one of every reserve of every deployment; each once. */
export function ofMarkets(
  pick: (market: AaveMarket) => string | string[],
): Partial<Record<NetworkName, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(aaveMarkets).map(([network, markets]) => [network, [...new Set(markets.flatMap(pick))]]),
  )
}
