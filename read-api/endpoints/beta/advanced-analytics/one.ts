import { findVault, unknownVault, vaultParams } from '../../../catalogue/find-vault.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { ANALYTICS_NOTE, analyticsOf } from '../../../vaults/analytics.ts'
import { AnalyticsItem, analyticsBody, itemCost, SECTION_COSTS } from '../../../vaults/analytics-schemas.ts'

export default defineEndpoint({
  tier: ['beta', 'alpha'],
  method: 'post',
  path: '/advanced-analytics/{network}/{vaultId}',
  summary: 'Chosen analytics of one vault',
  description: ANALYTICS_NOTE,
  params: vaultParams,
  body: analyticsBody,
  response: AnalyticsItem,
  example: {
    params: { network: '{network}', vaultId: '{vault}' },
    body: { select: { maxDrawdown: true } },
  },
  costInWords: `Costs the sum of what is selected, in credits: ${SECTION_COSTS}.`,
  cost: ({ request }) => itemCost(request),
  cache: 'moment',
  face: 'lending',
  async handler({ params, body }, context) {
    const { vault } = findVault(params, context)
    const [item] = await analyticsOf([vault], body, context)
    if (!item) throw unknownVault(context.catalogue, params)
    return item
  },
})
