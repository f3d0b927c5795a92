import type pg from 'pg'
import type { ApiKey } from '../../db/keys/keys.ts'
import type { Env } from '../../db/process/env.ts'
import {
  createWebhookBook,
  type Webhook,
  type WebhookBook,
  type WebhookLimits,
} from '../../db/webhooks/book.ts'
import { createPoster, type Poster } from '../../db/webhooks/post.ts'
import { createRuleBook, type RuleBook } from '../../db/webhooks/rules.ts'
import type { Feed } from '../feed/feed.ts'
import { MissingKeyError, NotFoundError } from '../http/errors.ts'
import type { z } from '../http/zod.ts'
import { type WebhookShape, webhookOf } from './schemas.ts'

/** What endpoints of webhooks stand on. */
export interface Webhooks {
  book: WebhookBook
  rules: RuleBook
  poster: Poster
  allowsPrivate: boolean
  /** That a key may have. */
  limits: WebhookLimits
}

export function createWebhooks(
  pool: pg.Pool,
  {
    WEBHOOKS_PER_KEY,
    ALERT_RULES_PER_KEY,
    WEBHOOK_PRIVATE_TARGETS,
  }: Pick<Env, 'WEBHOOKS_PER_KEY' | 'ALERT_RULES_PER_KEY' | 'WEBHOOK_PRIVATE_TARGETS'>,
): Webhooks {
  return {
    book: createWebhookBook(pool),
    rules: createRuleBook(pool),
    poster: createPoster({ allowsPrivate: WEBHOOK_PRIVATE_TARGETS }),
    allowsPrivate: WEBHOOK_PRIVATE_TARGETS,
    limits: { webhooks: WEBHOOKS_PER_KEY, rules: ALERT_RULES_PER_KEY },
  }
}

/** Whose webhooks are asked for. @throws MissingKeyError */
export function ownerOf(key: ApiKey | undefined): ApiKey {
  if (!key) throw new MissingKeyError('Webhooks are of an API key: send yours in the header x-api-key.')
  return key
}

/** One of the key's own. @throws NotFoundError */
export async function findWebhook({ book }: Webhooks, id: string, key: ApiKey | undefined): Promise<Webhook> {
  const hook = await book.find(id, ownerOf(key).id)
  if (!hook) throw new NotFoundError(`This key has no webhook ${id}.`)
  return hook
}

/** As its owner sees it, with its rules; how far behind it is, by where the feed last saw the chains. */
export async function showWebhook(
  { rules }: Webhooks,
  hook: Webhook,
  feed: Feed,
): Promise<z.input<typeof WebhookShape>> {
  return webhookOf(hook, feed, (await rules.of([hook.id])).get(hook.id))
}
