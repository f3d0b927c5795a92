import type pg from 'pg'
import { stand } from '../stand.ts'

/** The webhook of the endpoints' examples, of the oldest key: one of them deletes it, and one gives it another secret. Nobody listens where it leads. */
export const standWebhook = (pool: pg.Pool) =>
  pool.query(
    `WITH gone AS (DELETE FROM webhook_old_secret WHERE webhook_id = $1)
     INSERT INTO webhook (id, api_key_id, url, secret, filter, mode)
     SELECT $1, min(id), 'http://127.0.0.1:1/', 'whsec_AAAA', '{}', 'instant' FROM api_key ON CONFLICT DO NOTHING`,
    [stand['{webhook}']],
  )
