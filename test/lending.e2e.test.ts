import { type Address, type Hex, maxUint256 } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AaveHolding,
  aaveAccount,
  normalizedDebt,
  normalizedIncome,
  rayMul,
} from '../db/lending/aave-math.ts'
import { accrueMorpho, type MorphoMarket } from '../db/lending/morpho-math.ts'
import { aaveAbi, morphoAbi } from './chain/abis.ts'
import { calls } from './chain/deploy.ts'
import { act, configure, stageFall, viewAbi } from './chain/lending-walk.ts'
import { morphoCalls } from './chain/morpho.ts'
import { type Call, type Node, startNode } from './chain/node.ts'
import { seededRandom } from './chain/random.ts'
import { buildWorld, type World } from './chain/world.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'

/**
 * Several users wander over the real contracts; every few steps what the projections say of every market, reserve and
 * user is held against the contracts' own view functions, at that block and at earlier ones.
 */

const STEPS = 240
const EVERY = 40
let node: Node
let world: World
let pipeline: Pipeline
let users: Address[]
/** Act only when a fall of prices is staged. */
let doomed: [Address, Address, Address]
const counted = { steps: 0, reverted: 0, values: 0 }

beforeAll(async () => {
  node = await startNode()
  world = await buildWorld(node)
  users = world.actors.users.slice(0, 6)
  const [first, second, third] = world.actors.users.slice(6)
  if (!first || !second || !third) throw new Error('too few accounts')
  doomed = [first, second, third]
  const { admin } = world.actors
  for (const [symbol, { token, startPrice }] of Object.entries(world.assets)) {
    const held = BigInt(Math.round(1_000_000 / startPrice)) * 10n ** BigInt(token.decimals)
    for (const user of [...users, ...doomed]) {
      await node.send(calls.mintToken(admin, token.address, user, held))
      await node.send(calls.approve(user, token.address, world.morpho.address))
      if (symbol !== 'USDT') await node.send(calls.approve(user, token.address, world.aave.pool))
    }
    await node.mine()
  }
  const [market] = world.morpho.markets
  if (!market) throw new Error('no market')
  await node.send(morphoCalls(world.morpho.address).setFee(admin, market, 0.15))
  await node.send(
    configure(world, admin, 'setEModeCategory', [1, 9000, 9300, 10_200, `0x${'0'.repeat(40)}`, 'usd']),
  )
  for (const symbol of ['USDC', 'DAI'] as const)
    await node.send(configure(world, admin, 'setAssetEModeCategory', [world.assets[symbol].token.address, 1]))
  await node.mine()
  pipeline = await createPipeline()
})
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

const big = (text: string | undefined) => BigInt(text ?? '0')

/** The last row of each key at a block. */
async function lastRows(
  table: string,
  keys: string,
  columns: string,
  block: number,
): Promise<Record<string, string>[]> {
  const names = columns.split(', ')
  return pipeline.rows(
    `SELECT ${keys}, ${names.map((name, i) => `toString(tupleElement(last, ${i + 1})) AS ${name}`).join(', ')} FROM (
       SELECT ${keys}, argMax(tuple(${columns}), position) AS last FROM ${table}
       WHERE block_number <= ${block} AND (chain_id, position) NOT IN (SELECT stream, position FROM retracted)
       GROUP BY ${keys})`,
  )
}

async function compareMorpho(block: number): Promise<void> {
  const { address, markets } = world.morpho
  const at = { blockNumber: BigInt(block) }
  const states = await lastRows(
    'morpho_state',
    'market',
    'supply_assets, supply_shares, borrow_assets, borrow_shares, last_update, fee_wad',
    block,
  )
  const positions = await lastRows(
    'morpho_position',
    'account, market',
    'supply_shares, borrow_shares, collateral',
    block,
  )
  const everyone = [...users, ...doomed, world.actors.whale, world.actors.liquidator, world.actors.admin]
  for (const market of markets) {
    const view = await node.client.readContract({
      address,
      abi: morphoAbi,
      functionName: 'market',
      args: [market.id],
      ...at,
    })
    const row = states.find(state => state['market'] === market.id)
    const state: MorphoMarket = {
      supplyAssets: big(row?.['supply_assets']),
      supplyShares: big(row?.['supply_shares']),
      borrowAssets: big(row?.['borrow_assets']),
      borrowShares: big(row?.['borrow_shares']),
      lastUpdate: Number(row?.['last_update']),
      feeWad: big(row?.['fee_wad']),
    }
    expect(
      [
        state.supplyAssets,
        state.supplyShares,
        state.borrowAssets,
        state.borrowShares,
        BigInt(state.lastUpdate),
        state.feeWad,
      ],
      `market at ${block}`,
    ).toEqual([...view])
    counted.values += 6
    for (const user of everyone) {
      const [supplyShares, borrowShares, collateral] = await node.client.readContract({
        address,
        abi: morphoAbi,
        functionName: 'position',
        args: [market.id, user],
        ...at,
      })
      const mine = positions.find(p => p['market'] === market.id && p['account'] === user)
      const found = {
        supplyShares: big(mine?.['supply_shares']),
        borrowShares: big(mine?.['borrow_shares']),
        collateral: big(mine?.['collateral']),
      }
      expect(found, `${user} at ${block}`).toEqual({ supplyShares, borrowShares, collateral })
      counted.values += 3
    }
  }
}

async function compareAave(block: number, time: number): Promise<void> {
  const { pool, dataProvider, reserves } = world.aave
  const at = { blockNumber: BigInt(block) }
  const balances = await lastRows('aave_balance', 'account, token', 'scaled', block)
  const totals = await lastRows('aave_total', 'token', 'scaled', block)
  const indexes = await lastRows(
    'aave_index',
    'asset',
    'liquidity_rate, variable_borrow_rate, liquidity_index, variable_borrow_index, timestamp',
    block,
  )
  const settings = await lastRows('aave_setting', 'market, key', 'value', block)
  const choices = await lastRows('aave_choice', 'account, market', 'value', block)
  const prices = await lastRows('feed_price', 'feed', 'answer', block)
  const read = (token: Address, functionName: 'scaledTotalSupply' | 'totalSupply') =>
    node.client.readContract({ address: token, abi: viewAbi, functionName, ...at })
  const everyone = [...users, ...doomed, world.actors.whale, world.actors.liquidator, world.aave.treasury]
  const holdings = new Map<Address, AaveHolding[]>(everyone.map(user => [user, []]))
  for (const { asset, feed, aToken, variableDebtToken } of reserves) {
    const data = await node.client.readContract({
      address: dataProvider,
      abi: aaveAbi,
      functionName: 'getReserveData',
      args: [asset.address],
      ...at,
    })
    const row = indexes.find(index => index['asset'] === asset.address)
    const index = {
      liquidityRate: big(row?.['liquidity_rate']),
      variableBorrowRate: big(row?.['variable_borrow_rate']),
      liquidityIndex: big(row?.['liquidity_index']),
      variableBorrowIndex: big(row?.['variable_borrow_index']),
      updatedAt: Date.parse(`${row?.['timestamp']?.replace(' ', 'T')}Z`) / 1000,
    }
    expect(
      [
        index.liquidityRate,
        index.variableBorrowRate,
        index.liquidityIndex,
        index.variableBorrowIndex,
        index.updatedAt,
      ],
      `${asset.symbol} at ${block}`,
    ).toEqual([data[5], data[6], data[9], data[10], data[11]])
    const income = normalizedIncome(index, time)
    const debt = normalizedDebt(index, time)
    const total = (token: string) => big(totals.find(t => t['token'] === token)?.['scaled'])
    expect([total(aToken), total(variableDebtToken)], `${asset.symbol} totals at ${block}`).toEqual([
      await read(aToken, 'scaledTotalSupply'),
      await read(variableDebtToken, 'scaledTotalSupply'),
    ])
    expect([rayMul(total(aToken), income), rayMul(total(variableDebtToken), debt)]).toEqual([
      data[2],
      data[4],
    ])
    counted.values += 9
    const setting = (key: string, market: string = asset.address) =>
      settings.find(s => s['market'] === market && s['key'] === key)?.['value']
    for (const user of everyone) {
      const scaled = (token: Address) =>
        big(balances.find(b => b['account'] === user && b['token'] === token)?.['scaled'])
      for (const [token, by] of [
        [aToken, income],
        [variableDebtToken, debt],
      ] as const) {
        const view = (functionName: 'scaledBalanceOf' | 'balanceOf') =>
          node.client.readContract({ address: token, abi: viewAbi, functionName, args: [user], ...at })
        expect([scaled(token), rayMul(scaled(token), by)], `${asset.symbol} of ${user} at ${block}`).toEqual([
          await view('scaledBalanceOf'),
          await view('balanceOf'),
        ])
        counted.values += 2
      }
      const choice = (market: string) =>
        Number(choices.find(c => c['account'] === user && c['market'] === market)?.['value'] ?? 0)
      const category = choice('')
      const inEMode = category !== 0 && Number(setting('eModeCategory') ?? 0) === category
      holdings.get(user)?.push({
        supplied: rayMul(scaled(aToken), income),
        borrowed: rayMul(scaled(variableDebtToken), debt),
        isCollateral: choice(asset.address) === 1,
        price: big(prices.find(p => p['feed'] === feed.proxy)?.['answer']),
        decimals: asset.decimals,
        liquidationThresholdBps: big(setting('liquidationThresholdBps')),
        ltvBps: big(setting('ltvBps')),
        ...(inEMode
          ? {
              eMode: {
                ltvBps: big(setting('ltvBps', `emode:${category}`)),
                liquidationThresholdBps: big(setting('liquidationThresholdBps', `emode:${category}`)),
              },
            }
          : {}),
      })
    }
  }
  for (const user of everyone) {
    const view = await node.client.readContract({
      address: pool,
      abi: aaveAbi,
      functionName: 'getUserAccountData',
      args: [user],
      ...at,
    })
    const account = aaveAccount(holdings.get(user) ?? [])
    expect(
      [
        account.totalCollateralBase,
        account.totalDebtBase,
        account.liquidationThresholdBps,
        account.ltvBps,
        account.healthFactorWad ?? maxUint256,
      ],
      `account of ${user} at ${block}`,
    ).toEqual([view[0], view[1], view[3], view[4], view[5]])
    counted.values += 5
  }
}

describe('a random walk over Morpho Blue and Aave v3', () => {
  test('every figure is the contracts’ own, at that block and at earlier ones', {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(7)
    const blocks: { number: number; timestamp: number }[] = []
    const contracts = {
      'morpho-blue': [world.morpho.address],
      'aave-v3-pool': [world.aave.pool],
      'aave-v3-configurator': [world.aave.configurator],
      'aave-v3-oracle': [world.aave.oracle],
      'chainlink-feed': Object.values(world.assets).map(({ feed }) => feed.proxy),
    }
    let { timestamp } = await node.head()
    const staged: (() => Promise<Call>)[] = []
    for (let step = 1; step <= STEPS; step++) {
      const hashes: Hex[] = []
      if (step === 30 || step === 130) staged.push(...(await stageFall(node, world, doomed)))
      const next = staged.shift()
      if (next) hashes.push(await node.send({ ...(await next()), mayFail: true }))
      else for (let i = 0; i <= random.below(3); i++) hashes.push(await node.send(act(world, users, random)))
      timestamp += next ? 12 : (random.pick([1, 12, 12, 3_600, 86_400, 700_000]) ?? 12)
      const block = await node.mine(timestamp)
      blocks.push(block)
      for (const hash of hashes) {
        const { status } = await node.client.getTransactionReceipt({ hash })
        counted.steps++
        if (status !== 'success') counted.reverted++
      }
      if (step % EVERY !== 0) continue
      await pipeline.indexTo(block.number, { rpcUrl: node.rpcUrl, contracts, samples: false })
      await pipeline.project()
      const earlier = [random.pick(blocks), random.pick(blocks)].flatMap(b => b ?? [])
      for (const { number, timestamp: time } of [block, ...earlier]) {
        await compareMorpho(number)
        await compareAave(number, time)
      }
    }
    console.info(counted)
  })

  test('the walk met what it is meant to meet', async () => {
    const [met] = await pipeline.rows<Record<string, number>>(`SELECT
      toUInt32(countIf(type = 'Liquidated' AND length(JSONExtractString(data, 'market')) = 66)) AS morpho_liquidations,
      toUInt32(countIf(type = 'Liquidated' AND length(JSONExtractString(data, 'market')) = 42)) AS aave_liquidations,
      toUInt32(countIf(toUInt256OrZero(JSONExtractString(data, 'badDebtAssets')) > 0)) AS bad_debts,
      toUInt32(countIf(toUInt256OrZero(JSONExtractString(data, 'feeShares')) > 0)) AS fees,
      toUInt32(countIf(type = 'ScaledTransferred')) AS transfers,
      toUInt32(countIf(type = 'ScaledMinted' AND toUInt256OrZero(JSONExtractString(data, 'value')) <
        toUInt256OrZero(JSONExtractString(data, 'balanceIncrease')))) AS burns_told_as_mints,
      toUInt32(countIf(type = 'EModeChanged')) AS e_modes,
      toUInt32(countIf(type IN ('CollateralEnabled', 'CollateralDisabled'))) AS collateral_switches,
      toUInt32(countIf(type IN ('Borrowed', 'Repaid'))) AS debts
      FROM event`)
    console.info(met)
    for (const [what, times] of Object.entries(met ?? {})) expect(times, what).toBeGreaterThan(0)
  })

  test('each accrual that happened is what the arithmetic gives at the rate it names', async () => {
    const accruals = await pipeline.rows<Record<string, string>>(
      `SELECT JSONExtractString(data, 'market') AS market, toString(position) AS place, toUnixTimestamp(timestamp) AS at,
         JSONExtractString(data, 'previousBorrowRateWad') AS rate, JSONExtractString(data, 'interest') AS interest,
         JSONExtractString(data, 'feeShares') AS fee_shares
       FROM event WHERE type = 'InterestAccrued' ORDER BY event.position`,
    )
    const states = await pipeline.rows<Record<string, string>>(
      `SELECT market, toString(position) AS place, toString(supply_assets) AS sa, toString(supply_shares) AS ss,
         toString(borrow_assets) AS ba, toString(borrow_shares) AS bs, last_update AS updated, toString(fee_wad) AS fee
       FROM morpho_state FINAL ORDER BY position`,
    )
    expect(accruals.length).toBeGreaterThan(50)
    for (const accrual of accruals) {
      const before = states.findLast(
        s => s['market'] === accrual['market'] && Number(s['place']) < Number(accrual['place']),
      )
      const { interest, feeShares } = accrueMorpho(
        {
          supplyAssets: big(before?.['sa']),
          supplyShares: big(before?.['ss']),
          borrowAssets: big(before?.['ba']),
          borrowShares: big(before?.['bs']),
          lastUpdate: Number(before?.['updated']),
          feeWad: big(before?.['fee']),
        },
        big(accrual['rate']),
        Number(accrual['at']),
      )
      expect([interest, feeShares]).toEqual([big(accrual['interest']), big(accrual['fee_shares'])])
    }
  })
})
