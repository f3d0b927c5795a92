import type { Redis } from 'ioredis'
import type pg from 'pg'
import { UnavailableError } from '../process/errors.ts'
import { createBatcher } from './batch.ts'
import { createPostgresLedger } from './credits-postgres.ts'
import { createRedisLedger } from './credits-redis.ts'
import type { Account, Charge } from './ledger.ts'

export interface Receipt {
  /** False: it would not have fitted into the month, and nothing was booked. */
  isAccepted: boolean
  /** Credits left this month. */
  remaining: number
}

/** Counts credits of keys, across all processes that share the store. */
export interface CreditMeter {
  /** Books a request if it fits into what is left of the month. @throws UnavailableError */
  charge(account: Account, credits: number): Promise<Receipt>
  /** Credits left: as last heard, or as stored where nothing was heard yet or little is left. */
  remaining(account: Account): Promise<number>
  close(): Promise<void>
}

/**
 * Credits in Redis where there is one, else in Postgres. Each charge is decided by the store: not one too many is
 * accepted however many processes charge at once, and what was accepted is booked before the answer goes out.
 */
export function createCreditMeter(
  pool: pg.Pool,
  options: { redis?: Redis; namespace?: string; flushMs?: number; now?: () => Date } = {},
): CreditMeter {
  const ledger = options.redis ? createRedisLedger(options.redis, pool, options) : createPostgresLedger(pool)
  const now = options.now ?? (() => new Date())
  const heard = new Map<string, number>()

  const monthOf = () => `${now().toISOString().slice(0, 7)}-01`
  const remember = (month: string, id: number, used: number) => {
    if (heard.size > 50_000) heard.clear()
    heard.set(`${id} ${month}`, used)
  }
  const unavailable = (error: unknown) =>
    new UnavailableError('The store of credits does not answer.', { cause: error })

  const book = createBatcher(
    async (charges: readonly Charge[]): Promise<(Receipt | undefined)[]> => {
      const month = monthOf()
      const order = charges.map((_, i) => i).sort((a, b) => idOf(charges, a) - idOf(charges, b) || a - b)
      const booked = await ledger
        .book(
          month,
          order.flatMap(i => charges[i] ?? []),
        )
        .catch(error => {
          throw unavailable(error)
        })
      const receipts: (Receipt | undefined)[] = new Array(charges.length)
      for (const [place, i] of order.entries()) {
        const charge = charges[i]
        const outcome = booked[place]
        if (!charge || !outcome) continue
        remember(month, charge.account.id, outcome.used)
        receipts[i] = {
          isAccepted: outcome.isAccepted,
          remaining: Math.max(0, charge.account.creditsPerMonth - outcome.used),
        }
      }
      return receipts
    },
    { missing: () => new UnavailableError('The store of credits gave no answer.') },
  )

  return {
    charge: (account, credits) => book({ account, credits }),
    async remaining({ id, creditsPerMonth }) {
      const month = monthOf()
      const known = heard.get(`${id} ${month}`)
      // Near the end another process may have used the rest, or a plan may have grown: the store is asked.
      if (known !== undefined && creditsPerMonth - known > 1_000) return creditsPerMonth - known
      const used = await ledger.used(month, id).catch(error => {
        throw unavailable(error)
      })
      remember(month, id, used)
      return Math.max(0, creditsPerMonth - used)
    },
    close: () => ledger.close(),
  }
}

const idOf = (charges: readonly Charge[], at: number) => charges[at]?.account.id ?? 0
