import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { rewindChain } from '../../db/events/rewind.ts'
import { loadProjections } from '../../jobs/projection.ts'
import { catchUpAll } from '../../jobs/work.ts'
import { type ApiHarness, startApi } from './harness.ts'
import * as p from './portfolio-world.ts'

/**
 * Heads of balances may be ahead of the moment that the catalogue stands at: answers are of the moment. Base has the same
 * vaults at the same addresses, and less of their history.
 */

const OPTIMISM = 10
const BASE = 8453
const wallets = p.makePortfolioWorld(20_250_101)
const { heldAfter } = p.bookOf(wallets)
const onBase = wallets.blocks.slice(0, Math.ceil(wallets.blocks.length / 2))
const END = Number.MAX_SAFE_INTEGER
let api: ApiHarness

beforeAll(async () => {
  api = await startApi()
  await api.append(OPTIMISM, 'optimism', wallets.blocks)
  await api.append(BASE, 'base', onBase)
  await api.catchUp()
}, 120_000)
afterAll(() => api?.stop())

async function get(path: string) {
  const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

it('balances at any moment are those of each chain, also where vaults of two chains have one address', async () => {
  const endOfBase = onBase.at(-1)?.block.number ?? 0
  const blockBy = (at: number) =>
    wallets.blocks.findLast(({ block }) => block.timestamp <= at)?.block.number ?? 0
  const moments = wallets.blocks
    .map(({ block }) => block.timestamp)
    .filter((_, i) => i % Math.ceil(wallets.blocks.length / 8) === 0)
  const ends = [onBase, wallets.blocks].map(blocks => blocks.at(-1)?.block.timestamp ?? 0)
  let compared = 0
  for (const at of [...moments, ...ends])
    for (const wallet of p.WALLETS) {
      const { data } = await get(`/alpha/historical-balances/${wallet}/${at}`)
      const answered = data.map(
        (row: { network: { name: string }; address: string; lpToken: { balanceNative: string } }) =>
          `${row.network.name} ${row.address.toLowerCase()} ${row.lpToken.balanceNative}`,
      )
      const expected = wallets.vaults.flatMap(model =>
        [
          ['optimism', heldAfter(model, wallet, blockBy(at))] as const,
          ['base', heldAfter(model, wallet, Math.min(blockBy(at), endOfBase))] as const,
        ].flatMap(([network, held]) => (held > 0n ? [`${network} ${model.vault} ${held}`] : [])),
      )
      expect(answered.sort()).toEqual(expected.sort())
      compared += expected.length
    }
  expect(compared).toBeGreaterThan(50)
})

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
    const listed = data.find(
      ({ address, network }: { address: string; network: { name: string } }) =>
        address.toLowerCase() === model.vault && network.name === 'optimism',
    )
    expect(listed.lpToken).toEqual(one.lpToken)
    const { returnsNative } = await get(`/v2/portfolio/total-returns/${from}/optimism/${model.vault}`)
    const holders = await get(`/alpha/optimism/${model.vault}/holders?perPage=50`)
    const beyond = await get(`/alpha/optimism/${model.vault}/holders?perPage=50&page=1000`)
    expect(beyond.data).toEqual([])
    const flows = await get(
      `/alpha/historical/optimism/${model.vault}/daily-flows?fromDate=${dateOf(last.timestamp - 5 * 86_400)}&toDate=${dateOf(last.timestamp + 86_400)}`,
    )
    const { data: then } = await get(`/alpha/historical-balances/${from}/${last.timestamp}`)
    const past = then.find(
      ({ address, network }: { address: string; network: { name: string } }) =>
        address.toLowerCase() === model.vault && network.name === 'optimism',
    )
    expect(past.lpToken.balanceNative).toBe(String(heldAfter(model, from, END)))
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
