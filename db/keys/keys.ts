import { createHash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { UnavailableError, VaultlogError } from '../process/errors.ts'
import { createBatcher } from './batch.ts'

/** A key as it may be shown: everything but the key itself. */
export interface ApiKey {
  id: number
  /** Public: marks calldata prepared for this key. */
  code: string
  name: string
  plan: string
  creditsPerMonth: number
  requestsPerMinute: number
  /** May see the operator's pages as well. */
  isAdmin: boolean
  createdAt: Date
  revokedAt: Date | null
}

export class UnknownPlanError extends VaultlogError {
  readonly code = 'UNKNOWN_PLAN'
  constructor(plan: string, known: string[]) {
    super(`There is no plan "${plan}". Plans: ${known.join(', ')}.`)
  }
}

class NamelessKeyError extends VaultlogError {
  readonly code = 'NAMELESS_KEY'
  constructor() {
    super('A key needs a name, by which `vaultlog keys list` tells it from others.')
  }
}

export class UnknownKeyError extends VaultlogError {
  readonly code = 'UNKNOWN_KEY'
  constructor(code: string) {
    super(`There is no key with the code "${code}" that is not revoked. \`vaultlog keys list\` shows them.`)
  }
}

const COLUMNS = `k.id, k.code, k.name, k.plan, p.credits_per_month AS "creditsPerMonth",
  p.requests_per_minute AS "requestsPerMinute", k.admin AS "isAdmin", k.created_at AS "createdAt", k.revoked_at AS "revokedAt"`

/** Makes a key. The text of the key is in the result and nowhere else: it cannot be shown again. */
export async function createKey(
  pool: pg.Pool,
  options: { name: string; plan?: string; admin?: boolean },
): Promise<ApiKey & { key: string }> {
  if (options.name.trim() === '') throw new NamelessKeyError()
  const plan = options.plan ?? 'standard'
  await requirePlan(pool, plan)
  const key = `vl_${randomBytes(32).toString('base64url')}`
  const { rows } = await pool.query<ApiKey>(
    `WITH k AS (INSERT INTO api_key (code, name, hash, plan, admin) VALUES ($1, $2, $3, $4, $5) RETURNING *)
     SELECT ${COLUMNS} FROM k JOIN api_plan p ON p.name = k.plan`,
    [randomBytes(4).toString('hex'), options.name, digestOf(key).digest(), plan, options.admin ?? false],
  )
  const [row] = rows
  if (!row) throw new UnknownPlanError(plan, [])
  return { ...row, key }
}

export async function listPlans(
  pool: pg.Pool,
): Promise<{ name: string; creditsPerMonth: number; requestsPerMinute: number }[]> {
  const { rows } = await pool.query(
    `SELECT name, credits_per_month AS "creditsPerMonth", requests_per_minute AS "requestsPerMinute" FROM api_plan ORDER BY credits_per_month`,
  )
  return rows
}

/** All keys, oldest first, with the credits used in the current calendar month (UTC). */
export async function listKeys(pool: pg.Pool): Promise<(ApiKey & { creditsUsed: number })[]> {
  const { rows } = await pool.query<ApiKey & { creditsUsed: number }>(
    `SELECT ${COLUMNS}, coalesce(u.credits, 0) AS "creditsUsed"
     FROM api_key k JOIN api_plan p ON p.name = k.plan
     LEFT JOIN api_usage u ON u.key_id = k.id AND u.month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
     ORDER BY k.id`,
  )
  return rows
}

/** Puts a key on another plan: the limits hold within `KEY_CACHE_MS`, what was used this month stays used. */
export async function setKeyPlan(pool: pg.Pool, code: string, plan: string): Promise<ApiKey> {
  await requirePlan(pool, plan)
  const { rows } = await pool.query<ApiKey>(
    `WITH k AS (UPDATE api_key SET plan = $2 WHERE code = $1 AND revoked_at IS NULL RETURNING *)
     SELECT ${COLUMNS} FROM k JOIN api_plan p ON p.name = k.plan`,
    [code, plan],
  )
  const [row] = rows
  if (!row) throw new UnknownKeyError(code)
  return row
}

/** Makes a plan or changes its limits, for all keys on it. */
export async function definePlan(
  pool: pg.Pool,
  plan: { name: string; creditsPerMonth: number; requestsPerMinute: number },
): Promise<void> {
  await pool.query(
    `INSERT INTO api_plan (name, credits_per_month, requests_per_minute) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE
     SET credits_per_month = excluded.credits_per_month, requests_per_minute = excluded.requests_per_minute`,
    [plan.name, plan.creditsPerMonth, plan.requestsPerMinute],
  )
}

async function requirePlan(pool: pg.Pool, plan: string): Promise<void> {
  const known = (await listPlans(pool)).map(({ name }) => name)
  if (!known.includes(plan)) throw new UnknownPlanError(plan, known)
}

/** Revokes the key with this public code. Processes that have seen it stop taking it within `KEY_CACHE_MS`. */
export async function revokeKey(pool: pg.Pool, code: string): Promise<ApiKey> {
  const { rows } = await pool.query<ApiKey>(
    `WITH k AS (UPDATE api_key SET revoked_at = clock_timestamp() WHERE code = $1 AND revoked_at IS NULL RETURNING *)
     SELECT ${COLUMNS} FROM k JOIN api_plan p ON p.name = k.plan`,
    [code],
  )
  const [row] = rows
  if (!row) throw new UnknownKeyError(code)
  return row
}

/** How long a process goes on taking a key without asking the database again. */
export const KEY_CACHE_MS = 5_000

/** What `createKey` makes; nothing else is looked up. */
const KEY = /^vl_[\w-]{43}$/

/** A key that was not there is not asked for again at once; a new one is hardly sent before it is made. */
const REFUSAL_CACHE_MS = 1_000

/**
 * Looks keys up, remembering those there are for a few seconds. All that come together are one question, and one question
 * is asked at a time: however many keys are invented, they do not fill the connections that counting requests needs.
 */
export function createKeyVerifier(pool: pg.Pool): (key: string) => Promise<ApiKey | undefined> {
  const known = new LRUCache<string, ApiKey>({ max: 10_000, ttl: KEY_CACHE_MS })
  const refused = new LRUCache<string, true>({ max: 10_000, ttl: REFUSAL_CACHE_MS })
  const lookUp = createBatcher(
    async (ids: readonly string[]) => {
      const { rows } = await pool.query<ApiKey & { hash: Buffer }>(
        `SELECT ${COLUMNS}, k.hash FROM api_key k JOIN api_plan p ON p.name = k.plan
         WHERE k.hash = ANY($1) AND k.revoked_at IS NULL`,
        [[...new Set(ids)].map(id => Buffer.from(id, 'base64'))],
      )
      const found = new Map(rows.map(({ hash, ...key }) => [hash.toString('base64'), key as ApiKey]))
      return ids.map(id => ({ key: found.get(id) }))
    },
    { missing: () => new UnavailableError('The store of keys gave no answer.') },
  )
  return async key => {
    if (!KEY.test(key)) return undefined
    // Every request comes by here, and a digest as text costs half of one as bytes that is made text then.
    const id = digestOf(key).digest('base64')
    const cached = known.get(id)
    if (cached) return cached
    if (refused.has(id)) return undefined
    const { key: row } = await lookUp(id)
    if (row) known.set(id, row)
    else refused.set(id, true)
    return row
  }
}

const digestOf = (key: string) => createHash('sha256').update(key)
