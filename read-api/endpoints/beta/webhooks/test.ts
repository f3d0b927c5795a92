import { sendTest } from '../../../../db/webhooks/test-message.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { webhookParams } from '../../../webhooks/schemas.ts'
import { findWebhook } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'post',
  path: '/webhooks/{webhookId}/test',
  summary: 'Sends a webhook a test message, once, and says what became of it',
  description:
    'Its kind is test and its type webhook.test; it is signed and sent as all messages are, and no position moves by it.',
  payable: false,
  params: webhookParams,
  response: z.strictObject({
    delivered: z.boolean().openapi({ description: 'It was answered with 2xx within 10 seconds.' }),
    status: z.int().optional().openapi({ description: 'Of the answer. Absent where there was none.' }),
    error: z.string().optional(),
  }),
  example: { params: { webhookId: '{webhook}' } },
  cost: 1,
  cache: 'none',
  async handler({ params }, { deps: { webhooks }, key }) {
    const { id, url } = await findWebhook(webhooks, params.webhookId, key)
    const receiver = { url, secrets: await webhooks.book.secretsOf(id) }
    const { status, error } = await sendTest(webhooks.poster, id, receiver)
    return { delivered: error === undefined, status, error }
  },
})
