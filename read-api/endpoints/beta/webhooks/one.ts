import { defineEndpoint } from '../../../http/endpoint.ts'
import { WebhookShape, webhookParams } from '../../../webhooks/schemas.ts'
import { findWebhook, showWebhook } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/webhooks/{webhookId}',
  summary: 'A webhook, and how it is doing',
  payable: false,
  params: webhookParams,
  response: WebhookShape,
  example: { params: { webhookId: '{webhook}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, { deps, key }) {
    const hook = await findWebhook(deps.webhooks, params.webhookId, key)
    await deps.feed.look()
    return showWebhook(deps.webhooks, hook, deps.feed)
  },
})
