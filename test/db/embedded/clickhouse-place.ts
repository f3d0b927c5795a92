import { createClient } from '@clickhouse/client'
import { type EmbeddedClickHouse, startClickHouse } from '../../../db/embedded/clickhouse.ts'
import { ownPlace } from './places.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** fetch takes no user in an address. */
export function signed(url: string) {
  const { origin, username, password } = new URL(url)
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { origin, headers: { authorization } }
}

const isSigned = (params: Record<string, string>, headers: Record<string, string> = {}): boolean =>
  'user' in params ||
  'password' in params ||
  Object.keys(headers).some(name => /^(authorization|x-clickhouse-user)$/i.test(name))

/** A server of its own with an empty database `vaultlog`. */
export async function clickhousePlace() {
  const place = await ownPlace()
  const server: EmbeddedClickHouse = await startClickHouse(place.env)
  const setup = createClient({ url: server.url })
  await setup.command({ query: 'CREATE DATABASE vaultlog' })
  await setup.close()
  const { origin, headers: owner } = signed(server.url)
  return {
    env: place.env,
    url: server.url,
    /** For requests without a user. */
    origin,
    /** Headers of the user `default`. */
    owner,
    /** A raw request, for what the client hides. */
    async http(
      params: Record<string, string>,
      body: string | Buffer = '',
      init: { method?: string; headers?: Record<string, string> } = {},
    ): Promise<Answer> {
      const response = await fetch(`${origin}/?${new URLSearchParams(params)}`, {
        method: init.method ?? 'POST',
        ...(init.method === 'GET' ? {} : { body }),
        headers: isSigned(params, init.headers) ? (init.headers ?? {}) : { ...owner, ...init.headers },
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    async remove() {
      await server.stop()
      place.remove()
    },
  }
}
