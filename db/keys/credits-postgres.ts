import type pg from 'pg'
import type { CreditLedger } from './ledger.ts'

/** Credits in api_usage; charge_credits of the migrations decides and books under the lock of the key's row. */
export function createPostgresLedger(pool: pg.Pool): CreditLedger {
  return {
    async book(month, charges) {
      const { rows } = await pool.query<{ accepted: boolean; used: number }>({
        name: 'charge_credits',
        text: 'SELECT accepted, used FROM charge_credits($1, $2, $3, $4)',
        values: [
          month,
          charges.map(({ account }) => account.id),
          charges.map(({ credits }) => credits),
          charges.map(({ account }) => account.creditsPerMonth),
        ],
      })
      return rows.map(({ accepted, used }) => ({ isAccepted: accepted, used }))
    },
    used: async (month, keyId) => (await readUsage(pool, month, keyId)).credits,
    async close() {},
  }
}

export async function readUsage(
  pool: pg.Pool,
  month: string,
  keyId: number,
): Promise<{ credits: number; requests: number }> {
  const { rows } = await pool.query<{ credits: number; requests: number }>(
    'SELECT credits, requests FROM api_usage WHERE key_id = $1 AND month = $2',
    [keyId, month],
  )
  return rows[0] ?? { credits: 0, requests: 0 }
}
