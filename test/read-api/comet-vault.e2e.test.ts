import { type Address, type LocalAccount, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readOwnerFlows } from '../../jobs/flows.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { type CometMarket, cometAbi, cometCalls, cometRates, deployComet } from '../chain/comet.ts'
import { calls, deployFeed, deployToken, type Feed, type Token } from '../chain/deploy.ts'
import { differencesFromChain, follower, indexTo } from '../pipeline.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { type Served, serve } from './served.ts'
import { type Stage, startStage } from './transactions/stage.ts'

const DAY = 86_400
const insideAbi = parseAbi([
  'struct TotalsBasic { uint64 baseSupplyIndex; uint64 baseBorrowIndex; uint64 trackingSupplyIndex; uint64 trackingBorrowIndex; uint104 totalSupplyBase; uint104 totalBorrowBase; uint40 lastAccrualTime; uint8 pauseFlags; }',
  'function totalsBasic() view returns (TotalsBasic)',
  'function userBasic(address) view returns (int104 principal, uint64, uint64, uint16, uint8)',
])

const DetailedShape = z.object({
  name: z.string(),
  protocol: z.object({ name: z.string() }),
  isTransactional: z.boolean(),
  tvl: z.object({ native: z.string() }).loose(),
  apy: z.object({ '1day': z.object({ base: z.number() }) }).loose(),
})
const NrtShape = z
  .object({ totalSupply: z.string(), totalAssets: z.string(), sharePrice: z.number() })
  .loose()
const PositionsShape = z.object({
  data: z.array(z.object({ lpToken: z.object({ balanceNative: z.string() }).loose() }).loose()),
})
const EventsShape = z.object({
  data: z.array(
    z.object({ eventType: z.string(), assetAmountNative: z.string(), logIndex: z.int() }).loose(),
  ),
})

/** A Comet (of our own, with Comet's accounting) that nobody listed, as a vault of its base asset. */
describe('a Comet in the catalogue', () => {
  let stage: Stage
  let api: ApiHarness
  let served: Served
  let comet: CometMarket
  let usd: Token
  let eth: Token
  let feeds: { usd: Feed; eth: Feed }
  let lenders: [Address, Address]
  let debtors: [Address, Address, Address]
  let holder: LocalAccount

  const usdc = (whole: number) => BigInt(Math.round(whole * 1e6))
  const everyone = () =>
    [...lenders, ...debtors, holder.address].map(account => account.toLowerCase() as Address)

  beforeAll(async () => {
    stage = await startStage()
    const { node, mint } = stage
    const [, alice = '0x', bob = '0x', carol = '0x', dave = '0x', erin = '0x'] = node.accounts
    lenders = [alice, bob]
    debtors = [carol, dave, erin]
    holder = await stage.newUser()
    usd = await deployToken(node, { decimals: 6, symbol: 'USDX' })
    eth = await deployToken(node, { decimals: 18, symbol: 'ETHX' })
    feeds = {
      usd: await deployFeed(node, { description: 'USDX / USD', price: 1 }),
      eth: await deployFeed(node, { description: 'ETHX / USD', price: 3_000 }),
    }
    comet = await deployComet(node, { token: usd, feed: feeds.usd }, [
      { token: eth, feed: feeds.eth, borrow: 0.8, liquidate: 0.85, liquidation: 0.93 },
    ])
    api = await startApi({ rpcUrl: node.rpcUrl })
    served = await serve(api)
    const feed = { feed: feeds.usd.proxy, decimals: 8 }
    await api.recordFacts([{ subject: `asset:1:${usd.address}`, kind: 'feed', value: feed }], 1_700_000_000)
    for (const account of [...lenders, ...debtors]) {
      await mint(usd, account, usdc(200_000))
      await mint(eth, account, 10n ** 20n)
      await node.send(calls.approve(account, usd.address, comet.address))
      await node.send(calls.approve(account, eth.address, comet.address))
    }
    await node.mine()
    await live()
  }, 180_000)
  afterAll(async () => {
    served?.stop()
    await api?.stop()
    await stage?.node.stop()
  })

  const contracts = () => ({
    'compound-v3-configurator': [comet.configurator],
    'chainlink-feed': [feeds.usd.proxy, feeds.eth.proxy],
  })

  async function index() {
    const { number } = await stage.node.head()
    const { rpcUrl } = stage.node
    await indexTo(follower(api.pool, await loadProtocols()), number, { rpcUrl, contracts: contracts() })
    await api.catchUp()
  }

  /** Lends, borrows, passes on, repays more than is owed, borrows beyond the supply, is absorbed; some in one block. */
  async function live() {
    const { node, wait } = stage
    const [alice, bob] = lenders
    const [carol, dave, erin] = debtors
    const { supply, withdraw, transfer, absorb, configure } = cometCalls(comet.address)
    type Sent = Parameters<typeof node.send>[0]
    const block = async (...sent: Sent[]) => {
      for (const call of sent) await node.send(call)
      await node.mine()
    }
    await block(supply(alice, usd.address, usdc(100_000)))
    for (const debtor of debtors) await block(supply(debtor, eth.address, 10n ** 19n))
    await block(withdraw(carol, usd.address, usdc(20_000)), withdraw(dave, usd.address, usdc(20_000)))
    await wait(20 * DAY)
    await block(withdraw(alice, usd.address, 1_001n), supply(alice, usd.address, 7n))
    await wait(DAY)
    await block(transfer(alice, bob, usdc(30_000.000_001)), supply(bob, usd.address, usdc(5)))
    await index()
    // Repays 20,000 and a little, lends the rest; and the other way round.
    await block(supply(dave, usd.address, usdc(50_000)))
    await wait(3 * DAY)
    await block(withdraw(dave, usd.address, usdc(40_000)))
    await block(configure(alice, cometRates.steeper))
    await wait(10 * DAY)
    await block(transfer(bob, carol, usdc(1_000)))
    await block(withdraw(erin, usd.address, usdc(23_000)))
    await block(calls.reportPrice(node.accounts[0] ?? '0x', feeds.eth, 2_600))
    await block(absorb(alice, erin))
    await block(calls.reportPrice(node.accounts[0] ?? '0x', feeds.eth, 3_000))
    await wait(DAY)
    await index()
    await stage.mint(usd, holder.address, 2_000_000n)
    await served.act(stage, holder, comet.address, 'deposit', 'amount=2000000')
    await wait(40 * DAY)
    await served.act(stage, holder, comet.address, 'redeem', 'all=true')
    await wait(DAY)
    await index()
  }

  const inside = (block: bigint) => ({ address: comet.address, abi: insideAbi, blockNumber: block })
  const views = (block: bigint) => ({ address: comet.address, abi: cometAbi, blockNumber: block })

  test('balances are the principals of the contract, and are worth its balanceOf, at every block of an act', async () => {
    const { client } = stage.node
    const states = await api.house.query<{ block: string; index: string }>(
      'test',
      'SELECT toString(block_number) AS block, toString(argMax(supply_index, position)) AS index FROM comet_state GROUP BY block_number ORDER BY block_number',
    )
    expect(states.length).toBeGreaterThan(15)
    let lent = 0
    for (const { block, index } of states) {
      const at = BigInt(block)
      const totals = await client.readContract({ ...inside(at), functionName: 'totalsBasic' })
      const header = await client.getBlock({ blockNumber: at })
      const rows = await api.house.query<{ holder: string; balance: string }>(
        'test',
        'SELECT holder, toString(argMax(b.balance, position)) AS balance FROM balance AS b WHERE vault = {vault:String} AND block_number <= {block:UInt64} GROUP BY holder',
        { vault: comet.address, block },
      )
      const balances = new Map(rows.map(row => [row.holder, BigInt(row.balance)]))
      for (const account of everyone()) {
        const held = balances.get(account) ?? 0n
        const [principal] = await client.readContract({
          ...inside(at),
          functionName: 'userBasic',
          args: [account],
        })
        expect(held, `${account} at ${block}`).toBe(principal > 0n ? principal : 0n)
        if (held > 0n) lent++
        // At the index of the state sampled, where it was sampled in a block that accrued.
        if (Number(header.timestamp) !== totals.lastAccrualTime) continue
        expect((held * BigInt(index)) / 10n ** 15n, `worth of ${account} at ${block}`).toBe(
          await client.readContract({ ...views(at), functionName: 'balanceOf', args: [account] }),
        )
      }
      expect([...balances.values()].reduce((a, b) => a + b, 0n)).toBe(totals.totalSupplyBase)
    }
    expect(lent).toBeGreaterThan(30)
    const { number } = await stage.node.head()
    expect(await differencesFromChain(api.pool, stage.node.rpcUrl, number, contracts())).toEqual([])
  })

  test('samples say what the contract says at their block, with interest up to it', async () => {
    const rows = await api.house.query<
      Record<'block' | 'assets' | 'supply' | 'price' | 'idle' | 'lent', string>
    >(
      'test',
      `SELECT toString(block_number) AS block, toString(total_assets) AS assets, toString(total_supply) AS supply,
         toString(share_price_raw) AS price, toString(idle_assets) AS idle, toString(borrowed_assets) AS lent FROM vault_sample ORDER BY position`,
    )
    expect(rows.length).toBeGreaterThan(10)
    const { client } = stage.node
    const accrued = new Set<bigint>()
    for (const { block, assets, supply, price, idle, lent } of rows) {
      const at = BigInt(block)
      const totals = await client.readContract({ ...inside(at), functionName: 'totalsBasic' })
      const { timestamp } = await client.getBlock({ blockNumber: at })
      const utilization = await client.readContract({ ...views(at), functionName: 'getUtilization' })
      const rate = await client.readContract({
        ...views(at),
        functionName: 'getSupplyRate',
        args: [utilization],
      })
      const elapsed = timestamp - BigInt(totals.lastAccrualTime)
      accrued.add(elapsed)
      const stored = totals.baseSupplyIndex
      const now = stored + (stored * rate * elapsed) / 10n ** 18n
      expect([assets, supply, price, lent, idle], `block ${block}`).toEqual([
        String(await client.readContract({ ...views(at), functionName: 'totalSupply' })),
        String(totals.totalSupplyBase),
        String((10n ** 6n * now) / 10n ** 15n),
        String(await client.readContract({ ...views(at), functionName: 'totalBorrow' })),
        String(
          await client.readContract({
            address: usd.address,
            abi: cometAbi,
            functionName: 'balanceOf',
            args: [comet.address],
            blockNumber: at,
          }),
        ),
      ])
    }
    expect(accrued.size).toBeGreaterThan(1)
  })

  test('flows are what was lent and taken back; debts, gifts and absorptions are none', async () => {
    const rows = await api.house.query<{ account: string; kind: string; assets: string }>(
      'test',
      'SELECT account, kind, toString(assets) AS assets FROM flow ORDER BY block_number, log_index',
    )
    const [alice, bob] = lenders
    const [, dave] = debtors
    const of = (account: string) =>
      rows
        .filter(row => row.account === account.toLowerCase())
        .map(({ kind, assets }) => [kind, BigInt(assets)] as const)
    expect(of(alice)).toEqual([
      ['deposit', usdc(100_000)],
      ['redeem', 1_001n],
      ['deposit', 7n],
    ])
    expect(of(bob)).toEqual([['deposit', usdc(5)]])
    const [lent, taken, ...more] = of(dave)
    expect(more).toEqual([])
    // 50,000 less the debt of 20,000 with a month of interest; all of it back with three days' more.
    expect(lent?.[0]).toBe('deposit')
    expect(lent?.[1]).toBeGreaterThan(usdc(29_900))
    expect(lent?.[1]).toBeLessThan(usdc(30_000))
    expect(taken?.[0]).toBe('redeem')
    expect(taken?.[1]).toBeGreaterThan(lent?.[1] ?? 0n)
    expect(taken?.[1]).toBeLessThan(usdc(30_100))
    const paid = await stage.balance(usd.address, holder.address)
    expect(of(holder.address)).toEqual([
      ['deposit', 2_000_000n],
      ['redeem', paid],
    ])
    expect(paid).toBeGreaterThan(2_000_000n)
    const { data } = await served.get(
      `/v2/portfolio/events/${holder.address}/mainnet/${comet.address}`,
      EventsShape,
    )
    expect(data.map(({ eventType }) => eventType)).toEqual(['deposit', 'withdrawal'])
    expect(data[1]?.logIndex).toBeLessThan(5)
    const [flow] = await readOwnerFlows(
      { pool: api.pool, clickhouse: api.house },
      { from: '1970-01-01', to: '2149-06-06' },
    )
    expect(flow).toMatchObject({ owner: 'test', vault: comet.address, deposits_raw: '2000000' })
  })

  test('the API shows it with TVL, APY, positions, and the same figures near real time', async () => {
    const { client } = stage.node
    const detailed = await served.get(`/v2/detailed-vaults/mainnet/${comet.address}`, DetailedShape)
    expect(detailed).toMatchObject({
      name: 'Compound-like',
      protocol: { name: 'compound' },
      isTransactional: true,
    })
    expect(detailed.apy['1day'].base).toBeGreaterThan(0.001)
    expect(detailed.apy['1day'].base).toBeLessThan(1)
    const near = await served.get(`/v2/nrt/vault/mainnet/${comet.address}`, NrtShape)
    const now = await client.getBlockNumber()
    const supply = await client.readContract({ ...views(now), functionName: 'totalSupply' })
    const totals = await client.readContract({ ...inside(now), functionName: 'totalsBasic' })
    expect(near.totalAssets).toBe(String(supply))
    expect(near.totalSupply).toBe(String(totals.totalSupplyBase))
    expect(near.sharePrice).toBeCloseTo(Number(supply) / Number(totals.totalSupplyBase), 5)
    expect(near.sharePrice).toBeGreaterThan(1)
    expect(detailed.tvl.native).toBe(String(supply))
    const { data } = await served.get(`/v2/portfolio/positions/${lenders[1]}`, PositionsShape)
    const [principal] = await client.readContract({
      ...inside(now),
      functionName: 'userBasic',
      args: [lenders[1]],
    })
    expect(data.map(({ lpToken }) => lpToken.balanceNative)).toEqual([String(principal)])
  })
})
