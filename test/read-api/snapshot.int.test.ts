import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { openPostgres } from '../../db/postgres.ts'
import { readMoment, watchCheckpoints } from '../../read-api/moment/snapshot.ts'
import { createPostgres } from '../databases.ts'

it('goes on listening after its connection was lost again and again, and keeps none of them', async () => {
  const postgres = await createPostgres()
  const pool = openPostgres(postgres.url, 'watch', 2)
  let moves = 0
  const watch = await watchCheckpoints(
    pool,
    async () => {
      moves++
    },
    { pollMs: 50 },
  )
  const listening = async () => {
    const { rows } = await postgres.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'`,
    )
    return rows.map(({ pid }) => pid)
  }
  for (let lost = 0; lost < 4; lost++) {
    await expect.poll(listening).toHaveLength(1)
    const [pid] = await listening()
    await postgres.pool.query('SELECT pg_terminate_backend($1)', [pid])
    await expect.poll(async () => (await listening()).includes(pid ?? 0)).toBe(false)
  }
  await expect.poll(listening).toHaveLength(1)
  expect((await readMoment(pool)).chains.size).toBe(0)
  await watch.stop()
  const before = moves
  await postgres.pool.query('NOTIFY vaultlog_checkpoint')
  await setTimeout(150)
  expect(moves).toBe(before)
  await pool.end()
  await postgres.drop()
})
