import { z } from 'zod'
import type { ClickHouse } from '../../db/clickhouse/client.ts'
import { worthAt } from '../amm/worth.ts'
import { figuresAt } from '../pendle/figures.ts'
import { balanceOf } from '../pendle/world.ts'
import type { DemoLiquidity } from './demo-amm.ts'
import type { DemoBridge, Get } from './demo-bridge.ts'
import type { DemoFile } from './demo-facts.ts'
import type { DemoMarkets } from './demo-pendle.ts'
import type { DemoSolana } from './demo-solana.ts'
import type { Guests } from './guests.ts'
import type { Node } from './node.ts'
import type { Scenario } from './scenario.ts'
import { balancesOf, vaultView } from './views.ts'

const listSchema = z.object({ data: z.array(z.object({ address: z.string() })) })
const vaultSchema = z.object({
  tvl: z.object({ native: z.string() }),
  holdersData: z.object({ totalBalance: z.string() }),
})
const seriesSchema = z.object({
  data: z.array(z.object({ timestamp: z.number(), blockNumber: z.string(), sharePrice: z.number() })),
})
const balancesSchema = z.object({
  data: z.array(z.object({ address: z.string(), lpToken: z.object({ balanceNative: z.string() }) })),
})

/** What there is to be compared. */
interface Lived {
  scenario: Scenario
  guests: Guests
  markets: DemoMarkets
  liquidity: DemoLiquidity
  solana: DemoSolana
  bridge: DemoBridge
  clickhouse: ClickHouse
}

type Compare = (what: string, found: unknown, expected: unknown) => void

/** Requests to the demo's API, by its key. */
export function asking({ baseUrl, apiKey }: Pick<DemoFile, 'baseUrl' | 'apiKey'>): Get {
  return async path => {
    const answer = await fetch(`${baseUrl}${path}`, { headers: { 'x-api-key': apiKey } })
    if (!answer.ok) throw new TypeError(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
}

/**
 * Asks the running API for what it serves and the contracts for what is true: current total assets and supply, share
 * prices, and every holder's balance at every checkpoint. Gives the number of differences.
 */
export async function checkDemo(
  node: Node,
  { scenario, guests, markets, liquidity, solana, bridge, clickhouse }: Lived,
  file: DemoFile,
  say: (text: string) => void,
): Promise<number> {
  const { vaults: played, holders: players, checkpoints } = scenario
  const get = asking(file)
  const all = [...played, ...guests.vaults]
  const holders = [...players, ...guests.vaults.map(({ address }) => address)]
  const wrong: string[] = []
  let compared = 0
  const compare = (what: string, found: unknown, expected: unknown) => {
    compared++
    if (String(found) !== String(expected)) wrong.push(`${what}: API says ${found}, the contract ${expected}`)
  }

  const { data: listed } = listSchema.parse(await get('/v2/vaults?perPage=100&allowCorrupted=true'))
  const addresses = (list: readonly string[]) => list.map(address => address.toLowerCase()).sort()
  compare(
    'the vaults that somebody vouches for',
    addresses(listed.map(({ address }) => address)),
    addresses(file.vaults.map(({ vaultId }) => vaultId)),
  )
  for (const vault of all) {
    const detailed = vaultSchema.parse(await get(`/v2/detailed-vaults/mainnet/${vault.address}`))
    const view = await vaultView(node, vault)
    compare(`${vault.symbol} total supply`, detailed.holdersData.totalBalance, view.totalSupply)
    const series = seriesSchema.parse(
      await get(`/v2/historical/mainnet/${vault.address}/sharePrice?granularity=1day&perPage=400`),
    )
    for (const point of series.data.filter((_, i) => i % 7 === 0 || i === series.data.length - 1)) {
      const then = await vaultView(node, vault, Number(point.blockNumber))
      const price = Number(then.sharePrice) / 10 ** vault.asset.decimals
      compare(
        `${vault.symbol} share price at block ${point.blockNumber}`,
        isSameFloat(point.sharePrice, price) ? price : point.sharePrice,
        price,
      )
    }
  }

  for (const { name, block, timestamp } of checkpoints) {
    const vaults = all.filter(vault => vault.deployedBlock <= block)
    const expected = new Map<string, Map<string, bigint>>()
    for (const vault of vaults)
      expected.set(vault.address, await balancesOf(node, vault.address, holders, block))
    for (const holder of holders) {
      const { data } = balancesSchema.parse(
        await get(`/alpha/historical-balances/${holder}/${timestamp}?allowUnlisted=true&allowCorrupted=true`),
      )
      const held = new Map(
        data.map(position => [position.address.toLowerCase(), position.lpToken.balanceNative]),
      )
      for (const vault of vaults) {
        const balance = expected.get(vault.address)?.get(holder) ?? 0n
        compare(
          `${vault.symbol} of ${holder} ${name} (block ${block})`,
          held.get(vault.address) ?? '0',
          balance,
        )
      }
    }
  }
  await compareMarkets(node, markets, clickhouse, get, compare)
  await compareLiquidity(node, liquidity, clickhouse, get, compare)
  await compareSolana(solana, get, compare)
  await bridge.compare(get, compare)
  for (const line of wrong.slice(0, 20)) say(line)
  say(`\n${compared} figures compared with the contracts' own view functions, ${wrong.length} differ.`)
  return wrong.length
}

const amountsSchema = z.object({ native: z.string() })
const marketSchema = z.object({ tvl: amountsSchema, liquidity: amountsSchema, apy: z.number() })
const marketsSchema = z.object({ data: z.array(z.object({ vaultId: z.string() })) })

/** Of an exponential that is taken in floats. */
const APY_TOLERANCE = 1e-12

/** Fixed-term markets by Pendle's own contracts and library, at the block of the last state; PT of everybody at the head. */
async function compareMarkets(
  node: Node,
  { short, long, holders }: DemoMarkets,
  clickhouse: ClickHouse,
  get: Get,
  compare: Compare,
): Promise<void> {
  const { data: running } = marketsSchema.parse(await get('/beta/fixed-term'))
  compare(
    'fixed-term markets that run',
    running.map(({ vaultId }) => vaultId.toLowerCase()),
    long.market,
  )
  const { timestamp } = await node.head()
  for (const market of [short, long]) {
    const shown = marketSchema.parse(await get(`/beta/fixed-term/detailed/mainnet/${market.market}`))
    const [last] = await clickhouse.query<{ block: number }>(
      'demo',
      'SELECT toUInt32(max(block_number)) AS block FROM fixed_term_state WHERE market = {market:String}',
      { market: market.market },
    )
    const then = await figuresAt(node, market, last?.block ?? 0, timestamp)
    const { symbol } = market.pt
    compare(`liquidity of ${symbol}`, shown.liquidity.native, then.liquidity)
    compare(`tvl of ${symbol}`, shown.tvl.native, then.tvl)
    const apy = Math.abs(shown.apy - then.apy) < APY_TOLERANCE ? then.apy : shown.apy
    compare(`apy of ${symbol}`, apy, then.apy)
    const held = await clickhouse.query<{ holder: string; balance: string }>(
      'demo',
      'SELECT holder, toString(balance_raw) AS balance FROM pt_holders WHERE pt = {pt:String}',
      { pt: market.pt.address },
    )
    const balances = new Map(held.map(({ holder, balance }) => [holder, balance]))
    for (const account of [...holders, market.market, market.yt]) {
      const balance = await balanceOf(node, market.pt.address, account)
      compare(`${symbol} of ${account}`, balances.get(account.toLowerCase()) ?? '0', balance)
    }
  }
}

const deepSchema = z.object({
  asset0: z.object({ balanceInVault: z.string() }),
  asset1: z.object({ balanceInVault: z.string() }),
  totalSupply: z.string(),
  tvl: amountsSchema,
  userBalance: z.string(),
})

/** The vault of liquidity by its contract and Uniswap's SDK, at the block at which it was read; shares of everybody at the head. */
async function compareLiquidity(
  node: Node,
  { vault, holders }: DemoLiquidity,
  clickhouse: ClickHouse,
  get: Get,
  compare: Compare,
): Promise<void> {
  const [last] = await clickhouse.query<{ block: number }>(
    'demo',
    'SELECT toUInt32(max(block_number)) AS block FROM amm_state WHERE vault = {vault:String}',
    { vault: vault.address },
  )
  const then = await worthAt(node, vault, last?.block ?? 0)
  for (const holder of holders) {
    const path = `/beta/amm/deep/positions/${holder}/mainnet/${vault.address}`
    const shown = deepSchema.parse(await get(path))
    compare('token0 in the vault of liquidity', shown.asset0.balanceInVault, then.total0)
    compare('token1 in the vault of liquidity', shown.asset1.balanceInVault, then.total1)
    compare('supply of the vault of liquidity', shown.totalSupply, then.supply)
    compare('tvl of the vault of liquidity', shown.tvl.native, then.value)
    const balance = await balanceOf(node, vault.address, holder)
    compare(`shares of the vault of liquidity of ${holder}`, shown.userBalance, balance)
  }
}

const poolsSchema = z.object({
  data: z.array(z.object({ address: z.string(), tvl: z.object({ native: z.string() }) })),
})
const heldSchema = z.object({
  data: z.array(z.object({ address: z.string(), asset: z.object({ balanceNative: z.string() }) })),
})

/** Stake pools and lending vaults: what lies in each, and what each wallet's shares are worth, staked or not, by their accounts. */
async function compareSolana(
  { pools, wallets, lending, kamino }: DemoSolana,
  get: Get,
  compare: Compare,
): Promise<void> {
  const { data: shown } = poolsSchema.parse(await get('/beta/svm/detailed-vaults'))
  for (const { pool, state } of pools.map(pool => ({ pool, state: pool.state() }))) {
    const found = shown.find(({ address }) => address === pool.pool)
    compare(`assets of stake pool ${pool.pool}`, found?.tvl.native, state.lamports)
  }
  const lent = (shares: bigint) => (shares * lending.price()) / 10n ** 12n
  const lendingFound = shown.find(({ address }) => address === lending.lending)
  compare(`assets of lending vault ${lending.lending}`, lendingFound?.tvl.native, lent(lending.supply()))
  const { vault } = kamino.is
  const kept = shown.find(({ address }) => address === vault)
  compare(`assets of vault of reserves ${vault}`, kept?.tvl.native, kamino.worth() >> 60n)
  for (const { address } of wallets) {
    const { data } = heldSchema.parse(await get(`/beta/svm/portfolio/positions/${address}`))
    const held = lending.amountOf(await lending.tokenAccountOf(address, lending.shareMint))
    const dollars = data.find(each => each.address === lending.lending)
    compare(`${address} in lending vault`, dollars?.asset.balanceNative, lent(held))
    const mine = await kamino.sharesOf(address)
    const all = mine.held + mine.staked
    const kept = data.find(each => each.address === vault)
    if (all > 0n)
      compare(
        `${address} in vault of reserves`,
        kept?.asset.balanceNative,
        (all * kamino.worth()) / (kamino.state().issued << 60n),
      )
    for (const pool of pools) {
      const { lamports, supply } = pool.state()
      const shares = await pool.balanceOf(address)
      if (shares === 0n) continue
      const worth = (shares * lamports) / supply
      const position = data.find(each => each.address === pool.pool)
      compare(`${address} in stake pool ${pool.pool}`, position?.asset.balanceNative, worth)
    }
  }
}

/** Two ways of dividing may round the last binary digit otherwise. */
const isSameFloat = (a: number, b: number): boolean => Math.abs(a - b) <= Number.EPSILON * Math.abs(b)
