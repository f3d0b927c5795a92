import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import type { Kept } from './provider.ts'

export interface KeptQuote extends Kept {
  id: string
  provider: string
  /** Lower case. */
  user: string
  /** Where what is signed is to be valid. */
  network: string
  digest: string
  isExpired: boolean
  state: 'quoted' | 'executing' | 'executed'
  /** Whoever executes it is still within its time. */
  isTaken: boolean
  executedAs: string | null
}

export interface NewQuote extends Kept {
  keyId: number
  provider: string
  user: string
  network: string
  digest: string
  /** Unix seconds. */
  expiresAt: number
}

/** Longer than a call to a provider and what is written after it. */
const TAKEN_SECONDS = 20
/** Quotes that a signature without an identifier may be of. */
export const MOST_CANDIDATES = 200

const COLUMNS = `id, provider, user_address AS "user", network, digest, offer, expires_at < now() AS "isExpired", state,
  coalesce(taken_until > now(), false) AS "isTaken", executed_as AS "executedAs"`

type Row = Omit<KeptQuote, keyof Kept> & { offer: Kept }

const quoteOf = ({ offer, ...rest }: Row): KeptQuote => ({ ...rest, ...offer })

/**
 * Quotes that callers were given, for all processes on one database. A quote is executed by whoever takes it; what became of
 * one that was taken and not settled is not known.
 */
export function createQuoteBook(pool: pg.Pool) {
  const find = async (keyId: number, id: string): Promise<KeptQuote | undefined> => {
    const { rows } = await pool.query<Row>(
      `SELECT ${COLUMNS} FROM intent_quote WHERE id = $1 AND api_key_id = $2`,
      [id, keyId],
    )
    return rows[0] && quoteOf(rows[0])
  }

  return {
    find,

    /** Gives the identifier: 128 random bits. */
    async keep({ keyId, provider, user, network, digest, expiresAt, ...offer }: NewQuote): Promise<string> {
      const id = randomBytes(16).toString('base64url')
      await pool.query(
        `WITH over AS (
           DELETE FROM intent_quote WHERE id IN
             (SELECT id FROM intent_quote WHERE expires_at < now() - CASE state WHEN 'quoted' THEN interval '1 day' ELSE interval '90 days' END
              LIMIT 20 FOR UPDATE SKIP LOCKED))
         INSERT INTO intent_quote (id, api_key_id, provider, user_address, network, digest, offer, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8))`,
        [id, keyId, provider, user, network, digest, JSON.stringify(offer), expiresAt],
      )
      return id
    },

    /** Those of a key that can be executed or have been a short time ago, the newest first; without what is kept of them. */
    async candidates(keyId: number, provider: string) {
      const { rows } = await pool.query<Pick<KeptQuote, 'id' | 'user' | 'digest'>>(
        `SELECT id, user_address AS "user", digest FROM intent_quote
         WHERE api_key_id = $1 AND provider = $2 AND expires_at > now() - CASE state WHEN 'quoted' THEN interval '0' ELSE interval '1 hour' END
         ORDER BY expires_at DESC LIMIT $3`,
        [keyId, provider, MOST_CANDIDATES + 1],
      )
      return rows
    },

    /** For one caller, among all processes: a quote that is still good, or whose taker ran out of time. */
    async take(id: string): Promise<KeptQuote | undefined> {
      const { rows } = await pool.query<Row>(
        `UPDATE intent_quote SET state = 'executing', taken_until = now() + make_interval(secs => $2)
         FROM (SELECT id AS taken, state AS before FROM intent_quote WHERE id = $1 FOR UPDATE) was
         WHERE id = taken AND (state = 'quoted' AND expires_at > now() OR state = 'executing' AND taken_until < now())
         RETURNING ${COLUMNS.replace(', state,', ', before AS state,')}`,
        [id, TAKEN_SECONDS],
      )
      return rows[0] && quoteOf(rows[0])
    },

    /** What was kept to execute it is not needed any more. */
    async settle(id: string, executedAs: string): Promise<void> {
      await pool.query(
        `UPDATE intent_quote SET state = 'executed', executed_as = $2, taken_until = NULL, offer = '{}' WHERE id = $1`,
        [id, executedAs],
      )
    },

    /** Of a call that certainly did nothing. */
    async giveBack(id: string): Promise<void> {
      await pool.query(
        `UPDATE intent_quote SET state = 'quoted', taken_until = NULL WHERE id = $1 AND state = 'executing'`,
        [id],
      )
    },

    /** Of a call that may have done something: the next taker finds out. */
    async leaveOpen(id: string): Promise<void> {
      await pool.query(`UPDATE intent_quote SET taken_until = now() WHERE id = $1 AND state = 'executing'`, [
        id,
      ])
    },
  }
}

export type QuoteBook = ReturnType<typeof createQuoteBook>
