import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createKey } from '../../../db/keys/keys.ts'
import { createWebhookBook } from '../../../db/webhooks/book.ts'
import { seededRandom } from '../../chain/random.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { RandomChain, standing } from '../feed/history.ts'
import { type Received, receive } from './receiver.ts'

/** So many in `npm run test:slow`. */
const KILLS = Number(process.env['WEBHOOK_KILLS'] ?? 4)
const REORGS = KILLS * 4

let postgres: TestPostgres
let child: ChildProcess | undefined

beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await postgres?.drop()
})

async function deliver(): Promise<ChildProcess> {
  const started = fork(new URL('./deliver.ts', import.meta.url), [postgres.url], {
    execArgv: ['--import', 'tsx'],
  })
  await once(started, 'message')
  return started
}

interface Sent {
  id: string
  kind: 'event' | 'retraction'
  chainId: number
  position: number
  data: { fromPosition: number; toPosition: number }
}

/** Applies messages in their order: what somebody's own tables would hold. Fails now and then, before and after it has applied one. */
class Consumer {
  readonly rows = new Set<string>()
  readonly reached = new Map<number, number>()
  readonly wrong: string[] = []
  retractions = 0
  repeated = 0
  private readonly random = seededRandom(7)
  private verifier: Webhook | undefined
  private readonly isDense: boolean

  constructor(isDense: boolean) {
    this.isDense = isDense
  }

  verifyBy(secret: string) {
    this.verifier = new Webhook(secret)
  }

  answer({ headers, body }: Received): number | undefined {
    if (this.random.chance(0.03)) return 500
    this.apply(this.verifier?.verify(body, headers as Record<string, string>) as Sent, headers['webhook-id'])
    if (this.random.chance(0.03)) throw new Error('ends amid its answer')
    return 200
  }

  private apply({ id, kind, chainId, position, data }: Sent, header: unknown) {
    const last = this.reached.get(chainId) ?? 0
    if (!String(header).endsWith(`_${chainId}_${position}`)) this.wrong.push(`${id} came as ${header}`)
    if (position <= last) {
      // At least once: what it has seen, it leaves aside. Only the newest comes again.
      this.repeated++
      if (position !== last) this.wrong.push(`${id} after ${last}`)
      return
    }
    if (this.isDense && position !== last + 1) this.wrong.push(`${id} after ${last}`)
    this.reached.set(chainId, position)
    if (kind === 'event') this.rows.add(id)
    else {
      this.retractions++
      for (let at = data.fromPosition; at <= data.toPosition; at++)
        if (!this.rows.delete(`${chainId}.${at}`)) this.wrong.push(`${chainId}.${at} was not there`)
    }
  }
}

it(`over ${REORGS} forks and ${KILLS} kills of the process that delivers, whoever applies the messages in order has what stands`, async () => {
  const { pool } = postgres
  const random = seededRandom(Number(process.env['TEST_SEED'] ?? 25))
  const mainnet = new RandomChain(pool, { id: 1, name: 'mainnet' }, random)
  const base = new RandomChain(pool, { id: 8453, name: 'base' }, random)
  await mainnet.register()
  await base.register()
  const book = createWebhookBook(pool)
  const { id: keyId } = await createKey(pool, { name: 'kills', plan: 'unlimited' })
  const consumers = { instant: new Consumer(true), finalized: new Consumer(false) }
  const receivers = []
  for (const mode of ['instant', 'finalized'] as const) {
    const receiver = await receive(received => consumers[mode].answer(received))
    receivers.push(receiver)
    const asked = { keyId, url: receiver.url, filter: {}, mode, cursor: new Map() }
    const made = await book.create(asked, { webhooks: 5, rules: 0 })
    consumers[mode].verifyBy(made.secret)
  }
  child = await deliver()
  let kills = 0
  while (mainnet.reorgs + base.reorgs < REORGS || kills < KILLS) {
    await (random.chance(0.5) ? mainnet : base).grow()
    await new Promise(resolve => setTimeout(resolve, random.below(20)))
    if (kills < KILLS && mainnet.reorgs + base.reorgs > kills * 4) {
      kills++
      const [was] = [child]
      was.kill('SIGKILL')
      // Begun before the other is gone: two at once are one too many, and no harm.
      child = await deliver()
    }
  }
  const all = [...(await standing(pool, 1)), ...(await standing(pool, 8453))].sort()
  expect(all.length).toBeGreaterThan(REORGS)
  await expect.poll(() => [...consumers.instant.rows].sort(), { timeout: 60_000 }).toEqual(all)
  const finalOf = async (id: number) => {
    const { rows } = await pool.query<{ final: number }>(
      'SELECT final_height AS final FROM stream WHERE id = $1',
      [id],
    )
    return standing(pool, id, rows[0]?.final)
  }
  const final = [...(await finalOf(1)), ...(await finalOf(8453))].sort()
  await expect.poll(() => [...consumers.finalized.rows].sort(), { timeout: 60_000 }).toEqual(final)
  expect([...consumers.instant.wrong, ...consumers.finalized.wrong]).toEqual([])
  expect(consumers.instant.retractions).toBeGreaterThan(REORGS / 4)
  expect(consumers.finalized.retractions).toBe(0)
  expect(consumers.instant.repeated).toBeGreaterThan(0)
  for (const receiver of receivers) receiver.close()
}, 900_000)
