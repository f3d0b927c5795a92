import type pg from 'pg'
import { inTransaction } from '../postgres.ts'

/** The part of a webhook that its rules need. */
interface OfWebhook {
  id: string
  generation: number
}

/** A rule as its owner gave it. What is in it beside its kind and network is its kind's affair. */
export interface StoredRule {
  kind: string
  network: string
  [parameter: string]: string
}

export interface RuleState {
  number: number
  rule: StoredRule
  state: 'unknown' | 'clear' | 'crossed'
  /** As it was last seen, a decimal. */
  value: string | null
  /** Of the alert that stands open. */
  alertId: string | null
  /** By chain the positions (from, to] of the events that fired it; chains that did not move then are not named. */
  fired: ReadonlyMap<number, readonly [from: number, to: number]> | null
  /** By chain the position that it was held to the read models as of when it was last written down. */
  seen: ReadonlyMap<number, number>
}

/** A rule as it stands now, and what is to be told of it. */
export interface RuleChange {
  after: RuleState
  messages: readonly { id: string; body: string }[]
}

/** What waits to be sent. */
export interface WaitingMessage {
  number: number
  id: string
  body: string
}

/** Messages of a webhook that wait at most: of more the oldest are dropped. */
export const MOST_WAITING = 1_000
/** Days after which a message that could not be sent is dropped. */
export const WAITING_DAYS = 7

/** Those that a webhook is made with. */
export async function addRules(
  tx: pg.PoolClient,
  webhookId: string,
  rules: readonly StoredRule[],
): Promise<void> {
  await tx.query(
    `INSERT INTO webhook_rule (webhook_id, number, rule)
     SELECT $1, number, rule FROM jsonb_array_elements($2) WITH ORDINALITY AS r (rule, number)`,
    [webhookId, JSON.stringify(rules)],
  )
}

type RuleRow = Omit<RuleState, 'fired' | 'seen'> & {
  webhookId: string
  fired: Record<string, [number, number]> | null
  seen: Record<string, number>
}

const byChain = <T>(stored: Record<string, T>): Map<number, T> =>
  new Map(Object.entries(stored).map(([chainId, of]) => [Number(chainId), of]))
const stored = <T>(map: ReadonlyMap<number, T>): string => JSON.stringify(Object.fromEntries(map))

/** Alert rules of webhooks, and the messages that they have made. `mostWaiting`: of a webhook. */
export function createRuleBook(pool: pg.Pool, { mostWaiting = MOST_WAITING } = {}) {
  return {
    async of(webhookIds: readonly string[]): Promise<Map<string, RuleState[]>> {
      const { rows } = await pool.query<RuleRow>(
        `SELECT webhook_id AS "webhookId", number, rule, state, value, alert_id AS "alertId", fired, seen
         FROM webhook_rule WHERE webhook_id = ANY ($1) ORDER BY webhook_id, number`,
        [webhookIds],
      )
      const byHook = new Map<string, RuleState[]>()
      for (const { webhookId, fired, seen, ...rule } of rows) {
        const state = { ...rule, fired: fired && byChain(fired), seen: byChain(seen) }
        byHook.set(webhookId, [...(byHook.get(webhookId) ?? []), state])
      }
      return byHook
    },

    /**
     * How rules stand, and what is to be told of them: all or nothing. Gives how many older messages were dropped for it;
     * undefined: the webhook is somebody else's by now, or gone.
     */
    async save({ id, generation }: OfWebhook, changes: readonly RuleChange[]): Promise<number | undefined> {
      const messages = changes.flatMap(change => change.messages)
      return inTransaction(pool, async tx => {
        const { rowCount } = await tx.query(
          `WITH mine AS (SELECT id FROM webhook WHERE id = $1 AND generation = $2 FOR UPDATE),
                told AS (INSERT INTO webhook_message (webhook_id, id, body)
                  SELECT mine.id, m.id, m.body FROM mine, unnest($9::text[], $10::text[]) AS m (id, body)),
                changed AS (UPDATE webhook_rule r
                  SET state = c.state, value = c.value, alert_id = c.alert_id, fired = c.fired, seen = c.seen
                  FROM mine, unnest($3::int[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::jsonb[])
                    AS c (number, state, value, alert_id, fired, seen)
                  WHERE r.webhook_id = mine.id AND r.number = c.number)
           SELECT FROM mine`,
          [
            id,
            generation,
            changes.map(({ after }) => after.number),
            changes.map(({ after }) => after.state),
            changes.map(({ after }) => after.value),
            changes.map(({ after }) => after.alertId),
            changes.map(({ after }) => after.fired && stored(after.fired)),
            changes.map(({ after }) => stored(after.seen)),
            messages.map(message => message.id),
            messages.map(({ body }) => body),
          ],
        )
        if (rowCount === 0) return undefined
        if (messages.length === 0) return 0
        const { rows } = await tx.query<{ count: number }>(
          `WITH gone AS (
             DELETE FROM webhook_message WHERE webhook_id = $1 AND number <= (
               SELECT number FROM webhook_message WHERE webhook_id = $1 ORDER BY number DESC OFFSET $2 LIMIT 1) RETURNING 1),
           counted AS (SELECT count(*)::int AS count FROM gone)
           UPDATE webhook SET alerts_dropped = alerts_dropped + count FROM counted WHERE id = $1 RETURNING count`,
          [id, mostWaiting],
        )
        return rows[0]?.count ?? 0
      })
    },

    /** Drops what has waited for too long, of whichever webhook, and gives how many those were. */
    async dropOld(days = WAITING_DAYS): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        `WITH gone AS (
           DELETE FROM webhook_message WHERE created_at < clock_timestamp() - make_interval(days => $1) RETURNING webhook_id),
         counted AS (
           UPDATE webhook w SET alerts_dropped = alerts_dropped + g.count
           FROM (SELECT webhook_id, count(*) FROM gone GROUP BY webhook_id) g WHERE w.id = g.webhook_id)
         SELECT count(*)::int AS count FROM gone`,
        [days],
      )
      return rows[0]?.count ?? 0
    },

    /** The oldest that waits: whoever sends it asks for the next one then, as they may be dropped meanwhile. */
    async nextWaiting({ id }: Pick<OfWebhook, 'id'>): Promise<WaitingMessage | undefined> {
      const { rows } = await pool.query<WaitingMessage>(
        'SELECT number, id, body FROM webhook_message WHERE webhook_id = $1 ORDER BY number LIMIT 1',
        [id],
      )
      return rows[0]
    },

    /** After a 2xx; it may have been dropped meanwhile. False: the webhook is somebody else's by now, or gone. */
    async sent({ id, generation }: OfWebhook, number: number): Promise<boolean> {
      const { rowCount } = await pool.query(
        `WITH mine AS (
           UPDATE webhook SET delivered = delivered + 1, delivered_at = clock_timestamp(), failures = 0, failing_since = NULL,
             retry_at = NULL, last_error = NULL
           WHERE id = $1 AND generation = $2 RETURNING id),
         told AS (DELETE FROM webhook_message m USING mine WHERE m.webhook_id = mine.id AND m.number = $3)
         SELECT FROM mine`,
        [id, generation, number],
      )
      return rowCount === 1
    },
  }
}

export type RuleBook = ReturnType<typeof createRuleBook>
