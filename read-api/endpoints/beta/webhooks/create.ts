import { type StoredFilter, WebhookLimitError } from '../../../../db/webhooks/book.ts'
import { readTarget } from '../../../../db/webhooks/targets.ts'
import { positionsOf, readCursor } from '../../../feed/cursor.ts'
import { filterOf } from '../../../feed/filter.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { InvalidRequestError, RefusedError } from '../../../http/errors.ts'
import { createBody, MadeWebhookShape } from '../../../webhooks/schemas.ts'
import { findWebhook, ownerOf, showWebhook } from '../../../webhooks/webhooks.ts'

export default defineEndpoint({
  tier: 'beta',
  method: 'post',
  path: '/webhooks',
  summary: 'Makes a webhook: messages of the feed, sent to a URL',
  description:
    'The messages are those of /beta/feed (FeedMessage), one in a request, signed as Standard Webhooks 1.0 has it: webhook-id, webhook-timestamp, webhook-signature. webhook-id is the same whenever a message is sent again. At least once; those of a chain in order, the next one after a 2xx for the one before, which has to come within 10 seconds. Anything else is tried again after 5 seconds, and after twice as long each time, up to an hour (give or take a tenth; Retry-After is heeded). 410 disables it, as five days without a 2xx do. Redirects are not followed. Retractions are sent whatever is filtered, but for `networks`.',
  payable: false,
  body: createBody,
  response: MadeWebhookShape,
  example: { body: { url: 'https://example.com/vaultlog', networks: ['mainnet'], types: ['Deposited'] } },
  cost: 1,
  costInWords:
    'Costs 1 credit; what it delivers costs 1 for each 100 messages and 1 for each 20,000 events that it looked at. Without credits it waits. Looking at rules costs nothing; how many a key may have is bounded.',
  cache: 'none',
  async handler({ body: { url, mode, after, rules, ...filter } }, { deps: { webhooks, feed }, key }) {
    const owner = ownerOf(key)
    const target = readTarget(url, webhooks)
    if (typeof target === 'string') throw new InvalidRequestError(`The body field "url" ${target}.`)
    const { follows } = filterOf(filter)
    const chains = await feed.look()
    const followed = [...chains.keys()].filter(follows)
    const cursor = after
      ? positionsOf(await readCursor(after, { feed, chains, follows }))
      : new Map(followed.map(chainId => [chainId, feed.reach(chainId, mode, chains)]))
    const asked = { keyId: owner.id, url: target.href, filter: filter as StoredFilter, mode, cursor, rules }
    const made = await webhooks.book.create(asked, webhooks.limits).catch(error => {
      throw error instanceof WebhookLimitError ? new RefusedError(error.message) : error
    })
    const hook = await findWebhook(webhooks, made.id, owner)
    return { ...(await showWebhook(webhooks, hook, feed)), secret: made.secret }
  },
})
