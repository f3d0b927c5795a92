import type pg from 'pg'
import { stand } from '../stand.ts'

/** The webhook of the endpoints' examples, of the oldest key: one of them deletes it. Nobody listens where it leads. */
export const standWebhook = (pool: pg.Pool) =>
  pool.query(
    `INSERT INTO webhook (id, api_key_id, url, secret, filter, mode)
     SELECT $1, min(id), 'http://127.0.0.1:1/', 'whsec_AAAA', '{}', 'instant' FROM api_key ON CONFLICT DO NOTHING`,
    [stand['{webhook}']],
  )
