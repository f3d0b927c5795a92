import request from 'supertest'
import { type Address, encodeFunctionData, maxUint256, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  isDirectedRevision,
  normalizedDebt,
  normalizedIncome,
  owedAt,
  suppliedAt,
} from '../../abi/aave-v3/math.ts'
import { listStreams } from '../../jobs/checkpoints.ts'
import { replay } from '../../jobs/replay.ts'
import { aaveCalls } from '../chain/aave.ts'
import { calls } from '../chain/deploy.ts'
import { viewAbi } from '../chain/lending-walk.ts'
import { multicall3Address } from '../chain/multicall.ts'
import { type Call, type Node, startNode } from '../chain/node.ts'
import { type Random, seededRandom } from '../chain/random.ts'
import { buildWorld, type World } from '../chain/world.ts'
import { big, lastRows } from '../lending/rows.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'
import { type ApiHarness, startApi } from '../read-api/harness.ts'
import { upgradeOf } from './directed.ts'

/**
 * Users wander over a pool of Aave v3 that becomes one of v3.5 amid a block: its tokens are those of contracts/Directed.sol
 * then. What is said of scaled balances, of shares and of their totals is held against the tokens' own views, at every
 * block in which one changed.
 */

const STEPS = 160
const UPGRADE = 50
const poolAbi = parseAbi([
  'function mintToTreasury(address[] assets)',
  'function repayWithATokens(address asset, uint256 amount, uint256 rateMode)',
  'function getVirtualUnderlyingBalance(address asset) view returns (uint128)',
])

let node: Node
let world: World
let pipeline: Pipeline
let api: ApiHarness
let users: Address[]
let everyone: Address[]
/** Known as a vault from the start, and at the end only. */
let early: Address[]
let late: Address
let upgraded: number
const blocks: { number: number; timestamp: number }[] = []
const values = { scaled: 0, worth: 0, flows: 0 }

beforeAll(async () => {
  node = await startNode()
  world = await buildWorld(node)
  const { admin, whale, liquidator } = world.actors
  users = [...world.actors.users.slice(0, 4), multicall3Address]
  everyone = [...users, whale, liquidator, world.aave.treasury]
  for (const { token, startPrice } of Object.values(world.assets)) {
    const held = BigInt(Math.round(1_000_000 / startPrice)) * 10n ** BigInt(token.decimals)
    for (const user of users) {
      await node.send(calls.mintToken(admin, token.address, user, held))
      const approve = calls.approve(user, token.address, world.aave.pool)
      await node.send(user === multicall3Address ? calls.together(admin, [approve]) : approve)
    }
    await node.mine()
  }
  const [last, ...others] = world.aave.reserves.map(({ aToken }) => aToken)
  late = last ?? '0x'
  early = others
  pipeline = await createPipeline()
  api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
  const listed = {
    protocol: 'aave',
    product: 'supply',
    version: 'v3',
    description: '',
    lendUrl: '',
    protocolVaultUrl: '',
  }
  await api.recordFacts(
    [late, ...early].map(token => ({ subject: `vault:1:${token}`, kind: 'listed', value: listed })),
    1_700_000_000,
  )
  await walk()
}, 600_000)
afterAll(async () => {
  await api?.stop()
  await pipeline?.drop()
  await node?.stop()
})

const contracts = () => ({
  'aave-v3-pool': [world.aave.pool],
  'aave-v3-configurator': [world.aave.configurator],
  'chainlink-feed': Object.values(world.assets).map(({ feed }) => feed.proxy),
})

async function index(to: Pipeline, block: number, listedVaults: Address[]) {
  await to.indexTo(block, { rpcUrl: node.rpcUrl, contracts: contracts(), listedVaults })
  await to.project()
}

function act(random: Random): Call {
  const { aave, actors } = world
  const pool = aaveCalls(aave.pool)
  const [user, other] = [random.pick(users), random.pick(users)]
  const [reserve, debt] = [random.pick(aave.reserves), random.pick(aave.reserves)]
  if (!user || !other || !reserve || !debt) throw new Error('nothing to act on')
  const { address, symbol, decimals } = reserve.asset
  const price = Object.entries(world.assets).find(([name]) => name === symbol)?.[1].startPrice ?? 1
  const some = () =>
    random.chance(0.3)
      ? BigInt(1 + random.below(9))
      : BigInt(Math.round((random.between(10, 50_000) / price) * 1e6)) * 10n ** BigInt(decimals - 6) +
        BigInt(random.below(999))
  const all = () => (random.chance(0.25) ? maxUint256 : some())
  const toPool = (from: Address, functionName: 'mintToTreasury' | 'repayWithATokens', args: never): Call => ({
    from,
    to: aave.pool,
    data: encodeFunctionData({ abi: poolAbi, functionName, args }),
  })
  const choices: (() => Call)[] = [
    () => pool.supply(user, address, some()),
    () => pool.supply(user, address, some(), other),
    () => pool.supply(user, address, some()),
    () => pool.withdraw(user, address, all()),
    () => pool.withdraw(user, address, all(), other),
    () => pool.borrow(user, address, some()),
    () => pool.borrow(user, address, some()),
    () => pool.borrow(user, address, some()),
    () => pool.repay(user, address, all()),
    () => pool.repay(user, address, all()),
    () => toPool(user, 'repayWithATokens', [address, all(), 2n] as never),
    () => calls.transfer(user, reserve.aToken, other, some()),
    () => calls.transfer(user, reserve.aToken, other, some()),
    () => pool.liquidate(actors.liquidator, address, debt.asset.address, user, all()),
    () => toPool(user, 'mintToTreasury', [aave.reserves.map(({ asset }) => asset.address)] as never),
    () => calls.reportPrice(actors.admin, world.assets.WETH.feed, random.between(1_900, 3_300)),
  ]
  const chosen = random.pick(choices)?.()
  if (!chosen) throw new Error('no choice')
  if (chosen.from !== multicall3Address) return { ...chosen, mayFail: true }
  // Two acts of one account in one transaction.
  const before = pool.supply(user, address, some())
  return { ...calls.together(actors.admin, [before, chosen]), mayFail: true }
}

async function walk() {
  const random = seededRandom(35)
  let { timestamp } = await node.head()
  for (let step = 1; step <= STEPS; step++) {
    const acts = Array.from({ length: 1 + random.below(4) }, () => act(random))
    if (step === UPGRADE)
      acts.splice(0, 2, ...staged(1), ...(await upgradeOf(node, world.aave)), ...staged(2))
    for (const call of acts) await node.send(call)
    timestamp = Math.max(timestamp, (await node.head()).timestamp)
    timestamp += random.pick([1, 12, 12, 3_600, 86_400, 900_000]) ?? 12
    const block = await node.mine(timestamp)
    blocks.push(block)
    if (step === UPGRADE) upgraded = block.number
    if (step % 40 === 0 || step === UPGRADE) await index(pipeline, block.number, early)
  }
  await index(pipeline, (await node.mine(timestamp + 12)).number, [...early, late])
}

/** Of one account, before and after the upgrade of its block. */
function staged(turn: number): Call[] {
  const [user = '0x'] = users
  const pool = aaveCalls(world.aave.pool)
  return world.aave.reserves.flatMap(({ asset: { address, decimals } }) => {
    const amount = 10n ** BigInt(decimals) + BigInt(7 * turn)
    return [
      pool.supply(user, address, amount * 3n),
      pool.borrow(user, address, amount / 1_000n),
      pool.withdraw(user, address, amount),
    ].map(call => ({ ...call, mayFail: true }))
  })
}

const at = (number: number) => ({ blockNumber: BigInt(number) })
const scaledOf = (token: string, account: string, block: number) =>
  node.client.readContract({
    address: token as Address,
    abi: viewAbi,
    functionName: 'scaledBalanceOf',
    args: [account as Address],
    ...at(block),
  })

type Row = Record<'account' | 'token' | 'block' | 'scaled', string>
/** After each block in which it changed. */
const changes = (table: string, account: string, token: string, scaled: string) =>
  pipeline.rows<Row>(`SELECT ${account} AS account, ${token} AS token, toString(block_number) AS block,
    toString(argMax(t.${scaled}, position)) AS scaled FROM ${table} AS t GROUP BY account, token, block_number`)

test('each scaled balance and each share is the token’s own at the block of its change', {
  timeout: 600_000,
}, async () => {
  const asReserve = await changes('aave_balance', 'account', 'token', 'scaled')
  const asVault = await changes('balance', 'holder', 'vault', 'balance')
  const ofTokens = asVault.filter(({ token }) => [late, ...early].includes(token as Address))
  expect(ofTokens.length).toBe(
    asReserve.filter(({ token }) => token === late || early.includes(token as Address)).length,
  )
  expect(asReserve.length).toBeGreaterThan(250)
  for (const { account, token, block, scaled } of [...asReserve, ...ofTokens]) {
    expect(scaled, `${token} of ${account} at ${block}`).toBe(
      `${await scaledOf(token, account, Number(block))}`,
    )
    values.scaled++
  }
  // The half-up rounding of before would have been wrong for many: otherwise nothing of this was tried.
  const [off] = await pipeline.rows<{ told: number; off: number }>(`SELECT toUInt32(count()) AS told,
      toUInt32(countIf(toInt256(scaled) != sign(toInt256(amount)) *
        intDiv(abs(toInt256(amount)) * toInt256('1000000000000000000000000000') + intDiv(toInt256(index), 2), toInt256(index)))) AS off
    FROM (SELECT JSONExtractString(data, 'scaledChange') AS scaled, JSONExtractString(data, 'indexRay') AS index,
        toString(if(type = 'ScaledMinted', 1, -1) * toInt256(JSONExtractString(data, 'value')) - toInt256(JSONExtractString(data, 'balanceIncrease'))) AS amount
      FROM event WHERE type IN ('ScaledMinted', 'ScaledBurned') AND scaled != '' AND scaled != '0')`)
  console.info(off)
  expect(off?.off).toBeGreaterThan(50)
})

test('what they are worth and their totals are the tokens’ own, before and after the upgrade', {
  timeout: 600_000,
}, async () => {
  const random = seededRandom(4)
  const picked = Array.from({ length: 12 }, () => random.pick(blocks) ?? { number: 0, timestamp: 0 })
  for (const { number, timestamp } of [
    ...picked,
    ...blocks.filter(b => b.number === upgraded || b === blocks.at(-1)),
  ]) {
    const balances = await lastRows(pipeline, 'aave_balance', 'account, token', 'scaled', number)
    const totals = await lastRows(pipeline, 'aave_total', 'token', 'scaled', number)
    const revisions = await lastRows(pipeline, 'aave_revision', 'token', 'revision', number)
    const columns = 'liquidity_rate, variable_borrow_rate, liquidity_index, variable_borrow_index, timestamp'
    const indexes = await lastRows(pipeline, 'aave_index', 'asset', columns, number)
    for (const { asset, aToken, variableDebtToken } of world.aave.reserves) {
      const row = indexes.find(of => of['asset'] === asset.address)
      const reserve = {
        liquidityRate: big(row?.['liquidity_rate']),
        variableBorrowRate: big(row?.['variable_borrow_rate']),
        liquidityIndex: big(row?.['liquidity_index']),
        variableBorrowIndex: big(row?.['variable_borrow_index']),
        updatedAt: Date.parse(`${row?.['timestamp']?.replace(' ', 'T')}Z`) / 1000,
      }
      for (const [address, worthAt, by] of [
        [aToken, suppliedAt, normalizedIncome(reserve, timestamp)],
        [variableDebtToken, owedAt, normalizedDebt(reserve, timestamp)],
      ] as const) {
        const revision = Number(revisions.find(of => of['token'] === address)?.['revision'] ?? 0)
        const worth = (scaled: bigint) => worthAt(scaled, by, isDirectedRevision(revision))
        const view = { address, abi: viewAbi, ...at(number) }
        const total = big(totals.find(of => of['token'] === address)?.['scaled'])
        expect([total, worth(total)], `total of ${asset.symbol} at ${number}`).toEqual([
          await node.client.readContract({ ...view, functionName: 'scaledTotalSupply' }),
          await node.client.readContract({ ...view, functionName: 'totalSupply' }),
        ])
        for (const user of everyone) {
          const scaled = big(
            balances.find(of => of['account'] === user.toLowerCase() && of['token'] === address)?.['scaled'],
          )
          expect(worth(scaled), `${asset.symbol} of ${user} at ${number}`).toBe(
            await node.client.readContract({ ...view, functionName: 'balanceOf', args: [user] }),
          )
          values.worth += 2
        }
      }
    }
  }
})

test('the shares of each deposit and withdrawal are what the token added or took', {
  timeout: 600_000,
}, async () => {
  const flows = await pipeline.rows<
    Record<'vault' | 'account' | 'block' | 'kind' | 'shares' | 'others', string>
  >(
    `SELECT f.vault AS vault, f.account AS account, toString(f.block_number) AS block, f.kind AS kind, toString(f.shares) AS shares
     FROM flow AS f WHERE (f.vault, f.account, f.block_number) IN (
       SELECT vault, holder, block_number FROM balance GROUP BY vault, holder, block_number HAVING count() = 1)`,
  )
  for (const { vault, account, block, kind, shares } of flows) {
    if (![late, ...early].includes(vault as Address)) continue
    const change =
      (await scaledOf(vault, account, Number(block))) - (await scaledOf(vault, account, Number(block) - 1))
    expect(kind === 'deposit' ? change : -change, `${vault} of ${account} at ${block}`).toBe(BigInt(shares))
    values.flows++
  }
  expect(values.flows).toBeGreaterThan(60)
  const minted = await pipeline.rows(
    `SELECT position FROM event WHERE type = 'ShareTransferred' AND JSONHas(data, 'assets') AND block_number > ${upgraded}`,
  )
  expect(minted.length).toBeGreaterThan(3)
  console.info(values)
})

test('the API says of wallets what the tokens say', { timeout: 120_000 }, async () => {
  await api.catchUp()
  const { number } = await node.head()
  const get = async (path: string) => {
    const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body
  }
  const balancesOf = (body: { data: { address: string; lpToken: { balanceNative: string } }[] }) =>
    Object.fromEntries(
      body.data.map(({ address, lpToken }) => [address.toLowerCase(), lpToken.balanceNative]),
    )
  const own = async (user: Address, block: number) => {
    const held: Record<string, string> = {}
    for (const token of [late, ...early]) {
      const scaled = await scaledOf(token, user, block)
      if (scaled > 0n) held[token] = `${scaled}`
    }
    return held
  }
  for (const user of users) {
    expect(balancesOf(await get(`/v2/portfolio/positions/${user}`))).toEqual(await own(user, number))
    for (const past of blocks.filter((_, i) => i % 30 === 20))
      expect(balancesOf(await get(`/alpha/historical-balances/${user}/${past.timestamp}`))).toEqual(
        await own(user, past.number),
      )
    for (const { asset, aToken, variableDebtToken } of world.aave.reserves) {
      const path = `/beta/borrow/portfolio/positions/${user}/mainnet/${world.aave.pool}/${asset.address}`
      const answer = await request(api.app).get(path).set('x-api-key', api.apiKey)
      const worth = (address: Address) =>
        node.client.readContract({
          address,
          abi: viewAbi,
          functionName: 'balanceOf',
          args: [user],
          ...at(number),
        })
      const told = answer.body.asset ?? { suppliedNative: '0', borrowedNative: '0' }
      expect([told.suppliedNative, told.borrowedNative], `${asset.symbol} of ${user}`).toEqual([
        `${await worth(aToken)}`,
        `${await worth(variableDebtToken)}`,
      ])
    }
  }
})

test('what can be had of a reserve is what the pool says', { timeout: 120_000 }, async () => {
  const said = await pipeline.rows<Record<'asset' | 'block' | 'available', string>>(
    'SELECT asset, toString(block_number) AS block, toString(l.available) AS available FROM aave_liquidity AS l',
  )
  expect(said.length).toBeGreaterThan(100)
  for (const { asset, block, available } of said) {
    const { aToken } = world.aave.reserves.find(of => of.asset.address === asset) ?? { aToken: '0x' }
    const held = {
      address: asset as Address,
      abi: viewAbi,
      functionName: 'balanceOf',
      args: [aToken],
    } as const
    expect(available, `${asset} at ${block}`).toBe(
      `${await node.client.readContract({ ...held, ...at(Number(block)) })}`,
    )
  }
  const market = await request(api.app)
    .get(`/beta/borrow/markets/mainnet/${world.aave.pool}`)
    .set('x-api-key', api.apiKey)
  for (const { marketAssetId, availableLiquidity } of market.body.assetsData) {
    const virtual = await node.client.readContract({
      address: world.aave.pool,
      abi: poolAbi,
      functionName: 'getVirtualUnderlyingBalance',
      args: [marketAssetId],
    })
    expect(availableLiquidity.native, marketAssetId).toBe(`${virtual}`)
  }
})

const OF_EVENTS = ['aave_liquidity', 'aave_reserve', 'aave_revision', 'balance', 'flow', 'lending_event']

test('another processor that sees it all at once, and a replay, give the same', {
  timeout: 600_000,
}, async () => {
  const sums = await pipeline.visibleSums()
  const second = await createPipeline()
  try {
    await index(second, (await node.head()).number, [...early, late])
    const others = await second.visibleSums()
    for (const table of OF_EVENTS) expect(others[table], table).toEqual(sums[table])
  } finally {
    await second.drop()
  }
  const { pool } = pipeline.postgres
  const { clickhouse, projections } = pipeline
  const progress = { start: () => ({ update() {}, finish() {} }), close() {} }
  await replay({ pool, clickhouse, projections, streams: await listStreams(pool), progress, batch: 700 })
  expect(await pipeline.visibleSums()).toEqual(sums)
  expect(await differencesFromChain(pool, node.rpcUrl, (await node.head()).number, contracts())).toEqual([])
})
