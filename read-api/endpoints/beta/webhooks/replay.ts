import { positionsOf, readCursor } from '../../../feed/cursor.ts'
import { filterOf } from '../../../feed/filter.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { replayBody, type WebhookQuery, WebhookShape, webhookParams } from '../../../webhooks/schemas.ts'
import { findWebhook, showWebhook } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'post',
  path: '/webhooks/{webhookId}/replay',
  summary: 'Delivers a webhook anew from a position, one that was disabled too',
  description:
    'Messages are sent again in order, with the webhook-id that each had. Events are kept for good: any position will do, from the first of each chain on. Alerts are not sent again; how each rule stands is told with the webhook. Without `after` a webhook that was disabled or is failing goes on at once where it stands. A long past comes faster by pages of /beta/feed.',
  payable: false,
  params: webhookParams,
  body: replayBody,
  response: WebhookShape,
  example: { params: { webhookId: '{webhook}' }, body: { after: 'start' } },
  cost: 1,
  cache: 'none',
  async handler({ params, body: { after } }, { deps: { webhooks, feed }, key }) {
    const hook = await findWebhook(webhooks, params.webhookId, key)
    const { follows } = filterOf(hook.filter as WebhookQuery)
    const chains = await feed.look()
    const cursor = positionsOf(
      after === undefined ? new Map() : await readCursor(after, { feed, chains, follows }),
    )
    // The beginning of every chain is named by naming none.
    if (after !== undefined && cursor.size === 0)
      for (const chainId of hook.cursor.keys()) cursor.set(chainId, 0)
    await webhooks.book.replay(hook.id, cursor)
    return showWebhook(webhooks, await findWebhook(webhooks, hook.id, key), feed)
  },
})
