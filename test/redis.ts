import { Redis } from 'ioredis'

/** A Redis for tests: REDIS_URL, or the one of this machine; undefined (and said aloud) where none answers. */
export async function findRedis(): Promise<string | undefined> {
  const url = process.env['REDIS_URL'] || 'redis://127.0.0.1:6379'
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 10_000 })
  redis.on('error', () => {})
  try {
    await redis.connect()
    await redis.ping()
    return url
  } catch {
    console.warn(`No Redis at ${url}: what needs one is skipped.`)
    return undefined
  } finally {
    redis.disconnect()
  }
}
