import { afterAll, beforeAll, expect, test } from 'vitest'
import { assetGroup } from '../../../read-api/catalogue/asset-group.ts'
import { Engine } from '../../jobs/engine.ts'
import {
  ann,
  bob,
  comet,
  evk,
  feed,
  liquidator,
  log,
  market,
  morpho,
  pool,
  usdc,
  vault,
  weth,
} from './analyst-world.ts'
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
  expect(
    await engine.rows("SELECT curator, asset_category, standing FROM vaults WHERE standing = 'listed'"),
  ).toEqual([{ curator: 'acme', asset_category: 'USD', standing: 'listed' }])
  expect(await engine.rows('SELECT symbol, decimals, category FROM assets ORDER BY symbol')).toEqual([
    { symbol: 'USDC', decimals: 6, category: 'USD' },
    { symbol: 'WETH', decimals: 18, category: 'WRAPPED' },
    { symbol: 'eUSDC', decimals: 6, category: 'USD' },
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
       round(returns_usd, 9) AS usd, toString(shares_raw) AS shares FROM account_returns WHERE vault = '${vault}' ORDER BY account`,
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
       toString(supplied_raw) AS raw FROM lending_rates WHERE asset = '${usdc}' ORDER BY protocol, block_number DESC, position DESC LIMIT 1 BY protocol`,
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

test('markets of all protocols as their newest state that stands left them', async () => {
  const rows = await engine.rows(
    `SELECT protocol, contract, market, asset_symbol, collateral_symbol, lltv, supplied, borrowed, round(supplied_usd, 6) AS usd,
       round(utilization, 6) AS utilization, round(supply_rate, 6) AS supply_rate, round(borrow_rate, 6) AS borrow_rate
     FROM lending_markets ORDER BY protocol, asset_symbol`,
  )
  const single = { collateral_symbol: '', lltv: null }
  expect(rows).toEqual([
    {
      ...single,
      ...{
        protocol: 'aave-v3',
        contract: pool,
        market: usdc,
        asset_symbol: 'USDC',
        supplied: 500,
        borrowed: 100,
      },
      ...{ usd: 495, utilization: 0.2, supply_rate: 0.02, borrow_rate: 0.05 },
    },
    {
      ...single,
      // Five and four base units of 18 decimals.
      ...{
        protocol: 'aave-v3',
        contract: pool,
        market: weth,
        asset_symbol: 'WETH',
        supplied: 5e-18,
        borrowed: 4e-18,
      },
      ...{ usd: 0, utilization: 0.8, supply_rate: 0, borrow_rate: 0 },
    },
    {
      ...single,
      ...{
        protocol: 'compound-v3',
        contract: comet,
        market: comet,
        asset_symbol: 'USDC',
        supplied: 1000,
        borrowed: 800,
      },
      ...{ usd: 990, utilization: 0.8, supply_rate: 0.110376, borrow_rate: 0.053611 },
    },
    {
      ...single,
      // A tenth of the interest is the vault's fee until it says otherwise (Initialize.sol).
      ...{
        protocol: 'euler-v2',
        contract: evk,
        market: evk,
        asset_symbol: 'USDC',
        supplied: 1100,
        borrowed: 600,
      },
      ...{ usd: 1089, utilization: 0.545455, supply_rate: 0.024545, borrow_rate: 0.05 },
    },
    {
      ...{
        protocol: 'morpho-blue',
        contract: morpho,
        market,
        asset_symbol: 'USDC',
        collateral_symbol: 'WETH',
        lltv: 1,
      },
      ...{
        supplied: 1000,
        borrowed: 350,
        usd: 990,
        utilization: 0.35,
        supply_rate: 0.01575,
        borrow_rate: 0.05,
      },
    },
  ])
})

test('markets by the hour, each with the last state of its hour', async () => {
  expect(
    await engine.rows(
      `SELECT protocol, toString(hour) AS hour, toString(borrowed_raw) AS borrowed FROM lending_market_hourly
       WHERE asset = '${usdc}' ORDER BY protocol, hour`,
    ),
  ).toEqual([
    { protocol: 'aave-v3', hour: '2024-01-02 08:00:00', borrowed: '100000000' },
    { protocol: 'compound-v3', hour: '2024-01-02 09:00:00', borrowed: '800000000' },
    { protocol: 'euler-v2', hour: '2024-01-02 13:00:00', borrowed: '600000000' },
    { protocol: 'euler-v2', hour: '2024-01-02 14:00:00', borrowed: '600000000' },
    { protocol: 'morpho-blue', hour: '2024-01-02 06:00:00', borrowed: '400000000' },
    { protocol: 'morpho-blue', hour: '2024-01-02 07:00:00', borrowed: '350000000' },
  ])
})

test('liquidations, one row each: what Comet absorbs by two logs as well', async () => {
  expect(
    await engine.rows(
      `SELECT protocol, account, liquidator, market, asset_symbol, repaid, round(repaid_usd, 9) AS repaid_usd, seized_assets, seized,
         seized_usd, toString(repaid_raw) AS raw FROM liquidations ORDER BY timestamp`,
    ),
  ).toEqual([
    {
      ...{
        protocol: 'morpho-blue',
        account: ann,
        liquidator,
        market,
        asset_symbol: 'USDC',
        repaid: 50,
        repaid_usd: 49.5,
      },
      ...{ seized_assets: [weth], seized: [0.5], seized_usd: 1000, raw: '50000000' },
    },
    {
      ...{
        protocol: 'compound-v3',
        account: bob,
        liquidator,
        market: comet,
        asset_symbol: 'USDC',
        repaid: 7,
        repaid_usd: 6.93,
      },
      ...{ seized_assets: [weth], seized: [0.25], seized_usd: 500, raw: '7000000' },
    },
  ])
})

test('positions at a moment, to the base unit, as the contracts round them', async () => {
  const positions = (at: string) =>
    engine.rows<Record<string, string | number>>(
      `SELECT protocol, account, side, asset, toString(supplied_raw) AS lent, toString(borrowed_raw) AS owed
       FROM lending_positions_at(at = '${at}') WHERE chain_id = 1 ORDER BY protocol, account, side DESC, asset`,
    )
  const aave = { protocol: 'aave-v3', side: 'loan' }
  const ofComet = { protocol: 'compound-v3', side: 'loan' }
  const ofMorpho = { protocol: 'morpho-blue', account: ann }
  const early = [
    { ...aave, account: ann, asset: usdc, lent: '500000000', owed: '100000000' },
    // Three scaled units at 1.5 and at 1.4: 4.5 and 4.2, half up; then in favour of the pool (TokenMath.sol).
    { ...aave, account: bob, asset: weth, lent: '5', owed: '4' },
    // Seven at 1.25 and at 1.6, both rounded down (CometCore.sol).
    { ...ofComet, account: ann, asset: usdc, lent: '8', owed: '0' },
    { ...ofComet, account: ann, side: 'collateral', asset: weth, lent: '1000000000000000000', owed: '0' },
    { ...ofComet, account: bob, asset: usdc, lent: '0', owed: '11' },
    // 1,000e6 × (1,000e6 + 1) / (1,000e6 + 1e6), down; 350e6 × (350e6 + 1) / (350e6 + 1e6), up (SharesMathLib.sol).
    { ...ofMorpho, side: 'loan', asset: usdc, lent: '999001000', owed: '349002850' },
    { ...ofMorpho, side: 'collateral', asset: weth, lent: '2500000000000000000', owed: '0' },
  ]
  expect(await positions('2024-01-02 11:00:00')).toEqual(early)
  const euler = { protocol: 'euler-v2', side: 'loan', asset: usdc }
  expect(await positions('2024-01-02 23:59:59')).toEqual([
    early[0],
    { ...aave, account: bob, asset: weth, lent: '4', owed: '5' },
    ...early.slice(2, 5),
    // 600e6 × (1,100e6 + 1e6) / (1,000e6 + 1e6), down; 300e6 × 1.1 and a fraction, up (ConversionHelpers.sol, Owed.sol).
    { ...euler, account: ann, lent: '659940059', owed: '0' },
    { ...euler, account: bob, lent: '0', owed: '330000001' },
    ...early.slice(5),
  ])
  expect(await positions('2024-01-02 05:59:59')).toEqual([])
})

test('what a position is worth at the price of that moment', async () => {
  expect(
    await engine.rows(
      `SELECT side, asset_symbol, supplied, round(supplied_usd, 9) AS usd FROM lending_positions_at(at = '2024-01-02 23:59:59')
       WHERE protocol = 'morpho-blue' ORDER BY side`,
    ),
  ).toEqual([
    { side: 'collateral', asset_symbol: 'WETH', supplied: 2.5, usd: 5000 },
    { side: 'loan', asset_symbol: 'USDC', supplied: 999.001, usd: 989.01099 },
  ])
  // Three days after a report of the feed there is no price.
  expect(
    await engine.rows(
      "SELECT DISTINCT supplied_usd AS usd FROM lending_positions_at(at = '2024-01-09 00:00:00') WHERE asset_symbol = 'USDC'",
    ),
  ).toEqual([{ usd: null }])
})
