import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createKey,
  createKeyVerifier,
  definePlan,
  KEY_CACHE_MS,
  listKeys,
  revokeKey,
  setKeyPlan,
  UnknownKeyError,
  UnknownPlanError,
} from '../../../db/keys/keys.ts'
import type { TestPostgres } from '../../databases.ts'
import { createPostgres } from '../../databases.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres?.drop())

describe('API keys', () => {
  it('are usable at once, and nowhere stored', async () => {
    const { pool } = postgres
    const verify = createKeyVerifier(pool)
    expect(await verify('vl_guess')).toBeUndefined()
    const made = await createKey(pool, { name: 'one' })
    expect(Buffer.from(made.key.slice(3), 'base64url')).toHaveLength(32)
    expect(await verify(made.key)).toMatchObject({ id: made.id, name: 'one', plan: 'standard' })
    const { rows } = await pool.query<{ row: string; hash: Buffer }>(
      'SELECT k::text AS row, hash FROM api_key k',
    )
    expect(rows[0]?.row).not.toContain(made.key.slice(3))
    expect(rows[0]?.hash).toEqual(createHash('sha256').update(made.key).digest())
    expect(made.code).toMatch(/^[a-z0-9_]{1,32}$/)
    expect(made.key).not.toContain(made.code)
  })

  it('are revoked by their public code, for a process that knew them within seconds', async () => {
    const { pool } = postgres
    const made = await createKey(pool, { name: 'two', plan: 'free' })
    const warm = createKeyVerifier(pool)
    expect(await warm(made.key)).toBeDefined()
    await revokeKey(pool, made.code)
    expect(await createKeyVerifier(pool)(made.key)).toBeUndefined()
    await new Promise(resolve => setTimeout(resolve, KEY_CACHE_MS + 100))
    expect(await warm(made.key)).toBeUndefined()
    await expect(revokeKey(pool, made.code)).rejects.toThrow(UnknownKeyError)
    const listed = (await listKeys(pool)).find(key => key.code === made.code)
    expect(listed?.revokedAt).toBeInstanceOf(Date)
  })

  it('need a plan that there is', async () => {
    await expect(createKey(postgres.pool, { name: 'three', plan: 'gold' })).rejects.toThrow(UnknownPlanError)
  })

  it('change plans by command, and plans their limits', async () => {
    const { pool } = postgres
    const made = await createKey(pool, { name: 'four', plan: 'free' })
    expect(await setKeyPlan(pool, made.code, 'standard')).toMatchObject({
      plan: 'standard',
      creditsPerMonth: 1_000_000,
      requestsPerMinute: 600,
    })
    await expect(setKeyPlan(pool, made.code, 'gold')).rejects.toThrow(UnknownPlanError)
    await expect(setKeyPlan(pool, 'nobody', 'free')).rejects.toThrow(UnknownKeyError)
    await definePlan(pool, { name: 'gold', creditsPerMonth: 7, requestsPerMinute: 3 })
    await setKeyPlan(pool, made.code, 'gold')
    await definePlan(pool, { name: 'gold', creditsPerMonth: 8, requestsPerMinute: 4 })
    expect(await createKeyVerifier(pool)(made.key)).toMatchObject({
      creditsPerMonth: 8,
      requestsPerMinute: 4,
    })
  })
})
