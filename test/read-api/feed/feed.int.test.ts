import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Response } from 'express'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { readEvents } from '../../../db/events/event-store.ts'
import { createKey, definePlan } from '../../../db/keys/keys.ts'
import { UnavailableError } from '../../../db/process/errors.ts'
import { createApp } from '../../../read-api/app.ts'
import { Feed } from '../../../read-api/feed/feed.ts'
import { filterOf } from '../../../read-api/feed/filter.ts'
import { OpenStreams, Session, type SessionOptions } from '../../../read-api/feed/session.ts'
import { CreditsExhaustedError } from '../../../read-api/http/errors.ts'
import { loadEndpoints } from '../../../read-api/http/load-endpoints.ts'
import { type Serving, serve } from '../../../read-api/http/serve.ts'
import { seededRandom } from '../../chain/random.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { RandomChain, standing, vaultOf, walletOf } from './history.ts'
import { follow, type Sent } from './reader.ts'

const endpoints = (await loadEndpoints()).filter(({ endpoint }) => endpoint.path === '/feed')
const random = seededRandom(Number(process.env['TEST_SEED'] ?? 24))
let api: ApiHarness
let serving: Serving
let feed: Feed
let mainnet: RandomChain
let base: RandomChain

/** A process of the API; on the port that the one before had. */
async function begin(port = 0) {
  feed = new Feed(api.pool)
  serving = await serve(await createApp({ ...api.deps, feed }, { endpoints }), { port, patienceMs: 0 })
}

beforeAll(async () => {
  api = await startApi()
  mainnet = new RandomChain(api.pool, { id: 1, name: 'mainnet' }, random)
  base = new RandomChain(api.pool, { id: 8453, name: 'base' }, random)
  await mainnet.register()
  await base.register()
  await begin()
})
afterAll(async () => {
  await feed?.stop()
  await serving?.close()
  await api?.stop()
})

const url = (query = '') => `http://127.0.0.1:${serving.port}/beta/feed${query}`

async function page(query: string, key = api.apiKey) {
  const response = await fetch(url(query), { headers: { 'x-api-key': key } })
  // biome-ignore lint/suspicious/noExplicitAny: read as it comes
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

/** Applies messages in their order: what somebody's own tables would hold. */
class Consumer {
  readonly rows = new Map<string, Record<string, unknown>>()
  readonly seen = new Set<string>()
  lastId: string | undefined = 'start'
  retractions = 0
  connections = 0
  private isOver = false
  private connection = new AbortController()
  private readonly query: string
  /** Its own: what the chains do does not depend on who reads when. */
  private readonly random = seededRandom(7)

  constructor(query: string) {
    this.query = query
  }

  async run() {
    while (!this.isOver) {
      this.connection = new AbortController()
      this.connections++
      try {
        const sent = follow(url(this.query), {
          key: api.apiKey,
          lastEventId: this.lastId,
          signal: this.connection.signal,
        })
        for await (const message of sent) {
          this.apply(message)
          if (this.random.chance(0.02)) break
        }
      } catch (error) {
        // What is wrong with a message is a failure; a connection that broke is not.
        if ((error as Error).name === 'AssertionError') throw error
        await sleep(5)
      }
    }
  }

  apply({ id, event, data }: Sent) {
    this.lastId = id
    if (event === 'position') return
    expect(this.seen.has(data.id), `twice: ${data.id}`).toBe(false)
    this.seen.add(data.id)
    if (event === 'event') this.rows.set(data.id, data)
    else {
      this.retractions++
      const { fromPosition, toPosition } = data['data'] as { fromPosition: number; toPosition: number }
      for (let at = fromPosition; at <= toPosition; at++)
        expect(this.rows.delete(`${data.chainId}.${at}`), `${data.chainId}.${at} was not there`).toBe(true)
    }
  }

  stop() {
    this.isOver = true
    this.connection.abort()
  }
}

it('over 200 forks and 50 ends of the API, whoever applies the messages in order has what stands', async () => {
  const instant = new Consumer('')
  const finalized = new Consumer('?mode=finalized')
  const running = [instant.run(), finalized.run()]
  onTestFinished(() => {
    instant.stop()
    finalized.stop()
  })
  let kills = 0
  while (mainnet.reorgs + base.reorgs < 200) {
    await (random.chance(0.5) ? mainnet : base).grow()
    if (kills < 50 && mainnet.reorgs + base.reorgs > kills * 4) {
      kills++
      const { port } = serving
      const [was, server] = [feed, serving]
      // Connections break wherever they are: nothing is said to anybody first.
      await server.close()
      await was.stop()
      await begin(port)
    }
  }
  expect(kills).toBe(50)
  const all = [...(await standing(api.pool, 1)), ...(await standing(api.pool, 8453))].sort()
  expect(all.length).toBeGreaterThan(200)
  await expect.poll(() => [...instant.rows.keys()].sort(), { timeout: 20_000 }).toEqual(all)
  const finalOf = async ({ id }: RandomChain) => {
    const { rows } = await api.pool.query<{ final: number }>(
      'SELECT final_height AS final FROM stream WHERE id = $1',
      [id],
    )
    return standing(api.pool, id, rows[0]?.final)
  }
  const final = [...(await finalOf(mainnet)), ...(await finalOf(base))].sort()
  await expect.poll(() => [...finalized.rows.keys()].sort(), { timeout: 20_000 }).toEqual(final)
  expect(final.length).toBeGreaterThan(150)
  expect(instant.retractions).toBeGreaterThan(100)
  expect(finalized.retractions).toBe(0)
  expect(instant.connections).toBeGreaterThan(50)
  instant.stop()
  finalized.stop()
  await Promise.all(running)
  // What was told is what is stored.
  const [event] = await readEvents(api.pool, 1, { after: 0, types: ['ShareTransferred'] })
  const told =
    instant.seen.has('1.1') && (await page('?after=start&networks=mainnet&perPage=1')).body.messages[0]
  expect(told).toMatchObject({
    id: '1.1',
    network: 'mainnet',
    blockHash: event?.block_hash,
    transactionHash: event?.tx_hash,
    data: { shares: event?.data['shares'] },
  })
  expect(told.contract).toMatch(/^0x[0-9a-fA-F]{40}$/)
}, 120_000)

it('by pages of JSON it is the same, in order and without a gap', async () => {
  const ids: string[] = []
  let after = 'start'
  for (let isCaughtUp = false; !isCaughtUp; ) {
    const { body } = await page(`?networks=mainnet&perPage=37&after=${after}`)
    ids.push(...body.messages.map(({ id }: { id: string }) => id))
    after = body.after
    isCaughtUp = body.isCaughtUp
  }
  const head = (await feed.look()).get(1)?.head ?? 0
  expect(ids).toEqual(Array.from({ length: head }, (_, i) => `1.${i + 1}`))
  expect(after).toMatch(new RegExp(`^1\\.${head}~[\\w-]{6}$`))
})

it('filters by network, vault, wallet and type; retractions are sent whatever is filtered', async () => {
  const { body } = await page(
    `?after=start&perPage=1000&networks=base&vaults=${vaultOf(0)}&wallets=${walletOf(1)}`,
  )
  const events = await readEvents(api.pool, 8453, { after: 0 })
  const expected = events.filter(
    ({ type, contract, data }) =>
      type === 'BlockRetracted' ||
      (contract === vaultOf(0) && (data['from'] === walletOf(1) || data['to'] === walletOf(1))),
  )
  expect(expected.length).toBeGreaterThan(20)
  expect(body.messages.map(({ position }: { position: number }) => position)).toEqual(
    expected.map(({ position }) => position),
  )
  const none = await page('?after=start&perPage=1000&mode=finalized&types=Deposited')
  expect(none.body).toMatchObject({ messages: [], isCaughtUp: true })
})

it('sends a stream nothing of what is left out, and says how far it is', async () => {
  const stop = new AbortController()
  const stream = follow(url('?types=Deposited&networks=mainnet'), { key: api.apiKey, signal: stop.signal })
  const { value } = await stream.next()
  const head = (await feed.look()).get(1)?.head
  expect(value).toMatchObject({ event: 'position', id: expect.stringMatching(`^1\\.${head}~`) })
  expect(value?.data['after']).toBe(value?.id)
  stop.abort()
})

it.each([
  ['?network=mainnet', 400, /Did you mean "networks"/],
  ['?networks=ethereum', 400, /did you mean mainnet/],
  ['?types=Deposit', 400, /did you mean Deposited/],
  ['?vaults=0x12', 400, /must be addresses/],
  ['?mode=final', 400, /must be one of instant, finalized/],
  ['?after=yesterday', 400, /is no position/],
  ['?after=1.999999', 422, /ahead of what is stored of mainnet/],
  ['?after=1.5~AAAAAA', 409, /position 5 is not the event that this position is of/],
  ['?after=8453.1&networks=mainnet', 422, /names base, which "networks" leaves out/],
])('%s is refused with what would be right', async (query, status, message) => {
  const { status: got, body } = await page(query)
  expect(body.message).toMatch(message)
  expect(got).toBe(status)
})

it('takes a credit for each 100 messages, and ends a stream whose key has none left', async () => {
  await definePlan(api.pool, { name: 'small', creditsPerMonth: 4, requestsPerMinute: 2 })
  const { key } = await createKey(api.pool, { name: 'small', plan: 'small' })
  const { headers } = await page('?after=start&perPage=150&networks=mainnet', key)
  expect(headers.get('x-credits-used')).toBe('2')
  let events = 0
  let last: Sent | undefined
  for await (const sent of follow(url('?after=start&networks=mainnet'), { key })) {
    if (sent.event === 'event' || sent.event === 'retraction') events++
    last = sent
  }
  expect(events).toBe(200)
  expect(last).toMatchObject({ event: 'failure', data: { statusCode: 403 } })
})

/** A stream by itself, of which a test says how keys and payments go. */
async function streaming(options: Partial<SessionOptions>): Promise<string> {
  const chains = await feed.look()
  const cursor = await feed.placesAt(new Map([...chains].map(([id, { head }]) => [id, id === 1 ? 50 : head])))
  const server = createServer((_, response) => {
    const session = new Session({
      feed,
      filter: filterOf({ networks: undefined, vaults: undefined, wallets: undefined, types: undefined }),
      mode: 'instant',
      cursor,
      response: response as Response,
      isAllowed: async () => true,
      pay: async () => {},
      ...options,
    })
    void session.run()
  }).listen(0)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('loses nothing where a payment fails once, and sends all that was paid for before it ends', async () => {
  const head = (await feed.look()).get(1)?.head ?? 0
  expect(head).toBeGreaterThan(300)
  let payments = 0
  const address = await streaming({
    async pay() {
      if (++payments === 1) throw new UnavailableError('The store of credits does not answer.')
    },
  })
  const positions: number[] = []
  for await (const { event, data } of follow(address, { key: '' })) {
    if (event !== 'position') positions.push(data.position)
    if (data.position === head) break
  }
  expect(positions).toEqual(Array.from({ length: head - 50 }, (_, i) => i + 51))

  const poor = await streaming({
    pay: () => Promise.reject(new CreditsExhaustedError(1, 0)),
  })
  const sent: Sent[] = []
  for await (const message of follow(poor, { key: '' })) sent.push(message)
  expect(sent.filter(({ event }) => event !== 'position' && event !== 'failure')).toHaveLength(100)
  expect(sent.at(-1)).toMatchObject({ event: 'failure', data: { statusCode: 403 } })
})

it('a key that is revoked hears so, and nobody else is harmed', async () => {
  const address = await streaming({ isAllowed: async () => false, beatMs: 5 })
  const sent: Sent[] = []
  for await (const message of follow(address, { key: '' })) sent.push(message)
  expect(sent.at(-1)).toMatchObject({ event: 'failure', data: { statusCode: 401 } })
})

it('whoever else looks at the chains, those who follow are told of every move', async () => {
  const stop = new AbortController()
  const stream = follow(url('?networks=mainnet'), { key: api.apiKey, signal: stop.signal })
  const [first] = [await stream.next()]
  let reached = first.value?.id
  let isOver = false
  const looking = (async () => {
    while (!isOver) await page('?networks=mainnet')
  })()
  for (let i = 0; i < 15; i++) {
    await mainnet.grow()
    const head = (await page('?networks=mainnet')).body.after
    while (reached !== head) reached = (await stream.next()).value?.id
  }
  isOver = true
  await looking
  stop.abort()
})

it('has so many streams of a key open and no more', () => {
  const open = new OpenStreams()
  const key = { id: 7, requestsPerMinute: 2 }
  const free = open.take(key)
  open.take(key)
  expect(() => open.take(key)).toThrow(/has 2 streams open/)
  free()
  open.take(key)
})

it('ends its streams when the process does, and takes no words back', async () => {
  const { port } = serving
  const stream = follow(url('?networks=mainnet'), { key: api.apiKey })
  await stream.next()
  const rest = (async () => {
    let count = 0
    for await (const _ of stream) count++
    return count
  })()
  await feed.stop()
  expect(await rest).toBe(0)
  await serving.close()
  await begin(port)
})
