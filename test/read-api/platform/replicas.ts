import { randomBytes } from 'node:crypto'
import { createCreditMeter } from '../../../db/keys/credits.ts'
import { createKeyVerifier, listKeys } from '../../../db/keys/keys.ts'
import { createRateMeter } from '../../../db/keys/rates.ts'
import { openLimitsRedis } from '../../../db/keys/redis.ts'
import { openPostgres } from '../../../db/postgres.ts'
import { type AppOptions, createApp } from '../../../read-api/app.ts'
import { type Serving, serve } from '../../../read-api/http/serve.ts'
import type { ApiHarness } from '../harness.ts'

export interface Replica {
  url: string
  serving: Serving
  stop(): Promise<void>
}

export const namespace = () => `vaultlog-test-${randomBytes(6).toString('hex')}`

/** Credits of a key as Postgres has them; Redis is written there a moment later. */
export const creditsUsed = async ({ pool }: ApiHarness, id: number) =>
  (await listKeys(pool)).find(key => key.id === id)?.creditsUsed

/** One more API beside the harness's own: connections, key cache and counters of its own, on the same stores. */
export async function startReplica(
  api: ApiHarness,
  options: AppOptions & { redisUrl?: string; namespace?: string } = {},
): Promise<Replica> {
  const pool = openPostgres(api.databaseUrl, 'replica', 4)
  const redis = options.redisUrl ? openLimitsRedis(options.redisUrl) : undefined
  const credits = createCreditMeter(pool, { redis, namespace: options.namespace, flushMs: 50 })
  const app = await createApp(
    {
      ...api.deps,
      pool,
      rates: createRateMeter(pool, { redis, namespace: options.namespace }),
      credits,
      verifyKey: createKeyVerifier(pool),
    },
    options,
  )
  const serving = await serve(app, { port: 0, host: '127.0.0.1' })
  return {
    url: `http://127.0.0.1:${serving.port}`,
    serving,
    async stop() {
      await serving.close()
      await credits.close()
      if (redis && options.namespace) {
        const names = await redis.keys(`${options.namespace}*`)
        if (names.length > 0) await redis.del(names)
      }
      redis?.disconnect()
      await pool.end()
    },
  }
}
