import { defineEndpoint } from '../../../http/endpoint.ts'
import { z } from '../../../http/zod.ts'
import { WebhookShape, webhookOf } from '../../../webhooks/schemas.ts'
import { ownerOf } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'get',
  path: '/webhooks',
  summary: 'Webhooks of the key, and how each is doing',
  payable: false,
  response: z.strictObject({ data: z.array(WebhookShape) }),
  example: {},
  cost: 1,
  cache: 'none',
  async handler(_, { deps, key }) {
    const { feed, webhooks } = deps
    const hooks = await webhooks.book.ofKey(ownerOf(key).id)
    const rules = await webhooks.rules.of(hooks.map(({ id }) => id))
    await feed.look()
    return { data: hooks.map(hook => webhookOf(hook, feed, rules.get(hook.id))) }
  },
})
