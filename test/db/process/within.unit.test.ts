import { expect, test, vi } from 'vitest'
import { within } from '../../../db/process/within.ts'

const never = new Promise<never>(() => {})

test('gives what the work gives, and leaves its signal alone', async () => {
  let heard: AbortSignal | undefined
  const late = vi.fn()
  const given = await within(
    { ms: 60_000 },
    async signal => {
      heard = signal
      return undefined
    },
    late,
  )
  expect(given).toBeUndefined()
  expect(heard?.aborted).toBe(false)
  expect(late).not.toHaveBeenCalled()
})

test('late: the work hears of it, and fails at nobody', async () => {
  let heard: AbortSignal | undefined
  const work = (signal: AbortSignal) => {
    heard = signal
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('unheard')))
    })
  }
  expect(await within({ ms: 1 }, work, () => 'late')).toBe('late')
  expect(heard?.aborted).toBe(true)
  await expect(
    within(
      { ms: 1 },
      () => never,
      () => {
        throw new Error('too late')
      },
    ),
  ).rejects.toThrow('too late')
})

test('whoever waits may go before: then it is late at once', async () => {
  const gone = new AbortController()
  const waiting = within(
    { ms: 60_000, signal: gone.signal },
    () => never,
    () => 'gone',
  )
  gone.abort()
  expect(await waiting).toBe('gone')
  expect(
    await within(
      { ms: 60_000, signal: gone.signal },
      () => never,
      () => 'gone',
    ),
  ).toBe('gone')
})

test('the work fails as it does', async () => {
  await expect(
    within(
      { ms: 60_000 },
      () => Promise.reject(new Error('broken')),
      () => 'late',
    ),
  ).rejects.toThrow('broken')
})
