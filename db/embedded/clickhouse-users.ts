import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { ClickHouseException, header } from './clickhouse-wire.ts'

export interface Users {
  /** Of the user `default`. */
  password: string
  readOnly: { user: string; password: string }
}

/** @returns the name of the user */
export function authenticate(request: IncomingMessage, params: URLSearchParams, users: Users): string {
  const basic = /^Basic (.+)$/i.exec(header(request, 'authorization') ?? '')?.[1]
  const [basicUser, ...basicRest] = basic ? Buffer.from(basic, 'base64').toString('utf8').split(':') : []
  const user = header(request, 'x-clickhouse-user') ?? basicUser ?? params.get('user') ?? 'default'
  const password =
    header(request, 'x-clickhouse-key') ?? (basic ? basicRest.join(':') : params.get('password')) ?? ''
  const expected =
    user === 'default' || user === ''
      ? users.password
      : user === users.readOnly.user
        ? users.readOnly.password
        : undefined
  if (expected === undefined || !isSame(password, expected)) {
    throw ClickHouseException.of(
      516,
      'AUTHENTICATION_FAILED',
      `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
    )
  }
  return user || 'default'
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
