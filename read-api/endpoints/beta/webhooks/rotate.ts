import { defineEndpoint } from '../../../http/endpoint.ts'
import { MadeWebhookShape, rotateBody, webhookParams } from '../../../webhooks/schemas.ts'
import { findWebhook, showWebhook } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'post',
  path: '/webhooks/{webhookId}/rotate',
  summary: 'Gives a webhook a new secret; the one before signs beside it for a while',
  description:
    'As Standard Webhooks has it: meanwhile webhook-signature is a list, separated by spaces, of a signature by each secret, the newest first, and whoever verifies by any of them takes the message. Four older ones sign at most. From within a second of the answer messages are signed so; one that is on its way then may come twice.',
  payable: false,
  params: webhookParams,
  body: rotateBody,
  response: MadeWebhookShape,
  example: { params: { webhookId: '{webhook}' }, body: { overlapHours: 24 } },
  cost: 1,
  cache: 'none',
  async handler({ params, body: { overlapHours } }, { deps: { webhooks, feed }, key }) {
    const { id } = await findWebhook(webhooks, params.webhookId, key)
    const secret = await webhooks.book.rotate(id, overlapHours)
    await feed.look()
    return { ...(await showWebhook(webhooks, await findWebhook(webhooks, id, key), feed)), secret }
  },
})
