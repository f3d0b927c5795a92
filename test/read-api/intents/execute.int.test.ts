import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createKey } from '../../../db/keys/keys.ts'
import { createChainReader } from '../../../read-api/chain/reader.ts'
import { createExecutor } from '../../../read-api/intents/execute.ts'
import type { Journey } from '../../../read-api/intents/provider.ts'
import { createQuoteBook } from '../../../read-api/intents/quote-book.ts'
import { rhinestone } from '../../../read-api/intents/rhinestone/provider.ts'
import { digestOf } from '../../../read-api/intents/typed-data.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'
import { startRhinestone } from './rhinestone-double.ts'

let postgres: TestPostgres
let service: Awaited<ReturnType<typeof startRhinestone>>
let keyId: number
let otherKey: number
const now = () => Math.floor(Date.now() / 1000)
const user = privateKeyToAccount(generatePrivateKey())
const signal = new AbortController().signal
// A wallet's own signature needs no chain; there is none.
const reader = createChainReader({ rpc: {} })

beforeAll(async () => {
  postgres = await createPostgres()
  service = await startRhinestone({ out: (_, spent) => spent, now })
  keyId = (await createKey(postgres.pool, { name: 'one' })).id
  otherKey = (await createKey(postgres.pool, { name: 'other' })).id
})
afterEach(async () => {
  service.fail('none')
  await postgres.pool.query('DELETE FROM intent_quote')
})
afterAll(async () => {
  await service?.stop()
  await postgres?.drop()
})

const journey: Journey = {
  user: user.address.toLowerCase() as Address,
  from: {
    network: 'mainnet',
    chainId: 1,
    token: { address: `0x${'01'.repeat(20)}`, symbol: 'A', decimals: 6 },
    amount: 1_000_000n,
  },
  to: {
    network: 'base',
    chainId: 8453,
    token: { address: `0x${'02'.repeat(20)}`, symbol: 'B', decimals: 6 },
  },
  price: 1,
  least: 950_000n,
}
/** Milliseconds: of a provider that answers, and of one that a test has hang. */
const [PATIENT, HASTY] = [30_000, 300]
const connect = (timeoutMs = PATIENT) =>
  rhinestone({ baseUrl: service.url, key: 'rhinestone-key', timeoutMs })
/** As another process on the same database has it. */
const open = (patienceMs = 5_000) => createExecutor(createQuoteBook(postgres.pool), reader, { patienceMs })

async function quote(expiresAt = now() + 60) {
  const offer = await connect().quote(journey, signal)
  const id = await createQuoteBook(postgres.pool).keep({
    keyId,
    provider: 'rhinestone',
    user: journey.user,
    network: 'mainnet',
    digest: digestOf(offer.payload),
    payload: offer.payload,
    answer: offer.answer,
    reference: offer.reference,
    expiresAt,
  })
  const signature = await user.signTypedData(offer.payload as never)
  return { id, signature, reference: offer.reference }
}
const request = (signature: Hex, quoteId?: string, key = keyId, timeoutMs = PATIENT) => ({
  keyId: key,
  provider: connect(timeoutMs),
  signature,
  quoteId,
})
const stateOf = async (id: string) =>
  (await postgres.pool.query<{ state: string }>('SELECT state FROM intent_quote WHERE id = $1', [id])).rows[0]
    ?.state
const since = (before: number) => service.executions() - before

describe('a quote is executed once', () => {
  it('by fifty callers of two processes at once', async () => {
    const { id, signature, reference } = await quote()
    const before = service.executions()
    const processes = [open(), open()]
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => processes[n % 2]?.(request(signature, n % 3 ? id : undefined))),
    )
    expect(new Set(answers)).toEqual(new Set([reference]))
    expect(since(before)).toBe(1)
    expect(await open()(request(signature, id))).toBe(reference)
    expect(since(before)).toBe(1)
  })

  it('where the answer was lost after the provider acted', async () => {
    const { id, signature, reference } = await quote()
    const before = service.executions()
    service.fail('lost', /^\/intents$/)
    await expect(open()(request(signature, id))).rejects.toMatchObject({ status: 409 })
    expect([service.submitted.has(reference), await stateOf(id)]).toEqual([true, 'executing'])
    service.fail('none')
    expect(await open()(request(signature, id))).toBe(reference)
    expect(since(before)).toBe(1)
  })

  it('where the call hung and nothing was done: it is asked about, and sent again', async () => {
    const { id, signature, reference } = await quote()
    const before = service.executions()
    service.fail('hang', /^\/intents$/)
    await expect(open()(request(signature, id, keyId, HASTY))).rejects.toMatchObject({ status: 409 })
    expect(service.submitted.has(reference)).toBe(false)
    service.fail('none')
    expect(await open()(request(signature, id))).toBe(reference)
    const asked = service.calls.slice(-2).map(({ method, path }) => `${method} ${path}`)
    expect(asked).toEqual([`GET /intents/${reference}`, 'POST /intents'])
    expect(since(before)).toBe(2)
  })

  it('where the process died after it had taken it, before or after the provider acted', async () => {
    for (const acted of [false, true]) {
      const { id, signature, reference } = await quote()
      const book = createQuoteBook(postgres.pool)
      const taken = await book.take(id)
      if (!taken) throw new Error('not taken')
      if (acted) await connect().execute(taken, signature)
      const before = service.executions()
      // It is somebody's, for all that anybody knows.
      await expect(open(500)(request(signature, id))).rejects.toMatchObject({ status: 409 })
      expect(since(before)).toBe(0)
      await postgres.pool.query(
        "UPDATE intent_quote SET taken_until = now() - interval '1 second' WHERE id = $1",
        [id],
      )
      expect(await open()(request(signature, id))).toBe(reference)
      expect(since(before)).toBe(acted ? 0 : 1)
    }
  })

  it('and not at all while the provider cannot say what became of it', async () => {
    const { id, signature, reference } = await quote()
    service.fail('hang', /^\/intents$/)
    await expect(open()(request(signature, id, keyId, HASTY))).rejects.toMatchObject({ status: 409 })
    const before = service.executions()
    for (const fault of ['500', 'hang', 'shape', '429'] as const) {
      service.fail(fault)
      await expect(open()(request(signature, id, keyId, HASTY))).rejects.toMatchObject({ status: 409 })
    }
    expect(since(before)).toBe(0)
    service.fail('none')
    expect(await open()(request(signature, id))).toBe(reference)
  })

  it('of a call that certainly did nothing it is given back', async () => {
    const { id, signature, reference } = await quote()
    for (const fault of ['429', '401'] as const) {
      service.fail(fault, /^\/intents$/)
      await expect(open()(request(signature, id))).rejects.toMatchObject({ status: 503 })
      expect(await stateOf(id)).toBe('quoted')
    }
    service.fail('none')
    expect(await open()(request(signature, id))).toBe(reference)
  })

  it('also where the provider says that it has it already', async () => {
    const { id, signature, reference } = await quote()
    const book = createQuoteBook(postgres.pool)
    const taken = await book.take(id)
    if (!taken) throw new Error('not taken')
    await connect().execute(taken, signature)
    await book.giveBack(id)
    expect(await open()(request(signature, id))).toBe(reference)
  })
})

describe('a quote is refused', () => {
  it('when it has expired, without a call', async () => {
    const { id, signature } = await quote(now() - 1)
    const before = service.calls.length
    await expect(open()(request(signature, id))).rejects.toMatchObject({ status: 422, message: /expired/ })
    await expect(open()(request(signature))).rejects.toMatchObject({ status: 422 })
    expect(service.calls.length).toBe(before)
  })

  it('when it expired while nobody knew what became of it, and nothing had', async () => {
    const { id, signature } = await quote()
    await createQuoteBook(postgres.pool).take(id)
    await postgres.pool.query(
      "UPDATE intent_quote SET taken_until = now() - interval '1 second', expires_at = now() - interval '1 second' WHERE id = $1",
      [id],
    )
    const before = service.executions()
    await expect(open()(request(signature, id))).rejects.toMatchObject({ status: 422, message: /expired/ })
    expect([since(before), await stateOf(id)]).toEqual([0, 'quoted'])
  })

  it('to another key, and as that of another provider', async () => {
    const { id, signature } = await quote()
    await expect(open()(request(signature, id, otherKey))).rejects.toMatchObject({ status: 404 })
    await expect(open()(request(signature, undefined, otherKey))).rejects.toMatchObject({ status: 422 })
    const other = { ...connect(), name: 'biconomy' }
    await expect(open()({ ...request(signature, id), provider: other })).rejects.toMatchObject({
      status: 404,
    })
  })

  it('where the signature is of several', async () => {
    const { id, signature } = await quote()
    await postgres.pool.query(
      `INSERT INTO intent_quote SELECT 'another', api_key_id, provider, user_address, network, digest, offer, expires_at FROM intent_quote WHERE id = $1`,
      [id],
    )
    await expect(open()(request(signature))).rejects.toMatchObject({ status: 422, message: /several/ })
  })

  it('takes a signature whose last byte is 0 or 1, and hands on what contracts take', async () => {
    const { id, signature, reference } = await quote()
    const bare = `${signature.slice(0, -2)}${signature.endsWith('1b') ? '00' : '01'}` as Hex
    expect(await open()(request(bare, id))).toBe(reference)
    expect(service.submitted.get(reference)?.signatures).toEqual({
      origin: [signature],
      destination: signature,
    })
  })
})
