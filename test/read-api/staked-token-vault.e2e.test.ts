import { type Address, getAddress, type LocalAccount, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readOwnerFlows } from '../../jobs/flows.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { calls, deployToken, type Token } from '../chain/deploy.ts'
import { differencesFromChain, follower, indexTo } from '../pipeline.ts'
import { contract } from './artifacts.ts'
import { type ApiHarness, startApi } from './harness.ts'
import { type Served, serve } from './served.ts'
import { type Stage, startStage } from './transactions/stage.ts'

const DAY = 86_400
const unit = 10n ** 18n
const stakeAbi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
])
const EventsShape = z.object({
  data: z.array(z.object({ eventType: z.string(), assetAmountNative: z.string() }).loose()),
})
const DetailedShape = z.object({
  protocol: z.object({ name: z.string() }),
  tvl: z.object({ native: z.string() }).loose(),
})
const NrtShape = z
  .object({ totalSupply: z.string(), totalAssets: z.string(), sharePrice: z.number() })
  .loose()

/** A stake as in Aave's safety module (a contract of our own after StakedTokenV3) that a fact lists. */
describe('a staked token in the catalogue', () => {
  let stage: Stage
  let api: ApiHarness
  let served: Served
  let stake: Address
  let asset: Token
  let reward: Token
  let user: LocalAccount
  const friend: Address = '0x00000000000000000000000000000000f00d0001'
  const artifact = contract('StakedTokenLike')

  beforeAll(async () => {
    stage = await startStage()
    const { node, newUser, mint, deploy, act, wait } = stage
    asset = await deployToken(node, { decimals: 18, symbol: 'AAVX' })
    reward = await deployToken(node, { decimals: 18, symbol: 'RWD' })
    stake = await deploy(artifact, asset.address, reward.address)
    api = await startApi({ rpcUrl: node.rpcUrl })
    served = await serve(api)
    const listed = {
      protocol: 'aave',
      product: 'safety-module',
      version: 'v3',
      description: '',
      lendUrl: '',
      protocolVaultUrl: '',
    }
    await api.recordFacts([{ subject: `vault:1:${stake}`, kind: 'listed', value: listed }], 1_700_000_000)
    user = await newUser()
    await mint(asset, user.address, 1_000n * unit)
    await mint(reward, stake, 9n * unit)
    // A listed vault is looked at in the first block of a batch: it was born in this one.
    await index()
    await wait(DAY)
    await index()
    const go = (step: string, wish?: string) => served.act(stage, user, stake, step, wish)

    await go('deposit', `amount=${300n * unit}`)
    expect(await served.contextOf(user, stake)).toMatchObject({
      currentRedeemStep: 'start-redeem-cooldown',
      lpToken: { balanceNative: String(300n * unit) },
    })
    const { data = '0x' } = calls.transfer(user.address, stake, friend, 50n * unit)
    await stage.sign(user, { to: stake, chainId: 1, data })
    await act(stake, artifact.abi, 'grant', user.address, 9n * unit)
    await go('claim-rewards')
    expect(await stage.balance(reward.address, user.address)).toBe(9n * unit)
    await go('start-redeem-cooldown')
    await wait(20 * DAY)
    expect(await served.contextOf(user, stake)).toMatchObject({
      currentRedeemStep: 'redeem',
      pendingRequests: { redeems: [{ status: 'ready', lpTokenAmount: String(250n * unit) }] },
    })
    await go('redeem', `amount=${100n * unit}`)
    await act(stake, artifact.abi, 'slash', 2_500)
    await wait(DAY)
    await index()
  }, 180_000)
  afterAll(async () => {
    served?.stop()
    await api?.stop()
    await stage?.node.stop()
  })

  async function index() {
    const { number } = await stage.node.head()
    const protocols = await loadProtocols()
    await indexTo(follower(api.pool, protocols), number, {
      rpcUrl: stage.node.rpcUrl,
      listedVaults: [stake],
    })
    await api.catchUp()
  }

  test('balances are those of the contract, flows those of its logs', async () => {
    const rows = await api.house.query<{ holder: string; balance: string }>(
      'test',
      'SELECT holder, toString(h.balance) AS balance FROM holder AS h FINAL WHERE h.balance > 0',
    )
    const expected = await Promise.all(
      [user.address.toLowerCase(), friend].map(async holder => ({
        holder,
        balance: String(await stage.balance(stake, holder as Address)),
      })),
    )
    expect(rows.sort((a, b) => (a.holder < b.holder ? 1 : -1))).toEqual(
      expected.sort((a, b) => (a.holder < b.holder ? 1 : -1)),
    )
    expect(expected.map(({ balance }) => BigInt(balance)).sort()).toEqual([150n * unit, 50n * unit])
    const { data } = await served.get(`/v2/portfolio/events/${user.address}/mainnet/${stake}`, EventsShape)
    expect(data.map(({ eventType, assetAmountNative }) => [eventType, assetAmountNative])).toEqual([
      ['deposit', String(300n * unit)],
      ['claim', '0'],
      ['withdrawal', String(100n * unit)],
    ])
    expect(data[1]).toMatchObject({
      rewardToken: getAddress(reward.address),
      rewardAmountNative: String(9n * unit),
    })
    const range = { from: '1970-01-01', to: '2149-06-06' }
    const [flow] = await readOwnerFlows({ pool: api.pool, clickhouse: api.house }, range)
    expect(flow).toMatchObject({ owner: 'test', vault: stake, deposits_raw: String(300n * unit) })
    const { number } = await stage.node.head()
    expect(await differencesFromChain(api.pool, stage.node.rpcUrl, number)).toEqual([])
  })

  test('samples say what a share pays at their block, before the slashing and after', async () => {
    const rows = await api.house.query<Record<'block' | 'assets' | 'supply' | 'price', string>>(
      'test',
      `SELECT toString(block_number) AS block, toString(total_assets) AS assets, toString(total_supply) AS supply,
         toString(share_price_raw) AS price FROM vault_sample ORDER BY position`,
    )
    const prices = new Set<string>()
    for (const { block, assets, supply, price } of rows) {
      prices.add(price)
      const at = { address: stake, abi: stakeAbi, blockNumber: BigInt(block) }
      const { client } = stage.node
      const shares = await client.readContract({ ...at, functionName: 'totalSupply' })
      expect([supply, price]).toEqual([
        String(shares),
        String(await client.readContract({ ...at, functionName: 'previewRedeem', args: [unit] })),
      ])
      // All shares at the price of one: the price has 18 digits, so it is off by its last one for each share.
      const worth = await client.readContract({ ...at, functionName: 'previewRedeem', args: [shares] })
      expect(worth - BigInt(assets)).toBeGreaterThanOrEqual(0n)
      expect(worth - BigInt(assets)).toBeLessThanOrEqual(shares / unit)
    }
    expect(prices.size).toBe(2)
  })

  test('the API shows it under its protocol, with what is left after the slashing', async () => {
    const detailed = await served.get(`/v2/detailed-vaults/mainnet/${stake}`, DetailedShape)
    expect(detailed.protocol.name).toBe('aave')
    const near = await served.get(`/v2/nrt/vault/mainnet/${stake}`, NrtShape)
    expect(near).toMatchObject({ totalSupply: String(200n * unit), totalAssets: detailed.tvl.native })
    expect(near.sharePrice).toBeCloseTo(0.75, 12)
  })
})
