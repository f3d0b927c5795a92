import { keyOf } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import { detailedOf, identityOf } from '../catalogue/wire.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import type { z } from '../http/zod.ts'
import { readAllocations } from './allocations.ts'
import type { analyticsBody } from './analytics-schemas.ts'
import { composition, utilizationRate } from './composition.ts'
import { maxDrawdowns } from './max-drawdown.ts'
import { withdrawalPauseRatios } from './pause-ratio.ts'

/** The selected sections of each vault, in the order given: what one kind needs is read for all vaults at once. */
export async function analyticsOf(
  vaults: readonly Vault[],
  { select = {} }: z.output<typeof analyticsBody>,
  context: EndpointContext,
) {
  const [falls, ratios, allocations] = await Promise.all([
    select.maxDrawdown ? maxDrawdowns(vaults, context) : undefined,
    select.withdrawalPauseRatio ? withdrawalPauseRatios(vaults, context) : undefined,
    select.composition || select.utilizationRate ? readAllocations(vaults, context) : undefined,
  ])
  return vaults.map(vault => {
    const key = keyOf(vault.state.chainId, vault.state.address)
    const found = allocations?.get(key)
    return {
      vaultId: identityOf(vault).vaultId,
      network: vault.network.name,
      ...(falls ? { maxDrawdown: falls.get(key) } : {}),
      ...(select.detailedVault ? { detailedVault: detailedOf(vault) } : {}),
      ...(ratios ? { withdrawalPauseRatio: ratios.get(key) } : {}),
      ...(select.composition && found ? { composition: composition(vault, found) } : {}),
      ...(select.utilizationRate
        ? { utilizationRate: { value: found ? utilizationRate(vault, found) : null } }
        : {}),
    }
  })
}

export const ANALYTICS_NOTE =
  'Only the sections selected are in the answer. withdrawalPauseRatio is null for a vault that never emitted Paused or Unpaused, and where its history is not stored from the beginning of the window. Composition: shares of other vaults, supplies to Morpho Blue and Aave v3, what an Euler vault has lent out, and idle assets apart, as fractions of the total assets at the block of x-as-of-block (of the last sample where the chain does not answer); what cannot be told is left out. utilizationRate is null for vaults that do not lend, and where part of the assets cannot be told.'
