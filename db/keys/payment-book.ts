import type pg from 'pg'

/** An answer that was paid for and did not get to its caller. */
export interface KeptAnswer {
  text: string
  /** The receipt, as headers. */
  headers: Record<string, string>
}

/** An answer that is paid for waits so long for its caller to come back. */
const KEPT_SECONDS = 600

/**
 * Which payments have been used, across all processes on one database: each is good for one answer, however often and
 * wherever it is sent.
 */
export interface PaymentBook {
  /** Takes a payment for a request; false where it is taken already. It stays so for `seconds`. */
  take(id: string, seconds: number): Promise<boolean>
  /** Gives a payment back of which nothing was taken: it is as good as before. */
  release(id: string): Promise<void>
  /** Keeps the answer to a request that went away after it had paid. */
  keep(id: string, request: string, answer: KeptAnswer): Promise<void>
  /** Hands out, once, what was kept for the same payment and the same request. */
  collect(id: string, request: string): Promise<KeptAnswer | undefined>
}

export function createPaymentBook(pool: pg.Pool): PaymentBook {
  return {
    async take(id, seconds) {
      const { rowCount } = await pool.query(
        `WITH expired AS (
           DELETE FROM payment_taken WHERE id IN
             (SELECT id FROM payment_taken WHERE expires_at < now() AND id <> $1 LIMIT 10 FOR UPDATE SKIP LOCKED))
         INSERT INTO payment_taken (id, expires_at) VALUES ($1, now() + make_interval(secs => $2))
         ON CONFLICT (id) DO UPDATE
           SET expires_at = excluded.expires_at, request = NULL, answer = NULL, headers = NULL
           WHERE payment_taken.expires_at < now()
         RETURNING id`,
        [id, seconds],
      )
      return rowCount === 1
    },
    async release(id) {
      await pool.query('DELETE FROM payment_taken WHERE id = $1', [id])
    },
    async keep(id, request, { text, headers }) {
      await pool.query(
        `UPDATE payment_taken SET request = $2, answer = $3, headers = $4,
           expires_at = greatest(expires_at, now() + make_interval(secs => $5)) WHERE id = $1`,
        [id, request, text, headers, KEPT_SECONDS],
      )
    },
    async collect(id, request) {
      const { rows } = await pool.query<KeptAnswer>(
        `UPDATE payment_taken SET answer = NULL FROM
           (SELECT id, answer AS text, headers FROM payment_taken
            WHERE id = $1 AND request = $2 AND answer IS NOT NULL FOR UPDATE) kept
         WHERE payment_taken.id = kept.id RETURNING kept.text, kept.headers`,
        [id, request],
      )
      return rows[0]
    },
  }
}
