import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { createBatcher } from '../keys/batch.ts'
import { inTransaction } from '../postgres.ts'
import { UnavailableError, VaultlogError } from '../process/errors.ts'
import type { Secret } from './post.ts'
import { addRules, type StoredRule } from './rules.ts'

export type Mode = 'instant' | 'finalized'

/** What messages are taken, as it was read of the request; nothing is left out by what is absent. */
export interface StoredFilter {
  networks?: number[]
  vaults?: { hex: string }[]
  wallets?: { hex: string }[]
  types?: { type: string }[]
  /** False: alerts alone. */
  events?: boolean
}

/** A subscription as it may be shown: everything but its secret. */
export interface Webhook {
  id: string
  number: number
  keyId: number
  url: string
  filter: StoredFilter
  mode: Mode
  generation: number
  /** Why nothing is delivered any more. */
  disabled: string | null
  /** Nothing is delivered of a key that was revoked. */
  isRevoked: boolean
  createdAt: Date
  /** Messages that were answered with 2xx. */
  delivered: number
  deliveredAt: Date | null
  /** Attempts in a row that failed. */
  failures: number
  failingSince: Date | null
  retryAt: Date | null
  lastError: string | null
  /** Messages of alert rules that waited too long, or were too many, and are never sent. */
  alertsDropped: number
  /** Until then secrets of before sign as well. */
  oldSecretsUntil: Date | null
  /** By chain, the position up to which all is delivered. */
  cursor: Map<number, number>
}

/** One whose messages somebody is about to send. */
export interface TakenWebhook extends Webhook {
  secrets: readonly Secret[]
  creditsPerMonth: number
}

const COLUMNS = `w.id, w.number, w.api_key_id AS "keyId", w.url, w.filter, w.mode, w.generation, w.disabled, w.created_at AS "createdAt",
  w.delivered, w.delivered_at AS "deliveredAt", w.failures, w.failing_since AS "failingSince", w.retry_at AS "retryAt",
  w.last_error AS "lastError", w.alerts_dropped AS "alertsDropped",
  (SELECT max(o.until) FROM webhook_old_secret o WHERE o.webhook_id = w.id AND o.until > clock_timestamp()) AS "oldSecretsUntil", EXISTS (SELECT FROM api_key k WHERE k.id = w.api_key_id AND k.revoked_at IS NOT NULL) AS "isRevoked",
  (SELECT coalesce(json_agg(json_build_array(c.chain_id, c.position) ORDER BY c.chain_id), '[]') FROM webhook_cursor c WHERE c.webhook_id = w.id) AS cursor`

/** The newest first. */
const SECRETS = `(SELECT json_agg(json_build_object('secret', s.secret, 'until', 1000 * extract(epoch FROM s.until)) ORDER BY s.until DESC NULLS FIRST)
  FROM (SELECT w.secret, NULL::timestamptz AS until UNION ALL
        SELECT o.secret, o.until FROM webhook_old_secret o WHERE o.webhook_id = w.id AND o.until > clock_timestamp()) s) AS secrets`

/** Replaced secrets that may sign at one time: a rotation whose answer was lost is made once more. */
const MOST_OLD_SECRETS = 4

const makeSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** What a key may have. */
export interface WebhookLimits {
  webhooks: number
  rules: number
}

export class WebhookLimitError extends VaultlogError {
  readonly code = 'WEBHOOK_LIMIT'
}

type Row<T> = Omit<T, 'cursor'> & { cursor: [chainId: number, position: number][] }

const read = <T extends Webhook>({ cursor, ...row }: Row<T>) =>
  ({ ...row, cursor: new Map(cursor) }) as unknown as T

const SET_CURSOR = `INSERT INTO webhook_cursor (webhook_id, chain_id, position) SELECT $1, * FROM unnest($2::int[], $3::bigint[])
  ON CONFLICT (webhook_id, chain_id) DO UPDATE SET position = excluded.position`
const cursorValues = (cursor: ReadonlyMap<number, number>) => [[...cursor.keys()], [...cursor.values()]]

/** Notes what was answered with 2xx: that of many webhooks at the same time is one commit. */
const createNoting = (pool: pg.Pool) =>
  createBatcher(
    async (items: readonly { id: string; generation: number; chainId: number; position: number }[]) => {
      const { rows } = await pool.query<{ id: string; generation: number }>({
        name: 'webhooks_delivered',
        text: `WITH asked AS (
                 SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::bigint[]) AS a (id, generation, chain_id, position)),
               mine AS (
                 UPDATE webhook w SET delivered = delivered + 1, delivered_at = clock_timestamp(), failures = 0, failing_since = NULL,
                   retry_at = NULL, last_error = NULL
                 FROM asked a WHERE w.id = a.id AND w.generation = a.generation
                 RETURNING a.id, a.generation, a.chain_id, a.position),
               moved AS (
                 INSERT INTO webhook_cursor (webhook_id, chain_id, position) SELECT id, chain_id, position FROM mine
                 ON CONFLICT (webhook_id, chain_id) DO UPDATE SET position = excluded.position)
               SELECT id, generation FROM mine`,
        values: [
          items.map(({ id }) => id),
          items.map(({ generation }) => generation),
          items.map(({ chainId }) => chainId),
          items.map(({ position }) => position),
        ],
      })
      const mine = new Set(rows.map(({ id, generation }) => `${id} ${generation}`))
      return items.map(({ id, generation }) => mine.has(`${id} ${generation}`))
    },
    { missing: () => new UnavailableError('The store of webhooks gave no answer.') },
  )

/** What owners of webhooks and operators do with them. */
function ofOwners(pool: pg.Pool) {
  const select = async (where: string, values: unknown[]): Promise<Webhook[]> => {
    const { rows } = await pool.query<Row<Webhook>>(
      `SELECT ${COLUMNS} FROM webhook w WHERE ${where} ORDER BY w.number`,
      values,
    )
    return rows.map(row => read(row))
  }

  return {
    /** Gives the secret as well, which is shown this once. @throws WebhookLimitError */
    async create(
      {
        keyId,
        url,
        filter,
        mode,
        cursor,
        rules = [],
      }: Pick<Webhook, 'keyId' | 'url' | 'filter' | 'mode' | 'cursor'> & { rules?: readonly StoredRule[] },
      limits: WebhookLimits,
    ): Promise<{ id: string; secret: string }> {
      const id = `wh_${randomBytes(16).toString('base64url')}`
      const secret = makeSecret()
      return inTransaction(pool, async tx => {
        await tx.query(`SELECT pg_advisory_xact_lock(hashtext('vaultlog webhooks of key'), $1)`, [keyId])
        const { rows } = await tx.query<WebhookLimits>(
          `SELECT count(DISTINCT w.id)::int AS webhooks, count(r)::int AS rules
           FROM webhook w LEFT JOIN webhook_rule r ON r.webhook_id = w.id WHERE w.api_key_id = $1`,
          [keyId],
        )
        const { webhooks: hasHooks = 0, rules: hasRules = 0 } = rows[0] ?? {}
        if (hasHooks >= limits.webhooks)
          throw new WebhookLimitError(
            `This key has ${hasHooks} webhooks, and may not have more. Delete one, or follow more networks, vaults and wallets in one.`,
          )
        if (rules.length > 0 && hasRules + rules.length > limits.rules)
          throw new WebhookLimitError(
            `This key has ${hasRules} alert rules of the ${limits.rules} that it may have in all its webhooks. Leave some of these ${rules.length} out, or delete a webhook that has others.`,
          )
        await tx.query(
          'INSERT INTO webhook (id, api_key_id, url, secret, filter, mode) VALUES ($1, $2, $3, $4, $5, $6)',
          [id, keyId, url, secret, JSON.stringify(filter), mode],
        )
        await tx.query(SET_CURSOR, [id, ...cursorValues(cursor)])
        await addRules(tx, id, rules)
        return { id, secret }
      })
    },

    /** Oldest first. */
    ofKey: (keyId: number) => select('w.api_key_id = $1', [keyId]),
    all: () => select('true', []),

    async find(id: string, keyId: number | undefined): Promise<Webhook | undefined> {
      return (await select('w.id = $1 AND ($2::bigint IS NULL OR w.api_key_id = $2)', [id, keyId]))[0]
    },

    async secretsOf(id: string): Promise<readonly Secret[]> {
      const { rows } = await pool.query<{ secrets: Secret[] }>(
        `SELECT ${SECRETS} FROM webhook w WHERE w.id = $1`,
        [id],
      )
      return rows[0]?.secrets ?? []
    },

    /**
     * Signs by a new secret from now on, and gives it; by the one before as well for so many hours. For none: by no older one at
     * all. Whoever delivers takes it anew.
     */
    async rotate(id: string, hours: number): Promise<string> {
      const secret = makeSecret()
      await inTransaction(pool, async tx => {
        const { rows } = await tx.query<{ secret: string }>(
          'UPDATE webhook SET generation = generation + 1 WHERE id = $1 RETURNING secret',
          [id],
        )
        if (hours > 0)
          await tx.query(
            `INSERT INTO webhook_old_secret SELECT $1, $2, clock_timestamp() + make_interval(hours => $3)`,
            [id, rows[0]?.secret, hours],
          )
        await tx.query(
          `DELETE FROM webhook_old_secret WHERE webhook_id = $1 AND secret NOT IN (
             SELECT secret FROM webhook_old_secret WHERE webhook_id = $1 AND until > clock_timestamp() ORDER BY until DESC LIMIT $2)`,
          [id, hours > 0 ? MOST_OLD_SECRETS : 0],
        )
        await tx.query('UPDATE webhook SET secret = $2 WHERE id = $1', [id, secret])
      })
      return secret
    },

    async remove(id: string, keyId: number): Promise<void> {
      await pool.query('DELETE FROM webhook WHERE id = $1 AND api_key_id = $2', [id, keyId])
    },

    /** Begins anew from these positions, other chains where they stand; one that was disabled delivers again. */
    async replay(id: string, cursor: ReadonlyMap<number, number>): Promise<void> {
      await inTransaction(pool, async tx => {
        // First, so that whoever delivers by the generation before moves nothing after this.
        await tx.query(
          `UPDATE webhook SET generation = generation + 1, disabled = NULL, failures = 0, failing_since = NULL, retry_at = NULL,
             last_error = NULL
           WHERE id = $1`,
          [id],
        )
        await tx.query(SET_CURSOR, [id, ...cursorValues(cursor)])
      })
    },
  }
}

/** What whoever delivers does with them. */
function ofDeliverers(pool: pg.Pool) {
  const noteDelivered = createNoting(pool)

  return {
    /** Those that have something to deliver, of keys that still are. */
    async active(): Promise<Pick<Webhook, 'id' | 'number' | 'generation'>[]> {
      const { rows } = await pool.query({
        name: 'active_webhooks',
        text: `SELECT w.id, w.number, w.generation FROM webhook w JOIN api_key k ON k.id = w.api_key_id
               WHERE w.disabled IS NULL AND k.revoked_at IS NULL`,
      })
      return rows
    },

    /** Makes the caller the one who moves its cursor. */
    async take(id: string): Promise<TakenWebhook | undefined> {
      return inTransaction(pool, async tx => {
        await tx.query('UPDATE webhook SET generation = generation + 1 WHERE id = $1 AND disabled IS NULL', [
          id,
        ])
        // A statement of its own: it sees what a replay stored while the one before waited for it.
        const { rows } = await tx.query<Row<TakenWebhook>>(
          `SELECT ${COLUMNS}, ${SECRETS}, p.credits_per_month AS "creditsPerMonth"
           FROM webhook w JOIN api_key k ON k.id = w.api_key_id JOIN api_plan p ON p.name = k.plan
           WHERE w.id = $1 AND w.disabled IS NULL`,
          [id],
        )
        return rows[0] && read(rows[0])
      })
    },

    /** After a 2xx. False: it is somebody else's by now, or gone. */
    delivered: ({ id, generation }: Webhook, chainId: number, position: number) =>
      noteDelivered({ id, generation, chainId, position }),

    /** What was looked at and is none of its messages. False as above. */
    passed: async ({ id, generation }: Webhook, cursor: ReadonlyMap<number, number>) => {
      const { rows } = await pool.query(
        `WITH mine AS (SELECT id FROM webhook WHERE id = $1 AND generation = $4 FOR UPDATE),
              moved AS (INSERT INTO webhook_cursor (webhook_id, chain_id, position)
                SELECT id, chain, position FROM mine, unnest($2::int[], $3::bigint[]) AS c (chain, position)
                ON CONFLICT (webhook_id, chain_id) DO UPDATE SET position = excluded.position)
         SELECT FROM mine`,
        [id, ...cursorValues(cursor), generation],
      )
      return rows.length === 1
    },

    /** Nothing is sent before `retryAt`; with `disabled` never again until it is replayed. False as above. */
    failed: async (
      { id, generation }: Webhook,
      next: Pick<Webhook, 'failures' | 'failingSince' | 'retryAt' | 'lastError' | 'disabled'>,
    ) => {
      const { rowCount } = await pool.query(
        `UPDATE webhook SET failures = $3, failing_since = $4, retry_at = $5, last_error = $6, disabled = $7
         WHERE id = $1 AND generation = $2`,
        [id, generation, next.failures, next.failingSince, next.retryAt, next.lastError, next.disabled],
      )
      return rowCount === 1
    },
  }
}

/** Subscriptions of all processes on one database. */
export const createWebhookBook = (pool: pg.Pool) => ({ ...ofOwners(pool), ...ofDeliverers(pool) })

/** Events that a webhook has not come to yet, of chains that end at these positions. */
export function behindOf(
  { filter: { networks, events = true }, cursor }: Webhook,
  ends: Iterable<readonly [chainId: number, position: number]>,
): number {
  if (!events) return 0
  let behind = 0
  for (const [chainId, end] of ends)
    if (networks?.includes(chainId) ?? true) behind += Math.max(0, end - (cursor.get(chainId) ?? 0))
  return behind
}

export type WebhookBook = ReturnType<typeof createWebhookBook>
