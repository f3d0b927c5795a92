import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { unignoreContract } from '../../db/registry/ignored.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { BOB, ETH_VAULT, makeWorld, seed } from './world.ts'

let api: ApiHarness
beforeAll(async () => {
  api = await startApi()
  await seed(api, makeWorld())
})
afterAll(() => api?.stop())

it('a vault that is ignored is served nowhere, and back when it is not ignored any more', async () => {
  const get = async (path: string) => {
    const { status, body } = await request(api.app).get(path).set('x-api-key', api.apiKey)
    return { status, text: JSON.stringify(body).toLowerCase() }
  }
  const answers = async () => ({
    one: (await get(`/v2/detailed-vaults/mainnet/${ETH_VAULT}`)).status,
    list: (await get('/v2/detailed-vaults')).text.includes(ETH_VAULT),
    portfolio: (await get(`/v2/portfolio/positions/${BOB}`)).text.includes(ETH_VAULT),
    history: (await get(`/v2/historical/mainnet/${ETH_VAULT}`)).status,
    rows: (
      await api.house.query<{ vault: string }>('test', 'SELECT vault FROM vaults WHERE vault = {v:String}', {
        v: ETH_VAULT,
      })
    ).length,
  })
  const served = { one: 200, list: true, portfolio: true, history: 200, rows: 1 }
  expect(await answers()).toEqual(served)
  const fact = { subject: `contract:1:${ETH_VAULT}`, kind: 'ignored', value: { by: 'command' } }
  await api.recordFacts([fact], 2_000_000_000)
  await api.catchUp()
  expect(await answers()).toEqual({ one: 404, list: false, portfolio: false, history: 404, rows: 0 })
  await unignoreContract(api.pool, 1, ETH_VAULT)
  await api.catchUp()
  expect(await answers()).toEqual(served)
})
