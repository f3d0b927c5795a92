import request from 'supertest'
import { expect } from 'vitest'
import type { ApiHarness } from './harness.ts'

/** Asks an API with its key; answers of another status than expected are told whole. */
export function asking(api: () => ApiHarness) {
  const ask = async (path: string, status = 200) => {
    const { app, apiKey } = api()
    const answer = await request(app).get(path).set('x-api-key', apiKey)
    expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBe(status)
    return answer
  }
  return { ask, get: async (path: string) => (await ask(path)).body }
}
