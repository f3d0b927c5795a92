import type pg from 'pg'

/** As far as its rules are concerned. */
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
  /** Of the alert that stands open, and the positions (firedFrom, firedTo] of the events that fired it. */
  alertId: string | null
  firedFrom: number | null
  firedTo: number | null
  /** Position that it was seen at when it was last written down. */
  seenTo: number | null
}

/** What waits to be sent. */
export interface WaitingMessage {
  number: number
  id: string
  body: string
}

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

/** Alert rules of webhooks, and the messages that they have made. */
export function createRuleBook(pool: pg.Pool) {
  return {
    async of(webhookIds: readonly string[]): Promise<Map<string, RuleState[]>> {
      const { rows } = await pool.query<RuleState & { webhookId: string }>(
        `SELECT webhook_id AS "webhookId", number, rule, state, value, alert_id AS "alertId", fired_from AS "firedFrom", fired_to AS "firedTo",
           seen_to AS "seenTo"
         FROM webhook_rule WHERE webhook_id = ANY ($1) ORDER BY webhook_id, number`,
        [webhookIds],
      )
      const byHook = new Map<string, RuleState[]>()
      for (const { webhookId, ...rule } of rows)
        byHook.set(webhookId, [...(byHook.get(webhookId) ?? []), rule])
      return byHook
    },

    /** How a rule stands, and what is to be told of it: both or neither. False: the webhook is somebody else's by now, or gone. */
    async save(
      { id, generation }: OfWebhook,
      { number, state, value, alertId, firedFrom, firedTo, seenTo }: RuleState,
      messages: readonly { id: string; body: string }[],
    ): Promise<boolean> {
      const { rowCount } = await pool.query(
        `WITH mine AS (SELECT id FROM webhook WHERE id = $1 AND generation = $2 FOR UPDATE),
              told AS (INSERT INTO webhook_message (webhook_id, id, body)
                SELECT mine.id, m.id, m.body FROM mine, unnest($10::text[], $11::text[]) AS m (id, body))
         UPDATE webhook_rule r SET state = $4, value = $5, alert_id = $6, fired_from = $7, fired_to = $8, seen_to = $9
         FROM mine WHERE r.webhook_id = mine.id AND r.number = $3`,
        [
          id,
          generation,
          number,
          state,
          value,
          alertId,
          firedFrom,
          firedTo,
          seenTo,
          messages.map(message => message.id),
          messages.map(({ body }) => body),
        ],
      )
      return rowCount === 1
    },

    /** In the order in which they came about. */
    async waiting({ id }: Pick<OfWebhook, 'id'>): Promise<WaitingMessage[]> {
      const { rows } = await pool.query<WaitingMessage>(
        'SELECT number, id, body FROM webhook_message WHERE webhook_id = $1 ORDER BY number LIMIT 100',
        [id],
      )
      return rows
    },

    /** After a 2xx. False as above. */
    async sent({ id, generation }: OfWebhook, number: number): Promise<boolean> {
      const { rowCount } = await pool.query(
        `WITH mine AS (
           UPDATE webhook SET delivered = delivered + 1, delivered_at = clock_timestamp(), failures = 0, failing_since = NULL,
             retry_at = NULL, last_error = NULL
           WHERE id = $1 AND generation = $2 RETURNING id)
         DELETE FROM webhook_message m USING mine WHERE m.webhook_id = mine.id AND m.number = $3`,
        [id, generation, number],
      )
      return rowCount === 1
    },
  }
}

export type RuleBook = ReturnType<typeof createRuleBook>
