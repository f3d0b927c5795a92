import { behindOf, type Webhook } from '../../db/webhooks/book.ts'
import { MOST_WAITING, type RuleState, WAITING_DAYS } from '../../db/webhooks/rules.ts'
import { MOST_RULES, Rule, RuleShape, ruleOf } from '../alerts/schemas.ts'
import { nameOfChain } from '../feed/chains.ts'
import { formatCursor, START } from '../feed/cursor.ts'
import type { Feed } from '../feed/feed.ts'
import { type filterOf, filterParameters } from '../feed/filter.ts'
import { checksum } from '../http/amounts.ts'
import { text } from '../http/parameters.ts'
import { z } from '../http/zod.ts'

export type WebhookQuery = Parameters<typeof filterOf>[0]

const after = (description: string) =>
  z
    .string({ error: 'must be a text' })
    .min(1, { error: `must be a position, or ${START}` })
    .max(1_024, { error: 'must have 1024 characters at most' })
    .optional()
    .openapi({ maxLength: 1_024, description, example: '1.4711' })

export const createBody = z
  .strictObject({
    url: z
      .string({ error: 'must be a text' })
      .max(1_024, { error: 'must have 1024 characters at most' })
      .openapi({
        description: 'Where messages are sent: https, to an address of the public internet.',
        example: 'https://example.com/vaultlog',
      }),
    ...filterParameters,
    events: z
      .boolean({ error: 'must be true or false' })
      .optional()
      .transform(value => value ?? true)
      .openapi({ type: 'boolean', default: true, description: 'false: alerts of its rules alone.' }),
    rules: z
      .array(Rule, { error: 'must be a list of rules' })
      .max(MOST_RULES, { error: `must have ${MOST_RULES} rules at most` })
      .optional()
      .transform(rules => rules ?? [])
      .openapi({
        description:
          'Alert rules, held to the read models as they move, whatever `mode` says. Each fires once when what it watches crosses its threshold (a message of kind alert and type alert.fired), says so when it is back (alert.cleared), and takes it back where a block that fired it is taken back (alert.retracted).',
      }),
    after: after(
      `Where to begin: a position as the feed gives it, or ${START} for everything that is stored; a chain that it does not name is read from its beginning. Where absent it begins now.`,
    ),
  })
  .openapi('NewWebhook')

export const replayBody = z
  .strictObject({
    after: after(
      `Where to begin anew: a position as the feed gives it, or ${START}. Chains that it does not name go on where they stand; where absent, all do.`,
    ),
  })
  .openapi('WebhookReplay')

export const rotateBody = z
  .strictObject({
    overlapHours: z
      .int({ error: 'must be a whole number' })
      .min(0, { error: 'must be 0 at least' })
      .max(168, { error: 'must be 168 at most' })
      .optional()
      .transform(value => value ?? 24)
      .openapi({
        type: 'integer',
        minimum: 0,
        maximum: 168,
        default: 24,
        description:
          'For so long the secret of before signs as well. 0, as where it leaked: no secret but the new one signs from now on.',
      }),
  })
  .openapi('WebhookRotation')

export const webhookParams = z.object({
  webhookId: text({
    description: 'As it was given when it was made.',
    example: 'wh_AAAAAAAAAAAAAAAAAAAAAA',
  }).refine(id => id.length === 25 && /^wh_[\w-]{22}$/.test(id), {
    error: 'must be the id of a webhook: wh_ and 22 characters',
  }),
})

const seconds = (description: string) => z.int().openapi({ description: `Unix seconds. ${description}` })

const webhookFields = {
  id: z.string(),
  url: z.string(),
  networks: z.array(z.string()).optional(),
  vaults: z.array(z.string()).optional(),
  wallets: z.array(z.string()).optional(),
  types: z.array(z.string()).optional(),
  mode: z.enum(['instant', 'finalized']),
  events: z.boolean(),
  rules: z.array(RuleShape),
  state: z.enum(['active', 'failing', 'disabled']).openapi({
    description:
      'failing: the last attempt failed, and is made again at nextAttemptAt. disabled: nothing is sent until it is replayed; reason says why.',
  }),
  reason: z.string().optional(),
  createdAt: seconds('When it was made.'),
  after: z.string().openapi({
    description:
      'How far each chain is delivered, as the feed has positions; what passes no filter is written down now and then.',
  }),
  behind: z.int().openapi({
    description:
      'Events of its networks that are stored, final ones where mode is finalized, and were not looked at yet.',
  }),
  delivered: z.int().openapi({ description: 'Messages that were answered with 2xx.' }),
  lastDeliveredAt: seconds('Of the newest of them.').optional(),
  failures: z.int().openapi({ description: 'Attempts in a row that failed.' }),
  failingSince: seconds('The first of them.').optional(),
  nextAttemptAt: seconds('Nothing is sent before it.').optional(),
  lastError: z.string().optional(),
  alertsDropped: z.int().openapi({
    description: `Messages of its rules that were not delivered within ${WAITING_DAYS} days, or before ${MOST_WAITING.toLocaleString('en')} newer ones waited: they are never sent.`,
  }),
  oldSecretsUntil: seconds(
    'Secrets from before it was rotated sign beside the newest until then.',
  ).optional(),
}

export const WebhookShape = z.strictObject(webhookFields).openapi('Webhook')

export const MadeWebhookShape = z
  .strictObject({
    ...webhookFields,
    secret: z.string().openapi({
      description:
        'What messages are signed with, as libraries of Standard Webhooks take it. Shown this once; it cannot be asked for again, and rotate gives a new one.',
    }),
  })
  .openapi('MadeWebhook')

const secondsOf = (date: Date | null) => (date ? Math.floor(date.getTime() / 1000) : undefined)

/** A subscription, as its owner sees it. */
export function webhookOf(
  hook: Webhook,
  feed: Feed,
  rules: readonly RuleState[] = [],
): z.input<typeof WebhookShape> {
  const { networks, vaults, wallets, types } = hook.filter
  return {
    id: hook.id,
    url: hook.url,
    networks: networks?.map(nameOfChain),
    vaults: vaults?.map(({ hex }) => checksum(hex)),
    wallets: wallets?.map(({ hex }) => checksum(hex)),
    types: types?.map(({ type }) => type),
    mode: hook.mode,
    events: hook.filter.events ?? true,
    rules: rules.map(ruleOf),
    state: hook.disabled ? 'disabled' : hook.failures > 0 ? 'failing' : 'active',
    reason: hook.disabled ?? undefined,
    createdAt: secondsOf(hook.createdAt) ?? 0,
    after: formatCursor(new Map([...hook.cursor].map(([id, position]) => [id, { position, mark: '' }]))),
    behind: behindOf(hook, feed.ends(hook.mode)),
    delivered: hook.delivered,
    lastDeliveredAt: secondsOf(hook.deliveredAt),
    failures: hook.failures,
    failingSince: secondsOf(hook.failingSince),
    nextAttemptAt: hook.disabled ? undefined : secondsOf(hook.retryAt),
    lastError: hook.lastError ?? undefined,
    alertsDropped: hook.alertsDropped,
    oldSecretsUntil: secondsOf(hook.oldSecretsUntil),
  }
}
