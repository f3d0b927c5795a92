import { setMaxListeners } from 'node:events'
import { allocationsOf, readBlockStates, type VaultBlockState } from './allocations.ts'
import { keyOf } from './catalogue/catalogue.ts'
import type { Vault } from './catalogue/vault.ts'
import { detailedOf, identityOf } from './catalogue/wire.ts'
import { composition, utilizationRate } from './composition.ts'
import type { EndpointContext } from './endpoint.ts'
import { pinVault } from './find-vault.ts'
import { maxDrawdowns } from './max-drawdown.ts'
import { withdrawalPauseRatio } from './pause-ratio.ts'
import type { analyticsBody } from './schemas/analytics.ts'
import type { z } from './schemas/zod.ts'

/** Vaults whose sections are read side by side. */
const AT_ONCE = 8

/** The selected sections of each vault, in the order given. */
export async function analyticsOf(
  vaults: readonly Vault[],
  { select = {} }: z.output<typeof analyticsBody>,
  context: EndpointContext,
) {
  // Every query of every vault listens for the end of this one request.
  setMaxListeners(0, context.signal)
  const falls = select.maxDrawdown ? await maxDrawdowns(vaults, context) : undefined
  const states =
    select.composition || select.utilizationRate
      ? await readBlockStates(vaults, context)
      : new Map<string, VaultBlockState>()
  const items: Awaited<ReturnType<typeof sectionsOf>>[] = []
  for (let i = 0; i < vaults.length; i += AT_ONCE) {
    items.push(
      ...(await Promise.all(
        vaults
          .slice(i, i + AT_ONCE)
          .map(vault =>
            sectionsOf(vault, select, states.get(keyOf(vault.state.chainId, vault.state.address)), context),
          ),
      )),
    )
  }
  return items.map((item, i) => {
    const vault = vaults[i]
    return falls && vault
      ? { ...item, maxDrawdown: falls.get(keyOf(vault.state.chainId, vault.state.address)) }
      : item
  })
}

async function sectionsOf(
  vault: Vault,
  select: NonNullable<z.output<typeof analyticsBody>['select']>,
  now: VaultBlockState | undefined,
  context: EndpointContext,
) {
  const found = pinVault(vault, context)
  const allocations =
    (select.composition || select.utilizationRate) && found
      ? await allocationsOf(found, now, context)
      : undefined
  return {
    vaultId: identityOf(vault).vaultId,
    network: vault.network.name,
    ...(select.detailedVault ? { detailedVault: detailedOf(vault) } : {}),
    ...(select.withdrawalPauseRatio && found
      ? { withdrawalPauseRatio: await withdrawalPauseRatio(found, context) }
      : {}),
    ...(select.composition && allocations ? { composition: composition(vault, allocations) } : {}),
    ...(select.utilizationRate
      ? { utilizationRate: { value: allocations ? utilizationRate(vault, allocations) : null } }
      : {}),
  }
}

export const ANALYTICS_NOTE =
  'Only the sections selected are in the answer. withdrawalPauseRatio is null for a vault that never emitted Paused or Unpaused. Composition: shares of other vaults, supplies to Morpho Blue and Aave v3, what an Euler vault has lent out, and idle assets apart, as fractions of the total assets at the block of x-as-of-block (of the last sample where the chain does not answer); what cannot be told is left out. utilizationRate is null for vaults that do not lend, and where part of the assets cannot be told.'
