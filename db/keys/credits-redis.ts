import type { Redis } from 'ioredis'
import type pg from 'pg'
import { log } from '../process/log.ts'
import { readUsage } from './credits-postgres.ts'
import type { CreditLedger } from './ledger.ts'

// Lua's numbers are exact up to 2^53, as ours are; %.0f because larger ones would be written as 1e+15.
const BOOK = `
local used = tonumber(redis.call('HGET', KEYS[1], 'credits'))
if not used then return {} end
local outcome, taken = {}, 0
for i = 1, #ARGV, 2 do
  local after = used + tonumber(ARGV[i])
  if after <= tonumber(ARGV[i + 1]) then
    used = after
    taken = taken + 1
    outcome[#outcome + 1] = 1
  else
    outcome[#outcome + 1] = 0
  end
  outcome[#outcome + 1] = string.format('%.0f', used)
end
if taken > 0 then
  redis.call('HSET', KEYS[1], 'credits', string.format('%.0f', used))
  redis.call('HINCRBY', KEYS[1], 'requests', taken)
end
return outcome
`

// What Postgres knows is the least that was used: Redis may have been emptied, or not used for a while.
const RAISE = `
local used = tonumber(redis.call('HGET', KEYS[1], 'credits')) or -1
if used < tonumber(ARGV[1]) then redis.call('HSET', KEYS[1], 'credits', ARGV[1]) end
local requests = tonumber(redis.call('HGET', KEYS[1], 'requests')) or -1
if requests < tonumber(ARGV[2]) then redis.call('HSET', KEYS[1], 'requests', ARGV[2]) end
redis.call('EXPIRE', KEYS[1], 3456000)
return 1
`

type Scripted = Redis & {
  vaultlogBook(key: string, ...charges: (string | number)[]): Promise<(string | number)[]>
  vaultlogRaise(key: string, credits: number, requests: number): Promise<number>
}

/**
 * Credits in a Redis hash per key and month. Redis decides; about once a second what it counted is written to
 * api_usage, where nothing ever gets less, so a process that dies between takes nothing with it that the next charge
 * of the key does not bring back.
 */
export function createRedisLedger(
  connection: Redis,
  pool: pg.Pool,
  options: { namespace?: string; flushMs?: number } = {},
): CreditLedger {
  connection.defineCommand('vaultlogBook', { numberOfKeys: 1, lua: BOOK })
  connection.defineCommand('vaultlogRaise', { numberOfKeys: 1, lua: RAISE })
  const redis = connection as Scripted
  const seeded = new Set<string>()
  const dirty = new Map<string, { month: string; keyId: number }>()
  const nameOf = (month: string, keyId: number) =>
    `${options.namespace ?? 'vaultlog'}:credits:${month}:${keyId}`

  const seed = async (month: string, keyId: number) => {
    const name = nameOf(month, keyId)
    const { credits, requests } = await readUsage(pool, month, keyId)
    await redis.vaultlogRaise(name, credits, requests)
    if (seeded.size > 50_000) seeded.clear()
    seeded.add(name)
  }

  const bookOne = async (month: string, keyId: number, charges: (string | number)[]) => {
    const name = nameOf(month, keyId)
    if (!seeded.has(name)) await seed(month, keyId)
    let outcome = await redis.vaultlogBook(name, ...charges)
    if (outcome.length === 0) {
      await seed(month, keyId)
      outcome = await redis.vaultlogBook(name, ...charges)
    }
    dirty.set(name, { month, keyId })
    return Array.from({ length: outcome.length / 2 }, (_, i) => ({
      isAccepted: Number(outcome[2 * i]) === 1,
      used: Number(outcome[2 * i + 1]),
    }))
  }

  let flushing = Promise.resolve()
  const flush = async () => {
    for (const [name, { month, keyId }] of [...dirty]) {
      dirty.delete(name)
      try {
        const [credits, requests] = await redis.hmget(name, 'credits', 'requests')
        await pool.query(
          `INSERT INTO api_usage (key_id, month, credits, requests) VALUES ($1, $2, $3, $4)
           ON CONFLICT (key_id, month) DO UPDATE
           SET credits = greatest(api_usage.credits, excluded.credits),
               requests = greatest(api_usage.requests, excluded.requests)`,
          [keyId, month, credits ?? 0, requests ?? 0],
        )
      } catch (error) {
        dirty.set(name, { month, keyId })
        throw error
      }
    }
  }
  const schedule = () => {
    flushing = flushing.then(flush).catch((error: Error) => {
      log.warn({ error: error.message }, 'credits not written to Postgres yet; trying again')
    })
    return flushing
  }
  const timer = setInterval(schedule, options.flushMs ?? 1_000)
  timer.unref()

  return {
    async book(month, charges) {
      const groups: { keyId: number; charges: (string | number)[] }[] = []
      for (const { account, credits } of charges) {
        let group = groups.at(-1)
        if (group?.keyId !== account.id) {
          group = { keyId: account.id, charges: [] }
          groups.push(group)
        }
        group.charges.push(credits, account.creditsPerMonth)
      }
      const outcomes = await Promise.all(
        groups.map(async group => {
          try {
            return await bookOne(month, group.keyId, group.charges)
          } catch (error) {
            // Alone: what other keys were charged in this batch stands.
            log.warn({ error: (error as Error).message }, 'credits: Redis')
            return group.charges.filter((_, i) => i % 2 === 0).map(() => undefined)
          }
        }),
      )
      return outcomes.flat()
    },
    async used(month, keyId) {
      const name = nameOf(month, keyId)
      if (!seeded.has(name)) await seed(month, keyId)
      return Number((await redis.hget(name, 'credits')) ?? 0)
    },
    async close() {
      clearInterval(timer)
      await schedule()
    },
  }
}
