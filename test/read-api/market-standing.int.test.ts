import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { MORPHO_MARKET, MORPHO_PARAMS } from './lending-world.ts'
import * as w from './world.ts'

/** Of the markets of lending-world.ts nobody vouches for that of Morpho, and nobody for the vault that lends in Euler's. */

const LENDER = w.ETH_VAULT
const EULER = `${LENDER}-${w.USD_VAULT}`
let api: ApiHarness
let append: ReturnType<typeof w.laterBlocks>
beforeAll(async () => {
  api = await startApi({ strangers: [MORPHO_MARKET, LENDER] })
  const world = w.makeWorld()
  await w.seed(api, world)
  append = w.laterBlocks(api, world)
})
afterAll(() => api?.stop())

async function ask(path: string, status = 200) {
  const answer = await request(api.app).get(`/beta/borrow${path}`).set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(status)
  return answer
}
type Shown = { marketId: string; standing: string; warnings?: string[] }
const idsOf = ({ body }: { body: { data: Shown[] } }) =>
  body.data.map(({ marketId }) => marketId.toLowerCase())
const standingOf = async (market: string) => {
  const { standing, warnings } = (await ask(`/markets/mainnet/${market}`)).body as Shown
  return { standing, isWarned: warnings?.[0]?.startsWith('Nobody vouches') ?? false }
}
const record = async (subject: string, kind: string) => {
  await api.recordFacts([{ subject, kind, value: {} }], w.START + 900 * w.HOUR)
  await api.catchUp()
}

it('lists leave out what nobody vouches for, and count it; a single market answers with a warning', async () => {
  for (const list of ['/markets', '/markets/mainnet']) {
    const answer = await ask(list)
    expect(answer.body.data.map((of: { protocol: { name: string } }) => of.protocol.name)).toEqual([
      'aave',
      'compound',
    ])
    expect(answer.headers['x-unlisted-left-out']).toBe('2')
    expect(idsOf(await ask(`${list}?allowUnlisted=true`))).toEqual(
      expect.arrayContaining([MORPHO_MARKET, EULER]),
    )
  }
  const empty = await ask('/markets?allowedProtocols=morpho')
  expect(empty.body.data).toEqual([])
  expect(empty.body.warnings).toEqual([expect.stringMatching(/^1 market for which nobody vouches/)])
  for (const market of [MORPHO_MARKET, EULER])
    expect(await standingOf(market)).toEqual({ standing: 'found', isWarned: true })
})

it('a debt in such a market is shown, with the warning', async () => {
  const { data } = (await ask(`/portfolio/positions/${w.ALICE}`)).body
  const own = data.find((of: Shown) => of.marketId === MORPHO_MARKET)
  expect(own.warnings).toEqual([expect.stringContaining('Nobody vouches for this market')])
  expect(data.filter((of: Shown) => of.marketId !== MORPHO_MARKET && of.warnings)).toEqual([])
})

it('to supply there wants the word; the refusal names it', async () => {
  const path = `/markets/transactions/supply/${w.ALICE}/mainnet/${MORPHO_MARKET}/${w.USD_ASSET}-loan?amount=5`
  expect((await ask(path, 422)).body.message).toContain('allowUnlisted=true')
  // No chain is here: it would have been prepared.
  expect((await ask(`${path}&allowUnlisted=true`, 503)).body.message).not.toContain('Nobody vouches')
})

it('an oracle that the registry vouches for makes a market of known assets known', async () => {
  await record(`contract:1:${MORPHO_PARAMS.oracle}`, 'oracle')
  expect(await standingOf(MORPHO_MARKET)).toEqual({ standing: 'made', isWarned: false })
  expect(idsOf(await ask('/markets'))).toContain(MORPHO_MARKET)
})

it('a cap of a listed vault’s curator lists a market, one of a stranger’s vault does not', async () => {
  const cap = (contract: string, amount: bigint) =>
    ({
      type: 'CapChanged',
      contract,
      data: { kind: 'supply', cap: amount, market: MORPHO_MARKET },
    }) as DomainEvent
  await append([cap(LENDER, 5n)])
  expect((await standingOf(MORPHO_MARKET)).standing).toBe('made')
  await append([cap(w.USD_VAULT, 5n)])
  expect((await standingOf(MORPHO_MARKET)).standing).toBe('listed')
  await append([cap(w.USD_VAULT, 0n)])
  expect((await standingOf(MORPHO_MARKET)).standing).toBe('made')
})

it('the registry lists markets, and vaults that lend', async () => {
  await record(`market:1:${MORPHO_MARKET.toUpperCase().replace('0X', '0x')}`, 'listed')
  expect((await standingOf(MORPHO_MARKET)).standing).toBe('listed')
  await record(`market:1:${EULER}`, 'listed')
  expect(await standingOf(EULER)).toEqual({ standing: 'listed', isWarned: false })
  expect((await ask('/markets')).headers['x-unlisted-left-out']).toBe('0')
})
