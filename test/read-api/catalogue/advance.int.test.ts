import type { ClickHouseClient } from '@clickhouse/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { type CatalogueKeeper, createCatalogueKeeper } from '../../../read-api/catalogue/keeper.ts'
import { type ApiHarness, startApi } from '../harness.ts'

/** How the catalogue of a process is brought forward: chain by chain, and what is behind vaults that nobody listed. */

const START = 1_735_689_600
const ZERO = `0x${'0'.repeat(40)}`
const ASSET = `0x${'a5'.repeat(20)}`
const MORPHO = `0x${'b1'.repeat(20)}`
const LISTED = `0x${'1d'.repeat(20)}`
/** More than are read by name. */
const FOUND = Array.from({ length: 210 }, (_, n) => `0x${(n + 0xf0_0000).toString(16).padStart(40, '0')}`)
const sharesOf = (vault: string) => BigInt(FOUND.indexOf(vault) + 1) * 10n ** 18n
const mainnet = { id: 1, name: 'mainnet' }
const base = { id: 8453, name: 'base' }

const discovered = (vault: string): DomainEvent => ({
  type: 'VaultDiscovered',
  contract: vault,
  data: {
    vault,
    protocol: 'erc-4626',
    name: 'A vault',
    symbol: 'V',
    decimals: 18,
    asset: ASSET,
    assetName: 'Asset',
    assetSymbol: 'A',
    assetDecimals: 6,
  },
})
const sampled = (vault: string): DomainEvent => ({
  type: 'StateSampled',
  contract: vault,
  data: {
    vault,
    reason: 'hourly',
    totalAssets: 10n ** 12n,
    totalSupply: 10n ** 24n,
    sharePrice: 10n ** 6n,
    idleAssets: 0n,
    decimals: 18,
    assetDecimals: 6,
  },
})
const minted = (to: string, logIndex: number): DomainEvent => ({
  type: 'ShareTransferred',
  contract: LISTED,
  transactionHash: `0x${'7'.repeat(64)}`,
  logIndex,
  data: { from: ZERO, to, shares: sharesOf(to) },
})
const MARKET = `0x${'e7'.repeat(32)}`
const LENDER = FOUND[7] ?? ''
/** As much as is in the market, which so far has no interest. */
const LENT = 10n ** 9n
const lent = (logIndex: number): DomainEvent[] => [
  {
    type: 'MarketCreated',
    protocol: 'morpho-blue',
    contract: MORPHO,
    transactionHash: `0x${'7'.repeat(64)}`,
    logIndex,
    data: {
      market: MARKET,
      loanAsset: ASSET,
      collateralAsset: LISTED,
      oracle: ZERO,
      irm: ZERO,
      lltvWad: 9n * 10n ** 17n,
    },
  },
  {
    type: 'Supplied',
    protocol: 'morpho-blue',
    contract: MORPHO,
    transactionHash: `0x${'7'.repeat(64)}`,
    logIndex: logIndex + 1,
    data: { market: MARKET, sender: LENDER, onBehalf: LENDER, assets: LENT, shares: LENT * 1_000_000n },
  },
]
const block = (number: number, events: DomainEvent[]): BlockEvents => ({
  block: { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp: START + 12 * number },
  events,
})

let api: ApiHarness
beforeAll(async () => {
  api = await startApi({ strangers: FOUND })
})
afterAll(() => api?.stop())

it('knows what is behind vaults that nobody listed, whether a few of them moved or all', async () => {
  const [some, others] = [FOUND.slice(0, 150), FOUND.slice(150)]
  const arrive = (vaults: string[]) =>
    vaults.flatMap((vault, n) => [discovered(vault), minted(vault, n), sampled(vault)])
  await api.append(mainnet.id, mainnet.name, [
    block(1, [discovered(LISTED), sampled(LISTED), ...lent(1_000), ...arrive(some)]),
  ])
  await api.catchUp()
  await api.append(mainnet.id, mainnet.name, [block(2, arrive(others))])
  await api.catchUp()
  const anew = createCatalogueKeeper(api.pool, api.clickhouse)
  await anew.refresh()
  const known = (keeper: CatalogueKeeper) =>
    FOUND.map(vault => keeper.current().find(mainnet.id, vault)?.state.elsewhere)
  expect(known(api.catalogue)).toEqual(
    FOUND.map(vault => ({
      shares: [[LISTED, sharesOf(vault)]],
      lent: vault === LENDER ? [[MARKET, LENT]] : [],
    })),
  )
  expect(known(anew)).toEqual(known(api.catalogue))
})

it('serves a chain that has been read while another is still being read', async () => {
  await api.append(base.id, base.name, [block(1, [discovered(LISTED), sampled(LISTED)])])
  await api.catchUp()
  const { client, hold, letGo } = holding(api.clickhouse, mainnet.id)
  const keeper = createCatalogueKeeper(api.pool, client)
  await keeper.refresh()
  const places = () => [mainnet, base].map(({ id }) => keeper.current().chain(id)?.blockNumber)
  expect(places()).toEqual([2, 1])

  await api.append(base.id, base.name, [block(2, [sampled(LISTED)])])
  await api.append(mainnet.id, mainnet.name, [block(3, FOUND.map(sampled))])
  await api.catchUp()
  hold()
  const refreshed = keeper.refresh()
  await expect.poll(places).toEqual([2, 2])
  letGo()
  await refreshed
  expect(places()).toEqual([3, 2])
})

/** A client whose questions about a chain wait while they are held. */
function holding(of: ClickHouseClient, chain: number) {
  let gate = Promise.resolve()
  let letGo = () => {}
  const client = new Proxy(of, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'query') return value.bind(target)
      return async (asked: Parameters<ClickHouseClient['query']>[0]) => {
        if (asked.query_params?.['chain'] === chain) await gate
        return target.query(asked)
      }
    },
  })
  return {
    client,
    hold() {
      const { promise, resolve } = withResolvers()
      gate = promise
      letGo = resolve
    },
    letGo: () => letGo(),
  }
}

function withResolvers() {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}
