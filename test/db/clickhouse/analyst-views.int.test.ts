import { afterAll, beforeAll, expect, test } from 'vitest'
import { assetGroup } from '../../../read-api/catalogue/asset-group.ts'
import { Engine } from '../../jobs/engine.ts'
import { ann, bob, feed, liquidator, log, usdc, vault, weth } from './analyst-world.ts'
import { fact, fill } from './fill.ts'

let engine: Engine
beforeAll(async () => {
  engine = await Engine.create()
  await fill(engine, [
    [1, log],
    [
      0,
      [
        fact(1, `asset:1:${usdc}`, 'feed', { feed, decimals: 8 }),
        fact(2, `vault:1:${vault}`, 'curator', 'acme'),
        fact(3, `vault:1:${vault}`, 'listed', { protocol: 'acme' }),
        fact(4, `asset:1:${weth}`, 'peg', { usd: '2000' }),
        fact(5, `asset:1:${weth}`, 'group', 'WRAPPED'),
      ],
    ],
  ])
})
afterAll(() => engine.drop())

test('vaults have their curator and the category of their asset', async () => {
  expect(await engine.rows('SELECT curator, asset_category, standing FROM vaults')).toEqual([
    { curator: 'acme', asset_category: 'USD', standing: 'listed' },
  ])
  expect(await engine.rows('SELECT symbol, decimals, category FROM assets ORDER BY symbol')).toEqual([
    { symbol: 'USDC', decimals: 6, category: 'USD' },
    { symbol: 'WETH', decimals: 18, category: 'WRAPPED' },
    { symbol: 'v', decimals: 18, category: 'OTHER' },
  ])
})

test('the category of an asset is what the API says of its symbol', async () => {
  const symbols =
    'USDC sUSDe DAI xDAI GHO EURC agEUR stEUR EURe WETH wstETH rETH frxETH ETHx ETH+ cbBTC WBTC USDBTC LINK EUROPE METH aeth'.split(
      ' ',
    )
  const { text } = (
    await engine.rows<{ text: string }>(
      "SELECT create_table_query AS text FROM system.tables WHERE database = currentDatabase() AND name = 'assets'",
    )
  )[0] ?? { text: '' }
  const [, conditions = ''] =
    /stated\.category != '', stated\.category, (.*?)\) AS category/s.exec(text) ?? []
  const found = await engine.rows(
    `SELECT symbol, multiIf(${conditions}) AS category FROM (SELECT arrayJoin({symbols:Array(String)}) AS symbol)`,
    { symbols },
  )
  expect(found).toEqual(symbols.map(symbol => ({ symbol, category: assetGroup(symbol) })))
})

test('flows in USD at the price of their moment; three days after a report there is none', async () => {
  const flows = await engine.rows(
    'SELECT account, kind, assets, assets_usd, toString(assets_raw) AS raw FROM account_flows ORDER BY timestamp',
  )
  expect(flows).toEqual([
    { account: ann, kind: 'deposit', assets: 100, assets_usd: 100, raw: '100000000' },
    { account: bob, kind: 'redeem', assets: 11, assets_usd: 10.89, raw: '11000000' },
    { account: bob, kind: 'deposit', assets: 1.2, assets_usd: null, raw: '1200000' },
  ])
  expect(
    await engine.rows(
      'SELECT toString(day) AS day, deposits_usd, redemptions_usd, net_flow_usd, unpriced_flows FROM daily_flows_usd ORDER BY day',
    ),
  ).toEqual([
    { day: '2024-01-01', deposits_usd: 100, redemptions_usd: 0, net_flow_usd: 100, unpriced_flows: 0 },
    { day: '2024-01-02', deposits_usd: 0, redemptions_usd: 10.89, net_flow_usd: -10.89, unpriced_flows: 0 },
    { day: '2024-01-09', deposits_usd: null, redemptions_usd: 0, net_flow_usd: null, unpriced_flows: 1 },
  ])
})

test('shares that went from one account to another, with what they were worth', async () => {
  expect(
    await engine.rows(
      'SELECT sender, receiver, shares, assets, round(assets_usd, 9) AS usd, toString(shares_raw) AS raw FROM share_transfers',
    ),
  ).toEqual([{ sender: ann, receiver: bob, shares: 40, assets: 44, usd: 43.56, raw: '40000000000000000000' }])
})

test('what each account earned, shares it was sent or sent counted at their price', async () => {
  const rows = await engine.rows(
    `SELECT account, deposited, withdrawn, received, round(value, 9) AS value, round(returns, 9) AS returns,
       round(returns_usd, 9) AS usd, toString(shares_raw) AS shares FROM account_returns ORDER BY account`,
  )
  expect(rows).toEqual([
    // 60 shares at 1.2, and 44 given away, of 100.
    {
      account: ann,
      deposited: 100,
      withdrawn: 0,
      received: -44,
      value: 72,
      returns: 16,
      usd: 15.84,
      shares: '60000000000000000000',
    },
    // 31 shares at 1.2 and 11 taken out, for 44 received and 1.2 paid in.
    {
      account: bob,
      deposited: 1.2,
      withdrawn: 11,
      received: 44,
      value: 37.2,
      returns: 3,
      usd: 2.97,
      shares: '31000000000000000000',
    },
  ])
})

test('benchmarks weigh the largest vaults by their value', async () => {
  const rows = await engine.rows<Record<string, number | string>>(
    'SELECT code, toString(day) AS day, vaults, tvl_usd, apy_1d, apy_7d FROM benchmarks ORDER BY day',
  )
  expect(rows.map(({ code, day, vaults, tvl_usd }) => [code, day, vaults, tvl_usd])).toEqual([
    ['usd', '2024-01-02', 1, 2_178_000],
    ['usd', '2024-01-03', 1, 2_376_000],
  ])
  expect(rows.map(row => Number(row['apy_1d']) / (1.1 ** 365 - 1))[0]).toBeCloseTo(1, 6)
  expect(rows[0]?.['apy_7d']).toBeNull()
})

test('lending in whole units and USD, with who liquidated', async () => {
  const rows = await engine.rows(
    `SELECT event_type, leg, account, liquidator, asset_symbol, amount, round(amount_usd, 9) AS usd, toString(amount_raw) AS raw
     FROM lending_events ORDER BY timestamp, log_index, leg`,
  )
  const none = { leg: '', liquidator: '', account: ann }
  expect(rows).toEqual([
    { ...none, event_type: 'supply', asset_symbol: 'USDC', amount: 1000, usd: 990, raw: '1000000000' },
    { ...none, event_type: 'supply', asset_symbol: 'WETH', amount: 3, usd: 6000, raw: '3000000000000000000' },
    { ...none, event_type: 'borrow', asset_symbol: 'USDC', amount: 400, usd: 396, raw: '400000000' },
    {
      event_type: 'liquidation',
      leg: 'repaid',
      account: ann,
      liquidator,
      asset_symbol: 'USDC',
      amount: 50,
      usd: 49.5,
      raw: '50000000',
    },
    {
      event_type: 'liquidation',
      leg: 'seized',
      account: ann,
      liquidator,
      asset_symbol: 'WETH',
      amount: 0.5,
      usd: 1000,
      raw: '500000000000000000',
    },
    {
      event_type: 'liquidation',
      leg: 'repaid',
      account: bob,
      liquidator,
      asset_symbol: 'USDC',
      amount: 7,
      usd: 6.93,
      raw: '7000000',
    },
    {
      event_type: 'liquidation',
      leg: 'seized',
      account: bob,
      liquidator,
      asset_symbol: 'WETH',
      amount: 0.25,
      usd: 500,
      raw: '250000000000000000',
    },
  ])
})

test('rates of markets beside what is lent and owed', async () => {
  const newest = await engine.rows<Record<string, number | string>>(
    `SELECT protocol, supplied, borrowed, round(supplied_usd, 6) AS usd, utilization, supply_rate, borrow_rate,
       toString(supplied_raw) AS raw FROM lending_rates ORDER BY protocol, block_number DESC, position DESC LIMIT 1 BY protocol`,
  )
  const rounded = newest.map(row => ({
    ...row,
    supply_rate: Number(row['supply_rate']).toFixed(6),
    borrow_rate: Number(row['borrow_rate']).toFixed(6),
  }))
  // Comet: 1e9 per second up to a utilization of 0.5 and 1e10 beyond, at 0.8; borrowers below their kink.
  expect(rounded).toEqual([
    {
      protocol: 'aave-v3',
      supplied: 500,
      borrowed: 100,
      usd: 495,
      utilization: 0.2,
      supply_rate: '0.020000',
      borrow_rate: '0.050000',
      raw: '500000000',
    },
    {
      protocol: 'compound-v3',
      supplied: 1000,
      borrowed: 800,
      usd: 990,
      utilization: 0.8,
      supply_rate: (((0.5e9 + 0.3e10) * 31_536_000) / 1e18).toFixed(6),
      borrow_rate: (((1e8 + 1.6e9) * 31_536_000) / 1e18).toFixed(6),
      raw: '1000000000',
    },
    {
      protocol: 'morpho-blue',
      supplied: 1000,
      borrowed: 350,
      usd: 990,
      utilization: 0.35,
      supply_rate: (0.05 * 0.35 * 0.9).toFixed(6),
      borrow_rate: '0.050000',
      raw: '1000000000',
    },
  ])
})
