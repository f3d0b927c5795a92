import { type Address, encodeFunctionData, type LocalAccount, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readOwnerFlows } from '../../jobs/flows.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { type Aave, aaveCalls, deployAave } from '../chain/aave.ts'
import { calls, deployFeed, deployToken, type Feed, type Token } from '../chain/deploy.ts'
import { differencesFromChain, follower, indexTo } from '../pipeline.ts'
import { published } from './artifacts.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { type Served, serve } from './served.ts'
import { type Stage, startStage } from './transactions/stage.ts'

const DAY = 86_400
const aTokenAbi = parseAbi([
  'function scaledBalanceOf(address) view returns (uint256)',
  'function scaledTotalSupply() view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function getReserveNormalizedIncome(address) view returns (uint256)',
  'function mintToTreasury(address[] assets)',
])

const incentivesAbi = parseAbi(['function setIncentivesController(address controller)'])
const rewardsController = published('@aave/periphery-v3', 'rewards/RewardsController')
/** Base units of the reward per second: at first, and from the second day on. */
const EMISSIONS = [10n ** 12n, 3n * 10n ** 12n] as const

const DetailedShape = z.object({
  protocol: z.object({ name: z.string() }),
  lpToken: z.object({ tokenAddress: z.string().optional() }).loose(),
  tvl: z.object({ native: z.string(), usd: z.string() }).loose(),
  apy: z.object({ '1day': z.object({ base: z.number(), reward: z.number(), total: z.number() }) }).loose(),
  rewards: z.array(
    z.object({
      asset: z.object({ address: z.string(), symbol: z.string() }).loose(),
      apy: z.record(z.string(), z.number()),
    }),
  ),
  lastUpdateTimestamp: z.number(),
})
const NrtShape = z
  .object({ totalSupply: z.string(), totalAssets: z.string(), sharePrice: z.number() })
  .loose()
const PositionsShape = z.object({
  data: z.array(
    z
      .object({
        lpToken: z.object({ balanceNative: z.string(), positionValueInAsset: z.string() }).loose(),
        asset: z.unknown(),
      })
      .loose(),
  ),
})
const BalanceShape = z.object({ lpToken: z.object({ balanceNative: z.string() }).loose() })
const EventsShape = z.object({
  data: z.array(z.object({ eventType: z.string(), assetAmountNative: z.string() }).loose()),
})

/** Contracts of @aave/core-v3: an aToken that a fact lists, found after its reserve had been watched for months. */
describe('an aToken in the catalogue', () => {
  let stage: Stage
  let api: ApiHarness
  let served: Served
  let aave: Aave
  let usd: Token
  let aToken: Address
  let users: [Address, Address, Address]
  let holder: LocalAccount
  let controller: Address
  let reward: Token

  const read = <T>(functionName: string, args: readonly unknown[] = [], address = aToken): Promise<T> =>
    stage.node.client.readContract({ address, abi: aTokenAbi, functionName, args } as never) as Promise<T>

  beforeAll(async () => {
    stage = await startStage()
    const { node } = stage
    const [, alice = '0x', bob = '0x', carol = '0x'] = node.accounts
    users = [alice, bob, carol]
    usd = await deployToken(node, { decimals: 6, symbol: 'USDX' })
    const eth = await deployToken(node, { decimals: 18, symbol: 'ETHX' })
    const one = await deployFeed(node, { description: 'USDX / USD', price: 1 })
    const many = await deployFeed(node, { description: 'ETHX / USD', price: 3_000 })
    const terms = { ltv: 0.7, liquidationThreshold: 0.75, liquidationBonus: 0.05 }
    aave = await deployAave(node, [
      { asset: usd, feed: one, ...terms },
      { asset: eth, feed: many, ...terms },
    ])
    aToken = aave.reserves[0]?.aToken ?? '0x'
    api = await startApi({ rpcUrl: node.rpcUrl })
    served = await serve(api)
    await api.recordFacts(
      [
        { subject: `asset:1:${usd.address}`, kind: 'feed', value: { feed: one.proxy, decimals: 8 } },
        {
          subject: `vault:1:${aToken}`,
          kind: 'listed',
          value: {
            protocol: 'aave',
            product: 'supply',
            version: 'v3',
            description: '',
            lendUrl: '',
            protocolVaultUrl: '',
          },
        },
      ],
      1_700_000_000,
    )
    await incentivise(one.proxy)
    await live(eth, one, many)
  }, 180_000)
  afterAll(async () => {
    served?.stop()
    await api?.stop()
    await stage?.node.stop()
  })

  async function index(feeds: Address[], listedVaults: Address[]) {
    const { number } = await stage.node.head()
    await indexTo(follower(api.pool, await loadProtocols()), number, {
      rpcUrl: stage.node.rpcUrl,
      listedVaults,
      contracts: {
        'aave-v3-pool': [aave.pool],
        'aave-v3-configurator': [aave.configurator],
        'aave-v3-rewards': [controller],
        'chainlink-feed': feeds,
      },
    })
    await api.catchUp()
  }

  /** The published RewardsController pays holders of the aToken; of what it pays a fact says the price. */
  async function incentivise(priceFeed: Address) {
    const { deploy, act: send, node, wait } = stage
    const admin = node.accounts[0] ?? '0x'
    const { abi } = rewardsController
    controller = await deploy(rewardsController)
    await send(controller, abi, 'initialize', admin)
    await send(aToken, incentivesAbi, 'setIncentivesController', controller)
    const pull = published('@aave/periphery-v3', 'rewards/transfer-strategies/PullRewardsTransferStrategy')
    const strategy = await deploy(pull, controller, admin, admin)
    reward = await deployToken(node, { decimals: 18, symbol: 'GIFT' })
    await api.recordFacts(
      [{ subject: `asset:1:${reward.address}`, kind: 'peg', value: { usd: '2' } }],
      1_700_000_000,
    )
    const { timestamp } = await node.head()
    const of = [aToken, reward.address] as const
    await send(controller, abi, 'configureAssets', [
      {
        emissionPerSecond: EMISSIONS[0],
        totalSupply: 0n,
        distributionEnd: timestamp + 20 * DAY,
        asset: aToken,
        reward: reward.address,
        transferStrategy: strategy,
        rewardOracle: priceFeed,
      },
    ])
    await wait(2 * DAY)
    await send(controller, abi, 'setEmissionPerSecond', aToken, [reward.address], [EMISSIONS[1]])
    await wait(DAY)
    await send(controller, abi, 'setDistributionEnd', ...of, timestamp + 40 * DAY)
  }

  /** Alice supplies, Carol borrows, interest accrues; part is withdrawn, passed on, and taken for the treasury. */
  async function live(eth: Token, dollar: Feed, ether: Feed) {
    const { node, mint } = stage
    const feeds = [dollar.proxy, ether.proxy]
    const [alice, bob, carol] = users
    const pool = aaveCalls(aave.pool)
    await mint(usd, alice, 10n ** 12n)
    await mint(eth, carol, 10n ** 21n)
    const send = async (call: Parameters<typeof node.send>[0]) => {
      await node.send(call)
      await node.mine()
    }
    // A feed that is silent for days has no price.
    const wait = async (seconds: number) => {
      await stage.wait(seconds)
      await send(calls.reportPrice(alice, dollar, 1))
    }
    await send(calls.approve(alice, usd.address, aave.pool))
    await send(calls.approve(carol, eth.address, aave.pool))
    await send(pool.supply(alice, usd.address, 10n ** 11n))
    await send(pool.supply(carol, eth.address, 10n ** 21n))
    await send(pool.borrow(carol, usd.address, 7n * 10n ** 10n))
    await index(feeds, [])
    await wait(30 * DAY)
    // Less than the interest since: logged as a mint.
    await send(pool.withdraw(alice, usd.address, 1_000n))
    await wait(DAY)
    await send(pool.withdraw(alice, usd.address, 10n ** 9n, bob))
    const transfer = encodeFunctionData({
      abi: aTokenAbi,
      functionName: 'transfer',
      args: [bob, 5n * 10n ** 9n],
    })
    await send({ from: alice, to: aToken, data: transfer, label: 'transfer' })
    const toTreasury = encodeFunctionData({
      abi: aTokenAbi,
      functionName: 'mintToTreasury',
      args: [[usd.address]],
    })
    await send({ from: carol, to: aave.pool, data: toTreasury, label: 'mintToTreasury' })
    await wait(DAY)
    await index(feeds, [aToken])
    holder = await stage.newUser()
    await mint(usd, holder.address, 2_000_000n)
    await served.act(stage, holder, aToken, 'deposit', 'amount=2000000')
    await wait(DAY)
    await served.act(stage, holder, aToken, 'redeem', 'all=true')
    await index(feeds, [aToken])
  }

  test('balances are the scaled ones of the contract; the reserve has nothing twice', async () => {
    const treasury = aave.treasury.toLowerCase()
    const accounts = [...users.slice(0, 2).map(account => account.toLowerCase()), treasury]
    const expected = Object.fromEntries(
      await Promise.all(
        accounts.map(async account => [account, String(await read('scaledBalanceOf', [account]))] as const),
      ),
    )
    expect(BigInt(expected[treasury] ?? 0)).toBeGreaterThan(0n)
    const asVault = await api.house.query<{ account: string; balance: string }>(
      'test',
      'SELECT holder AS account, toString(h.balance) AS balance FROM holder AS h FINAL WHERE h.balance > 0',
    )
    const asReserve = await api.house.query<{ account: string; balance: string }>(
      'test',
      `SELECT account, toString(argMax(scaled, position)) AS balance FROM aave_balance
       WHERE token = {aToken:String} GROUP BY account HAVING balance != '0'`,
      { aToken },
    )
    for (const rows of [asVault, asReserve])
      expect(Object.fromEntries(rows.map(row => [row.account, row.balance]))).toEqual(expected)
    const { number } = await stage.node.head()
    const differences = await differencesFromChain(api.pool, stage.node.rpcUrl, number, {
      'aave-v3-pool': [aave.pool],
      'aave-v3-configurator': [aave.configurator],
      'aave-v3-rewards': [controller],
    })
    expect(differences).toEqual([])
  })

  test('samples say what the contracts say at their block', async () => {
    const rows = await api.house.query<{ block: string; assets: string; supply: string; price: string }>(
      'test',
      `SELECT toString(block_number) AS block, toString(total_assets) AS assets, toString(total_supply) AS supply,
         toString(share_price_raw) AS price FROM vault_sample ORDER BY position`,
    )
    expect(rows.length).toBeGreaterThan(3)
    for (const { block, assets, supply, price } of rows) {
      const at = { abi: aTokenAbi, blockNumber: BigInt(block) }
      const { client } = stage.node
      const index = await client.readContract({
        ...at,
        address: aave.pool,
        functionName: 'getReserveNormalizedIncome',
        args: [usd.address],
      })
      expect([assets, supply, price]).toEqual([
        String(await client.readContract({ ...at, address: aToken, functionName: 'totalSupply' })),
        String(await client.readContract({ ...at, address: aToken, functionName: 'scaledTotalSupply' })),
        String((10n ** 6n * index) / 10n ** 27n),
      ])
    }
  })

  test('deposits and withdrawals are those of the pool; interest and the treasury’s share are none', async () => {
    const rows = await api.house.query<{ account: string; kind: string; assets: string }>(
      'test',
      'SELECT account, kind, toString(assets) AS assets FROM flow ORDER BY position',
    )
    const alice = users[0].toLowerCase()
    const own = holder.address.toLowerCase()
    const last = rows.at(-1)
    expect(rows.slice(0, -1).sort((a, b) => Number(a.account === own) - Number(b.account === own))).toEqual([
      { account: alice, kind: 'deposit', assets: '100000000000' },
      { account: alice, kind: 'redeem', assets: '1000' },
      { account: alice, kind: 'redeem', assets: '1000000000' },
      { account: own, kind: 'deposit', assets: '2000000' },
    ])
    expect(last).toEqual({
      account: own,
      kind: 'redeem',
      assets: String(await stage.balance(usd.address, holder.address)),
    })
    const { data } = await served.get(`/v2/portfolio/events/${holder.address}/mainnet/${aToken}`, EventsShape)
    expect(data.map(({ eventType }) => eventType)).toEqual(['deposit', 'withdrawal'])
    // The transaction calls the pool, not the vault.
    const [flow] = await readOwnerFlows(
      { pool: api.pool, clickhouse: api.house },
      { from: '1970-01-01', to: '2149-06-06' },
    )
    expect(flow).toMatchObject({ owner: 'test', vault: aToken, deposits_raw: '2000000', deposits_usd: 2 })
  })

  test('the API shows it with TVL, APY, a position worth its balance, and the same figures near real time', async () => {
    const detailed = await served.get(`/v2/detailed-vaults/mainnet/${aToken}`, DetailedShape)
    expect(detailed.protocol.name).toBe('aave')
    const supply = await read<bigint>('totalSupply')
    expect(BigInt(detailed.tvl.native)).toBeGreaterThan(supply - 10n ** 6n)
    expect(BigInt(detailed.tvl.native)).toBeLessThanOrEqual(supply)
    const index = await read<bigint>('getReserveNormalizedIncome', [usd.address], aave.pool)
    // A month of interest by the pool's own index, seen from the birth of the market.
    expect(detailed.apy['1day'].base).toBeGreaterThan(0.001)
    expect(detailed.apy['1day'].base).toBeLessThan(1)
    const near = await served.get(`/v2/nrt/vault/mainnet/${aToken}`, NrtShape)
    expect(near.totalAssets).toBe(String(supply))
    expect(near.totalSupply).toBe(String(await read('scaledTotalSupply')))
    expect(near.sharePrice).toBe(Number((10n ** 6n * index) / 10n ** 27n) / 1e6)
    const { data } = await served.get(`/v2/portfolio/positions/${users[1]}`, PositionsShape)
    expect(data).toHaveLength(1)
    expect(data[0]?.lpToken.balanceNative).toBe(String(await read('scaledBalanceOf', [users[1]])))
    // Transactions speak of the token's own units instead, and take what the position is said to be worth.
    const balance = await read<bigint>('balanceOf', [users[1]])
    const at = `${users[1]}/mainnet/${aToken}`
    const context = await served.get(`/v2/transactions/context/${at}`, BalanceShape)
    expect(context.lpToken.balanceNative).toBe(String(balance))
    const worth = BigInt(data[0]?.lpToken.positionValueInAsset ?? '0')
    expect(worth).toBeGreaterThan(BigInt(data[0]?.lpToken.balanceNative ?? '0'))
    expect(worth).toBeLessThanOrEqual(balance)
    const redeem = `/v2/transactions/redeem/${at}?assetAddress=${aToken}&amount=${worth}`
    await served.get(redeem, z.object({ actions: z.array(z.unknown()).length(1) }).loose())
  })

  test('rewards of the controller are in its list, at the emission that the controller itself says', async () => {
    const { client } = stage.node
    const [, emission, , end] = (await client.readContract({
      address: controller,
      abi: rewardsController.abi,
      functionName: 'getRewardsData',
      args: [aToken, reward.address],
    })) as [bigint, bigint, bigint, bigint]
    const streams = await api.house.query<{ vault: string; rate: string; ends_at: number; at: number }>(
      'test',
      `SELECT vault, toString(s.rate) AS rate, ends_at, toUnixTimestamp(timestamp) AS at FROM reward_stream AS s
       ORDER BY position`,
    )
    expect(streams.map(({ vault, rate }) => [vault, rate])).toEqual([
      [aToken, String(EMISSIONS[0])],
      [aToken, String(EMISSIONS[1])],
      [aToken, String(EMISSIONS[1])],
    ])
    expect(streams.at(-1)).toMatchObject({ rate: String(emission), ends_at: Number(end) })
    const { timestamp: now } = await stage.node.head()
    expect(now).toBeLessThan(Number(end))

    const detailed = await served.get(`/v2/detailed-vaults/mainnet/${aToken}`, DetailedShape)
    expect(detailed.rewards.map(({ asset }) => [asset.address.toLowerCase(), asset.symbol])).toEqual([
      [reward.address, 'GIFT'],
    ])
    // What was paid in the window by the controller's emissions of then, in dollars of 2 each, per dollar supplied.
    const paid = (from: number) =>
      streams.reduce((sum, { rate, at }, i) => {
        const until = Math.min(streams[i + 1]?.at ?? now, now)
        return sum + (Number(rate) / 1e18) * Math.max(0, until - Math.max(at, from))
      }, 0)
    for (const [window, days] of [
      ['1day', 1],
      ['7day', 7],
      ['30day', 30],
    ] as const) {
      const perYear = (paid(now - days * DAY) * 2 * 365) / days / Number(detailed.tvl.usd)
      expect(detailed.rewards[0]?.apy[window], window).toBeCloseTo(perYear, 9)
    }
    expect(detailed.apy['1day'].reward).toBe(detailed.rewards[0]?.apy['1day'])
  })
})
