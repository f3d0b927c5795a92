import type pg from 'pg'
import { log } from '../../db/process/log.ts'
import { readStatus } from '../../db/status.ts'

const EVERY_MS = 10_000
const KEPT_MS = 3_600_000

/** The last hour of every stream, as columns: value i is of moment at[i], null where it was not known then. */
export interface HistoryColumns {
  /** Unix seconds. */
  at: number[]
  streams: Record<string, { lag: (number | null)[]; head: (number | null)[] }>
}

export interface StreamHistory {
  /** Looks at the streams now. @param now unix seconds */
  look(now?: number): Promise<void>
  columns(): HistoryColumns
  start(): void
  stop(): Promise<void>
}

/**
 * Lag and head of every stream, looked at every ten seconds and kept for an hour in this process: whoever opens the
 * operator's page sees what was before. Another replica has its own, of the same store.
 */
export function createStreamHistory(pool: pg.Pool): StreamHistory {
  const moments: { at: number; streams: Map<string, { lag: number | null; head: number }> }[] = []
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const look = async (now = Date.now() / 1000) => {
    const status = await readStatus(pool, now)
    moments.push({
      at: Math.round(now),
      streams: new Map(status.map(({ name, age, head }) => [name, { lag: age ?? null, head }])),
    })
    while ((moments[0]?.at ?? now) < now - KEPT_MS / 1000) moments.shift()
  }
  const lookAgain = () => {
    looking = look()
      .catch((error: Error) => log.warn({ error: error.message }, 'operator page: streams could not be read'))
      .finally(() => {
        if (timer) timer = setTimeout(lookAgain, EVERY_MS)
      })
  }

  return {
    look,
    columns() {
      const names = new Set(moments.flatMap(({ streams }) => [...streams.keys()]))
      return {
        at: moments.map(({ at }) => at),
        streams: Object.fromEntries(
          [...names].map(name => [
            name,
            {
              lag: moments.map(({ streams }) => streams.get(name)?.lag ?? null),
              head: moments.map(({ streams }) => streams.get(name)?.head ?? null),
            },
          ]),
        ),
      }
    },
    start() {
      timer = setTimeout(lookAgain, 0)
    },
    async stop() {
      clearTimeout(timer)
      timer = undefined
      await looking
    },
  }
}
