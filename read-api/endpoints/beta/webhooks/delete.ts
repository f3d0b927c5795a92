import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { webhookParams } from '../../../webhooks/schemas.ts'
import { findWebhook, ownerOf } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'delete',
  path: '/webhooks/{webhookId}',
  summary: 'Deletes a webhook',
  description: 'A message that is on its way may still arrive; within a second nothing more is sent.',
  payable: false,
  params: webhookParams,
  response: z.strictObject({ id: z.string() }),
  example: { params: { webhookId: '{webhook}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, { deps, key }) {
    const { id } = await findWebhook(deps.webhooks, params.webhookId, key)
    await deps.webhooks.book.remove(id, ownerOf(key).id)
    return { id }
  },
})
