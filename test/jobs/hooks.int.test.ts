import { expect, it, onTestFinished } from 'vitest'
import { registerStream } from '../../db/events/event-store.ts'
import { createKey } from '../../db/keys/keys.ts'
import { createWebhookBook } from '../../db/webhooks/book.ts'
import { createPostgres } from '../databases.ts'
import { vaultlog } from '../faults/command.ts'
import { receive } from '../read-api/webhooks/receiver.ts'

it('vaultlog hooks lists webhooks, tests one, and begins one anew', async () => {
  const { pool, url: DATABASE_URL, drop } = await createPostgres()
  onTestFinished(drop)
  const env = { DATABASE_URL, WEBHOOK_PRIVATE_TARGETS: 'true' }
  const arrived: string[] = []
  const receiver = await receive(({ body }) => {
    arrived.push(JSON.parse(body).kind)
    return arrived.length === 1 ? 200 : 500
  })
  onTestFinished(() => receiver.close())
  const book = createWebhookBook(pool)
  const { id: keyId } = await createKey(pool, { name: 'somebody' })
  const cursor = new Map([
    [1, 4711],
    [8453, 12],
  ])
  const made = await book.create(
    { keyId, url: receiver.url, filter: {}, mode: 'instant', cursor },
    { webhooks: 5, rules: 0 },
  )
  const id = made.id
  expect(await vaultlog(env, 'hooks', 'test', id)).toMatchObject({
    code: 0,
    stdout: 'Delivered: answered 200.\n',
  })
  expect(await vaultlog(env, 'hooks', 'test', id)).toMatchObject({
    code: 1,
    stdout: 'Not delivered: answered 500.\n',
  })
  expect(arrived).toEqual(['test', 'test'])
  expect((await vaultlog({ DATABASE_URL }, 'hooks', 'test', id)).stdout).toMatch(/by https alone/)
  await pool.query(`UPDATE webhook SET disabled = 'it answered 410' WHERE id = $1`, [id])
  const { stdout } = await vaultlog(env, 'hooks', 'list')
  expect(stdout).toContain('disabled')
  expect(stdout).toContain('1.4711,8453.12')
  expect(stdout).toContain('it answered 410')
  expect(stdout).not.toContain(made.secret)
  const replay = (after: string) => vaultlog(env, 'hooks', 'replay', id, '--after', after)
  expect((await replay('8453.3')).stderr).toContain('no chain 8453')
  await registerStream(pool, 8453, 'base', 'evm')
  expect((await replay('8453.3')).stderr).toContain('8453.3 is beyond what is stored, which ends at 8453.0')
  await pool.query('UPDATE stream SET head = 12 WHERE id = 8453')
  expect((await replay('8453.3')).code).toBe(0)
  const hook = await book.find(id, keyId)
  expect(hook?.disabled).toBeNull()
  expect([...(hook?.cursor ?? [])]).toEqual([
    [1, 4711],
    [8453, 3],
  ])
  expect((await vaultlog(env, 'hooks', 'replay', id, '--after', 'yesterday')).stderr).toMatch(
    /must be positions/,
  )
  await pool.query('UPDATE api_key SET revoked_at = now()')
  expect((await vaultlog(env, 'hooks', 'list')).stdout).toContain('key revoked')
  expect((await replay('8453.3')).stderr).toContain('was revoked')
}, 120_000)
