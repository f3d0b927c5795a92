import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type pg from 'pg'
import { z } from 'zod'
import { createKey, definePlan, listKeys, listPlans, revokeKey, setKeyPlan } from '../../db/keys/keys.ts'
import { readEnv } from '../../db/process/env.ts'
import { integer, print, withEventStore } from '../command.ts'
import { table } from '../table.ts'

/** Which database a key is of; a demo in the same folder has one of its own, whose API does not know the key. */
async function whereabouts(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string; port: number | null }>(
    'SELECT current_database() AS name, inet_server_port() AS port',
  )
  const { name = '', port } = rows[0] ?? {}
  const here = `It is a key of the database ${name}${port ? ` on port ${port}` : ''}.`
  const file = join(readEnv().VAULTLOG_DIR, 'demo.json')
  const demo = await readFile(file, 'utf8').then(
    text => z.object({ databaseUrl: z.url() }).safeParse(JSON.parse(text)).data,
    () => undefined,
  )
  const { pathname } = new URL(demo?.databaseUrl ?? `postgres://localhost/${name}`)
  return pathname.slice(1) === name
    ? here
    : `${here} The demo has the database ${pathname.slice(1)}: for a key of it set DATABASE_URL to databaseUrl of ${file}.`
}

/** `vaultlog keys …` and `vaultlog plans …`. */
export default function add(program: Command): void {
  const keys = program.command('keys').description('API keys')
  keys
    .command('create <name>')
    .option('--plan <plan>', 'credits and rate limit', 'unlimited')
    .option('--admin', "opens the operator's pages too (/ops)")
    .action((name: string, options: { plan: string; admin?: boolean }) =>
      withEventStore(async ({ pool }) => {
        const key = await createKey(pool, { name, ...options })
        print(
          `${key.key}\nSend it as x-api-key. It is not stored and cannot be shown again (public code: ${key.code}).`,
        )
        print(await whereabouts(pool))
        return 0
      }),
    )
  keys.command('list').action(() =>
    withEventStore(async ({ pool }) => {
      const rows = await listKeys(pool)
      print(
        rows.length === 0
          ? 'No keys yet: vaultlog keys create <name>'
          : table(
              ['code', 'name', 'plan', 'admin', 'credits used', 'created', 'revoked'],
              rows.map(key => [
                key.code,
                key.name,
                key.plan,
                key.isAdmin ? 'yes' : '',
                key.creditsUsed,
                key.createdAt.toISOString(),
                key.revokedAt?.toISOString() ?? '',
              ]),
            ),
      )
      return 0
    }),
  )
  keys
    .command('plan <code> <plan>')
    .description('put a key on another plan')
    .action((code: string, plan: string) =>
      withEventStore(async ({ pool }) => {
        const key = await setKeyPlan(pool, code, plan)
        print(
          `${code} (${key.name}) is on ${plan}: ${key.creditsPerMonth} credits a month, ${key.requestsPerMinute} requests a minute.`,
        )
        return 0
      }),
    )
  keys.command('revoke <code>').action((code: string) =>
    withEventStore(async ({ pool }) => {
      const { name } = await revokeKey(pool, code)
      print(`${code} (${name}) is revoked.`)
      return 0
    }),
  )

  const plans = program.command('plans').description('what keys may use')
  plans.command('list').action(() =>
    withEventStore(async ({ pool }) => {
      print(
        table(
          ['plan', 'credits a month', 'requests a minute'],
          (await listPlans(pool)).map(plan => [plan.name, plan.creditsPerMonth, plan.requestsPerMinute]),
        ),
      )
      return 0
    }),
  )
  plans
    .command('set <name>')
    .argument('<credits-per-month>', 'of one key', integer)
    .argument('<requests-per-minute>', 'of one key, 1 or more', integer)
    .description('make a plan, or change its limits for all keys on it')
    .action((name: string, credits: number, requests: number) =>
      withEventStore(async ({ pool }) => {
        await definePlan(pool, {
          name,
          creditsPerMonth: credits,
          requestsPerMinute: Math.max(1, requests),
        })
        print(`Keys on ${name} hold to the new limits within seconds.`)
        return 0
      }),
    )
}
