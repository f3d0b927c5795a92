import { createClient } from '@clickhouse/client'
import { type EmbeddedClickHouse, startClickHouse } from '../../../db/embedded/clickhouse.ts'
import { ownPlace } from './places.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** A server of its own with an empty database `vaultlog`. */
export async function clickhousePlace() {
  const place = await ownPlace()
  const server: EmbeddedClickHouse = await startClickHouse(place.env)
  const setup = createClient({ url: server.url })
  await setup.command({ query: 'CREATE DATABASE vaultlog' })
  await setup.close()
  return {
    env: place.env,
    url: server.url,
    /** A raw request, for what the client hides. */
    async http(
      params: Record<string, string>,
      body: string | Buffer = '',
      init: { method?: string; headers?: Record<string, string> } = {},
    ): Promise<Answer> {
      const response = await fetch(`${server.url}/?${new URLSearchParams(params)}`, {
        method: init.method ?? 'POST',
        ...(init.method === 'GET' ? {} : { body }),
        ...(init.headers ? { headers: init.headers } : {}),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    async remove() {
      await server.stop()
      place.remove()
    },
  }
}
