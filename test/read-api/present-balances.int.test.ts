import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rewindChain } from '../../db/events/rewind.ts'
import { loadProjections } from '../../jobs/projection.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { type ApiHarness, startApi } from './harness.ts'
import * as p from './portfolio-world.ts'

/** Heads of balances may be ahead of the moment that the catalogue stands at: answers are of the moment. */

const OPTIMISM = 10
const wallets = p.makePortfolioWorld(20_250_101)
const { heldAfter } = p.bookOf(wallets)
const END = Number.MAX_SAFE_INTEGER
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await api.append(OPTIMISM, 'optimism', wallets.blocks)
  await api.catchUp()
}, 120_000)
afterAll(() => api?.stop())

async function get(path: string) {
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

it('positions, returns, holders and flows are those of the catalogue’s moment, also after a retraction', async () => {
  const projections = await loadProjections()
  const forward = () => catchUpAll({ pool: api.pool, clickhouse: api.clickhouse, projections })
  const [model] = wallets.vaults as [p.Modelled]
  const last = wallets.blocks.at(-1)?.block as { number: number; timestamp: number }
  const dateOf = (time: number) => new Date(time * 1000).toISOString().slice(0, 10)
  const from = p.WALLETS.find(wallet => heldAfter(model, wallet, END) > 1n) as string
  const held = async () => {
    const path = `/v2/portfolio/positions/${from}`
    const one = await get(`${path}/optimism/${model.vault}`)
    const { data } = await get(path)
    const listed = data.find(({ address }: { address: string }) => address.toLowerCase() === model.vault)
    expect(listed.lpToken).toEqual(one.lpToken)
    const { returnsNative } = await get(`/v2/portfolio/total-returns/${from}/optimism/${model.vault}`)
    const holders = await get(`/alpha/optimism/${model.vault}/holders?perPage=50`)
    const beyond = await get(`/alpha/optimism/${model.vault}/holders?perPage=50&page=1000`)
    expect(beyond.data).toEqual([])
    const flows = await get(
      `/alpha/historical/optimism/${model.vault}/daily-flows?fromDate=${dateOf(last.timestamp - 5 * 86_400)}&toDate=${dateOf(last.timestamp + 86_400)}`,
    )
    return [one.lpToken.balanceNative, returnsNative, holders, flows]
  }
  const before = await held()
  expect(before[0]).toBe(String(heldAfter(model, from, END)))

  const block = { number: last.number + 1, hash: `0x${'9'.repeat(64)}`, timestamp: last.timestamp + 12 }
  await api.append(OPTIMISM, 'optimism', [
    {
      block,
      events: [
        {
          type: 'ShareTransferred',
          contract: model.vault,
          transactionHash: `0x${'8'.repeat(64)}`,
          logIndex: 0,
          data: { from, to: p.numbered('fe', 1), shares: 1n },
        },
        {
          type: 'Deposited',
          contract: model.vault,
          transactionHash: `0x${'8'.repeat(64)}`,
          logIndex: 1,
          data: { sender: from, owner: from, assets: 7n, shares: 7n, ledger: 'transfer' },
        },
      ],
    },
  ])
  await forward()
  expect(await held()).toEqual(before)
  await api.catalogue.refresh()
  const after = await held()
  expect(after[0]).toBe(String(heldAfter(model, from, END) - 1n))
  const depositsOf = (answer: typeof after) => BigInt(answer[3].data.at(-1).totalDeposits)
  expect(depositsOf(after)).toBe(depositsOf(before) + 7n)

  await rewindChain(api.pool, OPTIMISM, 'optimism', last.number)
  await forward()
  expect(await held()).toEqual(after)
  await api.catalogue.refresh()
  expect(await held()).toEqual(before)
})
