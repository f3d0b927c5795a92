import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import type pg from 'pg'
import { ConfigError } from '../../db/process/errors.ts'
import { behindOf, createWebhookBook, type Webhook, type WebhookBook } from '../../db/webhooks/book.ts'
import { createPoster } from '../../db/webhooks/post.ts'
import { sendTest } from '../../db/webhooks/test-message.ts'
import { print, withEventStore } from '../command.ts'
import { table } from '../table.ts'

/** Positions as `hooks list` shows them, by chain id. */
function positions(text: string): Map<number, number> {
  const parts = text.split(',').map(part => /^(\d{1,10})[.](\d{1,15})$/.exec(part.trim()))
  if (parts.includes(null))
    throw new InvalidArgumentError('must be positions, as 1.4711 or 1.4711,8453.0: chain id and position.')
  return new Map(parts.map(found => [Number(found?.[1]), Number(found?.[2])]))
}

async function find(book: WebhookBook, id: string): Promise<Webhook> {
  const hook = await book.find(id, undefined)
  if (!hook) throw new ConfigError(`There is no webhook "${id}". \`vaultlog hooks\` lists them.`)
  return hook
}

const stateOf = ({ isRevoked, disabled, failures }: Webhook) =>
  isRevoked ? 'key revoked' : disabled ? 'disabled' : failures > 0 ? `failing (${failures})` : 'active'

/** Where each chain ends. */
async function readHeads(pool: pg.Pool): Promise<Map<number, number>> {
  const { rows } = await pool.query<{ id: number; head: number }>(
    `SELECT id, head FROM stream WHERE kind <> 'registry'`,
  )
  return new Map(rows.map(({ id, head }) => [id, Number(head)]))
}

/** @throws ConfigError a position is beyond what is stored */
function assertStored(heads: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): void {
  for (const [chainId, position] of after) {
    const head = heads.get(chainId)
    if (head === undefined) throw new ConfigError(`There is no chain ${chainId} in the event store.`)
    if (position > head)
      throw new ConfigError(
        `${chainId}.${position} is beyond what is stored, which ends at ${chainId}.${head}.`,
      )
  }
}

/** `vaultlog hooks …` */
export default function add(program: Command): void {
  const hooks = program.command('hooks').description('webhooks of all keys')
  hooks.command('list', { isDefault: true }).action(() =>
    withEventStore(async ({ pool }) => {
      const rows = await createWebhookBook(pool).all()
      const heads = await readHeads(pool)
      print(
        rows.length === 0
          ? 'No webhooks.'
          : table(
              ['id', 'key', 'host', 'mode', 'state', 'delivered', 'behind', 'positions', 'why'],
              rows.map(hook => [
                hook.id,
                hook.keyId,
                new URL(hook.url).host,
                hook.mode,
                stateOf(hook),
                hook.delivered,
                behindOf(hook, heads),
                [...hook.cursor].map(([chainId, position]) => `${chainId}.${position}`).join(','),
                hook.disabled ?? hook.lastError ?? '',
              ]),
            ),
      )
      return 0
    }),
  )
  hooks
    .command('test <id>')
    .description('send a test message from this machine, once')
    .action((id: string) =>
      withEventStore(async ({ pool, env }) => {
        const book = createWebhookBook(pool)
        const { url } = await find(book, id)
        const poster = createPoster({ allowsPrivate: env.WEBHOOK_PRIVATE_TARGETS })
        const { status, error } = await sendTest(poster, id, { url, secrets: await book.secretsOf(id) })
        poster.close()
        print(error ? `Not delivered: ${error}.` : `Delivered: answered ${status}.`)
        return error ? 1 : 0
      }),
    )
  hooks
    .command('replay <id>')
    .description('deliver anew, one that is disabled too')
    .option(
      '--after <positions>',
      'where to begin; chains that it does not name go on where they stand',
      positions,
    )
    .action((id: string, { after = new Map() }: { after?: Map<number, number> }) =>
      withEventStore(async ({ pool }) => {
        const book = createWebhookBook(pool)
        const { isRevoked } = await find(book, id)
        if (isRevoked)
          throw new ConfigError(
            `The key of ${id} was revoked: its owner makes another webhook by another key.`,
          )
        assertStored(await readHeads(pool), after)
        await book.replay(id, after)
        print(`${id} is delivered${after.size > 0 ? ' anew' : ''} from within a second, where an API runs.`)
        return 0
      }),
    )
}
