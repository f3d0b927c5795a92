import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address, Hex, LocalAccount } from 'viem'
import { expect } from 'vitest'
import type { z } from 'zod'
import { keyCodeOf } from '../../db/attribution.ts'
import { BundleShape, ContextShape } from '../../read-api/transactions/schemas.ts'
import type { ApiHarness } from './harness.ts'
import type { Stage } from './transactions/stage.ts'

/** The API over HTTP, and a caller who does what it hands out. */
export async function serve(api: ApiHarness) {
  const server = createServer(api.app)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const keyCode = (await api.deps.verifyKey(api.apiKey))?.code

  async function get<S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> {
    const response = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': api.apiKey } })
    const body: unknown = await response.json()
    expect(response.status, JSON.stringify(body)).toBe(200)
    return schema.parse(body)
  }

  const contextOf = (user: LocalAccount, vault: Address) =>
    get(`/v2/transactions/context/${user.address}/mainnet/${vault}`, ContextShape)

  return {
    baseUrl,
    get,
    contextOf,
    /** Follows the actionsUrl of the context's step, signs and sends what is left to do. */
    async act(stage: Stage, user: LocalAccount, vault: Address, step: string, wish = '') {
      const { depositSteps, redeemSteps, rewards } = await contextOf(user, vault)
      const steps = [...depositSteps, ...redeemSteps, ...(rewards?.steps ?? [])]
      const url = steps.find(({ name }) => name === step)?.actionsUrl
      const { actions, currentActionIndex } = await get(`${url}${wish && `&${wish}`}`, BundleShape)
      for (const { tx } of actions.slice(currentActionIndex)) {
        const data = (tx.data ?? '0x') as Hex
        expect(keyCodeOf(data)).toBe(keyCode)
        const { landed } = await stage.sign(user, { ...tx, to: tx.to as Address, data })
        expect(landed, step).toBe(true)
      }
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type Served = Awaited<ReturnType<typeof serve>>
