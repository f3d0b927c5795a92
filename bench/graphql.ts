import { setTimeout } from 'node:timers/promises'
import { freePort } from '../test/chain/anvil-process.ts'
import { start } from '../test/faults/command.ts'
import type { Stage } from './bench.ts'

/** One event as GraphQL answers it; amounts in `data` are decimal strings. */
export interface RawEvent {
  position: string
  type: string
  blockTime: string
  contract: string
  data: Record<string, string>
}

const PAGE = 10_000

/** Raw events of a filter, in stream order. */
export type RawEvents = (where: string) => AsyncIterable<RawEvent>

/** `@subsquid/graphql-server` over the event store, as `npm run graphql` starts it. */
export async function startGraphql(stage: Stage, databaseUrl: string): Promise<RawEvents> {
  const port = await freePort()
  const server = start(['db/graphql.ts'], {
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: stage.clickhouseUrl,
    GRAPHQL_PORT: String(port),
  })
  stage.afterwards(async () => {
    server.child.kill('SIGTERM')
    await server.ended
  })
  const url = `http://127.0.0.1:${port}/graphql`
  const isUp = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  let hasEnded = false
  void server.ended.then(() => (hasEnded = true))
  while (!(await isUp())) {
    if (hasEnded) throw new TypeError(`the GraphQL server ended: ${server.said()}`)
    await setTimeout(100)
  }
  return async function* events(where) {
    for (let after = '0'; ; ) {
      const query = `{ events(where: {stream_eq: 1, position_gt: "${after}", ${where}}, orderBy: position_ASC, limit: ${PAGE}) {
        position type blockTime contract data } }`
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      })
      const text = await response.text()
      const page: RawEvent[] | undefined = JSON.parse(text).data?.events
      if (!page) throw new TypeError(`${query}: ${response.status} ${text.slice(0, 500)}`)
      yield* page
      const last = page.at(-1)
      if (!last || page.length < PAGE) return
      after = last.position
    }
  }
}
