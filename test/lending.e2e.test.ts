import { type Address, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accrueMorpho } from '../abi/morpho-blue/math.ts'
import { listStreams } from '../jobs/checkpoints.ts'
import { replay } from '../jobs/replay.ts'
import { aaveAbi, morphoAbi } from './chain/abis.ts'
import { type CometMarket, cometAbi, cometCalls, deployComet } from './chain/comet.ts'
import { calls, deposit } from './chain/deploy.ts'
import { deployEvk, type EvkMarket, eulerRouterAbi, evkCalls, USD } from './chain/evk.ts'
import { act, configure, stageFall } from './chain/lending-walk.ts'
import { morphoCalls } from './chain/morpho.ts'
import { type Call, type Node, startNode } from './chain/node.ts'
import { seededRandom } from './chain/random.ts'
import { buildWorld, type World } from './chain/world.ts'
import { compareAave } from './lending/aave.ts'
import { compareComet } from './lending/comet.ts'
import { compareEvk } from './lending/evk.ts'
import { compareHistory, compareHttp, compareSeizures, stirring } from './lending/http.ts'
import { compareMorpho } from './lending/morpho.ts'
import { big, type Walk } from './lending/rows.ts'
import { compareStatements } from './lending/statement.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'
import { type ApiHarness, startApi } from './read-api/harness.ts'

/**
 * Several users wander over the real contracts; every few steps what the projections say of every market, reserve and
 * user is held against the contracts' own view functions, at that block and at earlier ones.
 */

const oracleAbi = parseAbi(['function price() view returns (uint256)'])
const aaveOracleAbi = parseAbi(['function getAssetPrice(address asset) view returns (uint256)'])
const STEPS = 280
const EVERY = 40
let node: Node
let world: World
let comet: CometMarket
let evk: EvkMarket
let walk: Walk
let pipeline: Pipeline
let api: ApiHarness
let users: Address[]
/** Act only when a fall of prices is staged. */
let doomed: [Address, Address, Address]
const counted = { steps: 0, reverted: 0, values: 0 }
/** Debts that a statement opened with. */
let owed = 0
/** Accounts with a debt in an Euler vault whose health was held against the vault's. */
let weighed = 0

beforeAll(async () => {
  node = await startNode()
  world = await buildWorld(node)
  users = world.actors.users.slice(0, 6)
  const [first, second, third] = world.actors.users.slice(6)
  if (!first || !second || !third) throw new Error('too few accounts')
  doomed = [first, second, third]
  const { admin } = world.actors
  const { WETH, WBTC, USDC } = world.assets
  comet = await deployComet(node, USDC, [
    { ...WETH, borrow: 0.8, liquidate: 0.85, liquidation: 0.93 },
    { ...WBTC, borrow: 0.7, liquidate: 0.77, liquidation: 0.9 },
  ])
  evk = await deployEvk(node, world.anyLog, world.assets.DAI, WETH)
  for (const [symbol, { token, startPrice }] of Object.entries(world.assets)) {
    const held = BigInt(Math.round(1_000_000 / startPrice)) * 10n ** BigInt(token.decimals)
    for (const user of [...users, ...doomed]) {
      await node.send(calls.mintToken(admin, token.address, user, held))
      await node.send(calls.approve(user, token.address, world.morpho.address))
      await node.send(calls.approve(user, token.address, comet.address))
      for (const { address } of [evk.lender, evk.collateral])
        await node.send(calls.approve(user, token.address, address))
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
  const { whale, liquidator } = world.actors
  for (const lender of [whale, liquidator]) {
    await node.send(calls.approve(lender, USDC.token.address, comet.address))
    await node.send(cometCalls(comet.address).supply(lender, USDC.token.address, 500_000n * 10n ** 6n))
  }
  const dai = world.assets.DAI.token
  await node.send(calls.mintToken(admin, WETH.token.address, liquidator, 1_000n * 10n ** 18n))
  await node.send(calls.approve(liquidator, WETH.token.address, evk.collateral.address))
  await node.send(calls.approve(whale, dai.address, evk.lender.address))
  await node.send(evkCalls(evk).deposit(whale, evk.lender.address, 500_000n * 10n ** 18n))
  await node.mine()
  // Assets are known by a vault that has them.
  await deposit(node, { vault: world.vaults.usdt, user: doomed[2], assets: 10n ** 6n })
  pipeline = await createPipeline()
  api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
  const everyone = [...users, ...doomed, whale, liquidator, admin, world.aave.treasury]
  walk = { node, world, pipeline, everyone, counted }
})
afterAll(async () => {
  await api?.stop()
  await pipeline?.drop()
  await node?.stop()
})

async function indexTo(block: number): Promise<void> {
  const contracts = {
    'morpho-blue': [world.morpho.address],
    'aave-v3-pool': [world.aave.pool],
    'aave-v3-configurator': [world.aave.configurator],
    'compound-v3-configurator': [comet.configurator],
    'euler-evk-factory': [evk.factory],
    'euler-evc': [evk.connector],
    'chainlink-feed': Object.values(world.assets).map(({ feed }) => feed.proxy),
  }
  await pipeline.indexTo(block, { rpcUrl: node.rpcUrl, contracts })
  await pipeline.project()
}

/** With the oracles asked anew: the API answers at the prices that it has. */
async function compareAnswers(): Promise<void> {
  for (const call of stirring(walk, { comet, evk })) await node.send(call)
  const { number } = await node.mine()
  await indexTo(number)
  await compareHttp(walk, { comet, evk }, api)
}

async function compareAt(blocks: readonly { number: number; timestamp: number }[]): Promise<void> {
  for (const { number, timestamp } of blocks) {
    await compareMorpho(walk, number, timestamp)
    await compareAave(walk, number, timestamp)
    await compareComet(walk, comet, number, timestamp)
    weighed += await compareEvk(walk, evk, number, timestamp)
  }
}

describe('a random walk over Morpho Blue, Aave v3, Compound v3 and Euler v2', () => {
  test('every figure is the contracts’ own, at that block and at earlier ones', {
    timeout: 600_000,
  }, async () => {
    const random = seededRandom(7)
    const openings = seededRandom(8)
    const blocks: { number: number; timestamp: number }[] = []
    let { timestamp } = await node.head()
    const staged: (() => Promise<Call>)[] = []
    for (let step = 1; step <= STEPS; step++) {
      const hashes: Hex[] = []
      if (step === 30 || step === 130) staged.push(...(await stageFall(node, world, { comet, evk }, doomed)))
      const next = staged.shift()
      if (next) hashes.push(await node.send({ ...(await next()), mayFail: true }))
      else
        for (let i = 0; i <= random.below(3); i++)
          hashes.push(await node.send(act(world, { comet, evk }, users, random)))
      timestamp += next ? 12 : (random.pick([1, 12, 12, 3_600, 86_400, 700_000]) ?? 12)
      const block = await node.mine(timestamp)
      blocks.push(block)
      for (const hash of hashes) {
        const { status } = await node.client.getTransactionReceipt({ hash })
        counted.steps++
        if (status !== 'success') counted.reverted++
      }
      if (step % EVERY !== 0) continue
      await indexTo(block.number)
      await compareAt([block, random.pick(blocks), random.pick(blocks)].flatMap(b => b ?? []))
      owed += await compareStatements(walk, { comet, evk }, api, [
        openings.pick(blocks.slice(0, -1)) ?? block,
        block,
      ])
      if (step === 6 * EVERY) {
        await compareAnswers()
        timestamp = (await node.head()).timestamp
      }
    }
    expect(await compareSeizures(walk, { comet, evk }, api)).toBeGreaterThan(1)
    console.info(counted, { weighed, owed })
    expect(owed).toBeGreaterThan(20)
    expect(weighed).toBeGreaterThan(10)
  })

  test('the walk met what it is meant to meet', async () => {
    const [met] = await pipeline.rows<Record<string, number>>(`SELECT
      toUInt32(countIf(type = 'Liquidated' AND protocol = 'morpho-blue')) AS morpho_liquidations,
      toUInt32(countIf(type = 'Liquidated' AND protocol = 'aave-v3')) AS aave_liquidations,
      toUInt32(countIf(toUInt256OrZero(JSONExtractString(data, 'badDebtAssets')) > 0)) AS bad_debts,
      toUInt32(countIf(toUInt256OrZero(JSONExtractString(data, 'feeShares')) > 0)) AS fees,
      toUInt32(countIf(type = 'ScaledTransferred')) AS transfers,
      toUInt32(countIf(type = 'ScaledMinted' AND toUInt256OrZero(JSONExtractString(data, 'value')) <
        toUInt256OrZero(JSONExtractString(data, 'balanceIncrease')))) AS burns_told_as_mints,
      toUInt32(countIf(type = 'EModeChanged')) AS e_modes,
      toUInt32(countIf(type IN ('CollateralEnabled', 'CollateralDisabled'))) AS collateral_switches,
      toUInt32(countIf(type = 'DebtAbsorbed')) AS absorptions,
      toUInt32(countIf(type = 'CollateralBought')) AS sales,
      toUInt32(countIf(type = 'CollateralTransferred')) AS collateral_transfers,
      toUInt32(countIf(type = 'BaseTransferred' AND NOT JSONExtractBool(data, 'unnamed'))) AS base_transfers,
      toUInt32(countIf(type = 'BaseTransferred' AND JSONExtractBool(data, 'unnamed'))) AS unnamed_transfers,
      toUInt32(countIf(type = 'Repaid' AND protocol = 'compound-v3')) AS comet_repayments,
      toUInt32(countIf(type = 'CometConfigured')) > 1 AS comet_configurations,
      toUInt32(countIf(type = 'Liquidated' AND protocol = 'euler-v2')) AS evk_liquidations,
      toUInt32(countIf(type = 'DebtSocialized')) AS debts_socialized,
      toUInt32(countIf(type = 'DebtTransferred')) AS debts_pulled,
      toUInt32(countIf(type = 'LtvChanged')) AS ltv_changes,
      toUInt32(countIf(type = 'AccountControllerChanged' AND NOT JSONExtractBool(data, 'enabled'))) AS controllers_left,
      toUInt32(countIf(type IN ('Borrowed', 'Repaid'))) AS debts
      FROM event`)
    console.info(met)
    for (const [what, times] of Object.entries(met ?? {})) expect(times, what).toBeGreaterThan(0)
  })

  test('every event says which protocol told of it, but for what none tells', async () => {
    const told = await pipeline.rows<{ protocol: string; types: string[] }>(
      'SELECT protocol, arraySort(groupUniqArray(type)) AS types FROM event WHERE stream > 0 GROUP BY protocol',
    )
    const typesOf = new Map(told.map(({ protocol, types }) => [protocol, types]))
    expect(typesOf.get('') ?? []).toEqual([])
    for (const protocol of ['aave-v3', 'compound-v3', 'euler-v2', 'morpho-blue'])
      expect(typesOf.get(protocol), protocol).toContain('Borrowed')
    const settings = await pipeline.rows<{ protocol: string }>(
      'SELECT DISTINCT protocol FROM lending_setting ORDER BY protocol',
    )
    expect(settings.map(({ protocol }) => protocol)).toEqual(
      expect.arrayContaining(['aave-v3', 'morpho-blue']),
    )
  })

  test('each sampled price is what the oracle says at its block', async () => {
    const samples = await pipeline.rows<Record<string, string>>(
      `SELECT contract, asset, oracle, toString(block_number) AS block, toString(price) AS price FROM oracle_price
       WHERE price IS NOT NULL`,
    )
    const families = new Map<string | undefined, number>()
    for (const { contract, asset, oracle, block, price } of samples) {
      const blockNumber = BigInt(block ?? 0)
      const address = (asset === '' ? oracle : contract) as Address
      if (contract === evk.lender.address) {
        const of = asset === evk.collateral.address ? evk.collateral.token : evk.lender.token
        const [unit, args] = [10n ** 24n, [10n ** 24n, of.address, USD] as const]
        const view = {
          address: evk.router,
          abi: eulerRouterAbi,
          functionName: 'getQuote',
          args,
          blockNumber,
        } as const
        expect((big(price) * unit) / 10n ** 36n).toBe(await node.client.readContract(view))
        families.set(contract, (families.get(contract) ?? 0) + 1)
        continue
      }
      if (contract === world.aave.pool) {
        const view = { address: world.aave.oracle, abi: aaveOracleAbi, blockNumber } as const
        const args = [asset as Address] as const
        expect(big(price)).toBe(
          await node.client.readContract({ ...view, functionName: 'getAssetPrice', args }),
        )
        families.set(contract, (families.get(contract) ?? 0) + 1)
        continue
      }
      const said =
        asset === ''
          ? await node.client.readContract({ address, abi: oracleAbi, functionName: 'price', blockNumber })
          : await node.client.readContract({
              address,
              abi: cometAbi,
              functionName: 'getPrice',
              args: [oracle as Address],
              blockNumber,
            })
      expect(price).toBe(`${said}`)
      families.set(contract, (families.get(contract) ?? 0) + 1)
    }
    counted.values += samples.length
    console.info('prices', [...families.values()])
    expect(families.get(world.morpho.address)).toBeGreaterThan(100)
    expect(families.get(comet.address)).toBeGreaterThan(100)
    expect(families.get(world.aave.pool)).toBeGreaterThan(100)
    expect(families.get(evk.lender.address)).toBeGreaterThan(100)
  })

  test('what the principals of a Comet and its totals differ by is what the contract’s own do', async () => {
    const { number } = await node.head()
    const at = { address: comet.address, abi: cometAbi, blockNumber: BigInt(number) } as const
    const totals = await node.client.readContract({ ...at, functionName: 'totalsBasic' })
    let [supply, borrow] = [totals.totalSupplyBase, totals.totalBorrowBase]
    for (const user of new Set(walk.everyone)) {
      const args = [user] as const
      const [principal] = await node.client.readContract({ ...at, functionName: 'userBasic', args })
      if (principal > 0n) supply -= principal
      else borrow += principal
    }
    expect(
      await pipeline.rows(
        'SELECT toString(supply_drift) AS supply, toString(borrow_drift) AS borrow FROM comet_drift',
      ),
    ).toEqual([{ supply: `${supply}`, borrow: `${borrow}` }])
  })

  test('utilization is what the markets say of themselves', async () => {
    const head = await node.head()
    const rows = await pipeline.rows<Record<string, string>>(
      `SELECT protocol, market, toString(last.1) AS block, last.2 AS utilization
       FROM (SELECT protocol, market, argMax((block_number, utilization), position) AS last
         FROM lending_utilization GROUP BY protocol, market)`,
    )
    expect(rows.length).toBe(world.morpho.markets.length + world.aave.reserves.length + 1)
    for (const { protocol, market, block, utilization } of rows) {
      const blockNumber = BigInt(block ?? 0)
      expect(head.number).toBeGreaterThanOrEqual(Number(blockNumber))
      let said: number
      if (protocol === 'compound-v3') {
        const abi = cometAbi
        const view = { address: comet.address, abi, functionName: 'getUtilization', blockNumber } as const
        said = Number(await node.client.readContract(view)) / 1e18
      } else if (protocol === 'morpho-blue') {
        const args = [market as Hex] as const
        const view = {
          address: world.morpho.address,
          abi: morphoAbi,
          functionName: 'market',
          args,
          blockNumber,
        } as const
        const [supplied, , borrowed] = await node.client.readContract(view)
        said = supplied === 0n ? 0 : Number(borrowed) / Number(supplied)
      } else {
        const args = [market as Address] as const
        const address = world.aave.dataProvider
        const view = { address, abi: aaveAbi, functionName: 'getReserveData', args, blockNumber } as const
        const data = await node.client.readContract(view)
        said = Number(data[4]) / Number(data[2])
      }
      expect(utilization, `${protocol} ${market}`).toBeCloseTo(said, 12)
      counted.values++
    }
  })

  test('what a fork replaced is taken back, and what stands is as the contracts say', {
    timeout: 300_000,
  }, async () => {
    const random = seededRandom(11)
    const [before] = await pipeline.rows<{ n: string }>('SELECT toString(count()) AS n FROM retracted')
    const depth = 12
    const replaced = Array.from({ length: depth * 3 }, (_, i) => ({
      call: { ...act(world, { comet, evk }, users, random), gas: 3_000_000n },
      block: i % depth,
    }))
    await node.reorg(depth, replaced)
    const head = await node.mine()
    await indexTo(head.number)
    const [after] = await pipeline.rows<{ n: string }>('SELECT toString(count()) AS n FROM retracted')
    expect(Number(after?.n)).toBeGreaterThan(Number(before?.n) + 10)
    const at = async (blockNumber: number) => {
      const { timestamp } = await node.client.getBlock({ blockNumber: BigInt(blockNumber) })
      return { number: blockNumber, timestamp: Number(timestamp) }
    }
    await compareAt([head, await at(head.number - 6), await at(head.number - depth - 3)])
    await compareAnswers()
    console.info(counted)
  })

  test('the history of hours in which nothing happened has the interest of the time', {
    timeout: 120_000,
  }, async () => {
    const { timestamp } = await node.head()
    const quiet = await node.mine((Math.floor(timestamp / 3_600) + 7) * 3_600)
    await indexTo(quiet.number)
    await compareHistory(walk, { comet, evk }, api, quiet)
  })

  test('a replay gives the same', { timeout: 300_000 }, async () => {
    const sums = await pipeline.visibleSums()
    const { pool } = pipeline.postgres
    const { clickhouse, projections } = pipeline
    const progress = { start: () => ({ update() {}, finish() {} }), close() {} }
    const streams = await listStreams(pool)
    await replay({ pool, clickhouse, projections, streams, progress, batch: 2_000 })
    expect(await pipeline.visibleSums()).toEqual(sums)
  })

  test('each accrual that happened is what the arithmetic gives at the rate it names', async () => {
    const accruals = await pipeline.rows<Record<string, string>>(
      `SELECT JSONExtractString(data, 'market') AS market, toString(position) AS place, toUnixTimestamp(timestamp) AS at,
         JSONExtractString(data, 'previousBorrowRateWad') AS rate, JSONExtractString(data, 'interest') AS interest,
         JSONExtractString(data, 'feeShares') AS fee_shares
       FROM event WHERE type = 'InterestAccrued' AND (stream, position) NOT IN (SELECT stream, position FROM retracted)
       ORDER BY event.position`,
    )
    const states = await pipeline.rows<Record<string, string>>(
      `SELECT market, toString(position) AS place, toString(supply_assets) AS sa, toString(supply_shares) AS ss,
         toString(borrow_assets) AS ba, toString(borrow_shares) AS bs, last_update AS updated, toString(fee_wad) AS fee
       FROM morpho_state FINAL
       WHERE (chain_id, position) NOT IN (SELECT stream, position FROM retracted) ORDER BY position`,
    )
    expect(accruals.length).toBeGreaterThan(30)
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
