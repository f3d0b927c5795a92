import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readEnv } from '../../../db/process/env.ts'
import { ProviderFault, toldOf } from '../../../read-api/intents/errors.ts'
import { createOutside } from '../../../read-api/intents/outside.ts'
import { type Fault, type Loopback, startLoopback } from './loopback.ts'

const KEY = 'a-key-of-ours'
let loopback: Loopback | undefined
afterEach(() => loopback?.stop())

async function open(fault: Fault) {
  loopback = await startLoopback(() => ({ status: 200, body: { id: 7, more: true } }))
  loopback.fail(fault)
  return createOutside({
    name: 'somebody',
    baseUrl: loopback.url,
    headers: { 'x-api-key': KEY },
    // Only what hangs is waited for to the end: a busy machine takes its time for a long answer.
    timeoutMs: fault === 'hang' ? 300 : 20_000,
  })
}
const answer = z.object({ id: z.number() })
const faultOf = async (fault: Fault): Promise<ProviderFault> => {
  const { ask } = await open(fault)
  const error: unknown = await ask({ path: '/', answer, body: {} }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(ProviderFault)
  return error as ProviderFault
}

describe('an outside service', () => {
  it('is asked with its key, and its answer is parsed', async () => {
    const { ask } = await open('none')
    expect(await ask({ path: '/x', answer })).toEqual({ value: { id: 7 }, raw: { id: 7, more: true } })
    expect(loopback?.calls[0]).toMatchObject({ method: 'GET', path: '/x', headers: { 'x-api-key': KEY } })
  })

  it.each<[Fault, string, string, boolean, number]>([
    ['429', 'limited', 'TOO_MANY_REQUESTS', false, 503],
    ['500', 'fault', 'INTERNAL_ERROR', true, 503],
    ['401', 'key', 'UNAUTHORIZED', false, 503],
    ['hang', 'fault', 'TIMEOUT', true, 503],
    ['shape', 'fault', 'MALFORMED_ANSWER', true, 503],
    ['text', 'fault', 'MALFORMED_ANSWER', true, 503],
    ['long', 'fault', 'ANSWER_TOO_LONG', true, 503],
    ['lost', 'fault', 'UNREACHABLE', true, 503],
    ['redirect', 'fault', 'HTTP_302', true, 503],
  ])('%s is a fault of the kind %s: %s', async (fault, kind, code, mayHaveActed, status) => {
    const error = await faultOf(fault)
    expect([error.kind, error.fault, error.mayHaveActed]).toEqual([kind, code, mayHaveActed])
    const told = toldOf(error) as { status: number; message: string; retryAfter: number }
    expect(told.status).toBe(status)
    expect(told.retryAfter).toBe(fault === '429' ? 17 : 5)
    // Neither their words nor our key.
    expect(`${told.message} ${String(error.cause)}`).not.toMatch(/secret of theirs|a-key-of-ours/)
  })

  it('that nobody listens for has certainly done nothing', async () => {
    const { url, stop } = await startLoopback(() => ({ status: 200, body: {} }))
    await stop()
    const { ask } = createOutside({ name: 'nobody', baseUrl: url, headers: {} })
    const error: unknown = await ask({ path: '/', answer }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ fault: 'UNREACHABLE', mayHaveActed: false })
  })

  it('that refuses is told of with 422 and its code alone', async () => {
    loopback = await startLoopback(() => {
      throw new Error('a secret of theirs')
    })
    const { ask, find } = createOutside({ name: 'somebody', baseUrl: loopback.url, headers: {} })
    const error: unknown = await ask({ path: '/', answer }).catch(toldOf)
    expect(error).toMatchObject({
      status: 422,
      message: 'somebody does not take this request: VALIDATION_ERROR.',
    })
    await expect(find({ path: '/', answer })).rejects.toThrow('VALIDATION_ERROR')
  })

  it('is left when the caller leaves', async () => {
    const { ask } = await open('hang')
    const leaving = new AbortController()
    const asked = ask({ path: '/', answer, signal: leaving.signal })
    leaving.abort(new Error('left'))
    await expect(asked).rejects.toThrow('left')
  })
})

describe('the settings', () => {
  it.each(['BICONOMY_URL', 'BICONOMY_EXPLORER_URL', 'RHINESTONE_URL'])(
    '%s is https, but on this machine',
    name => {
      expect(() => readEnv({ [name]: 'http://provider.example' })).toThrow('https://')
      expect(readEnv({ [name]: 'http://127.0.0.1:9' })).toMatchObject({ [name]: 'http://127.0.0.1:9' })
      expect(readEnv({ [name]: 'https://provider.example' })).toMatchObject({
        [name]: 'https://provider.example',
      })
    },
  )

  it.each(['BICONOMY_KEY', 'RHINESTONE_KEY'])('%s goes into a header', name => {
    expect(() => readEnv({ [name]: 'two words' })).toThrow(name)
  })
})
