import request from 'supertest'
import { type Address, erc4626Abi, getAddress, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { morphoAbi } from './chain/abis.ts'
import { calls, deployFeed, deployToken, deployVault, deposit, type Token } from './chain/deploy.ts'
import { deployMorpho, type Market, morphoCalls } from './chain/morpho.ts'
import { createPipeline, type Pipeline } from './pipeline.ts'
import { contract } from './read-api/artifacts.ts'
import { type ApiHarness, startApi } from './read-api/harness.ts'
import { type Stage, startStage, vaultRef } from './read-api/transactions/stage.ts'

/**
 * Capacity, composition, utilization and rewards of vaults on real Morpho Blue and plain ones, from the chain through the
 * pipeline to the API, against the contracts' own view functions at the block that the answer names.
 */
const unit = 10n ** 18n
let stage: Stage
let pipeline: Pipeline
let api: ApiHarness
let user: LocalAccount
let morpho: Address
let asset: Token
let markets: [Market, Market]
let lending: Address
let plain: Address
let paying: Address
let rewardToken: Address
let streams: Address
const WEEK = 7 * 86_400
const notifiedAt: number[] = []

beforeAll(async () => {
  stage = await startStage()
  const { node, act, mint } = stage
  asset = await deployToken(node, { decimals: 18, symbol: 'LOAN' })
  const collateral = await deployToken(node, { decimals: 18, symbol: 'COLL' })
  const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
  const pair = { loan: asset, collateral, loanFeed: feed, collateralFeed: feed }
  const deployed = await deployMorpho(node, [
    { ...pair, lltv: 0.8 },
    { ...pair, lltv: 0.9 },
  ])
  morpho = deployed.address
  markets = deployed.markets as [Market, Market]
  await node.mine()

  const artifact = contract('MetaMorphoLike')
  lending = await stage.deploy(artifact, asset.address, morpho)
  await act(lending, artifact.abi, 'addMarket', markets[0].params, 400n * unit)
  await act(lending, artifact.abi, 'addMarket', markets[1].params, 300n * unit)
  user = await stage.newUser()
  await mint(asset, user.address, 2_000n * unit)
  const ref = vaultRef(lending, asset, { symbol: 'TST', decimals: 18 })
  await stage.perform(ref, user, 'deposit', { amount: 500n * unit })

  // Half of the first market and a tenth of the second are borrowed, and interest accrues for a month.
  const borrower = node.accounts[3] ?? '0x'
  await mint(collateral, borrower, 1_000n * unit)
  const { supplyCollateral, borrow } = morphoCalls(morpho)
  await node.send(calls.approve(borrower, collateral.address, morpho))
  for (const [market, assets] of [
    [markets[0], 200n],
    [markets[1], 10n],
  ] as const) {
    await node.send(supplyCollateral(borrower, market, 400n * unit))
    await node.send(borrow(borrower, market, assets * unit))
  }
  await node.mine()
  const vault = await deployVault(node, { asset })
  plain = vault.address
  await deposit(node, { vault, user: node.accounts[4] ?? '0x', assets: 7n * unit })
  const reward = await deployToken(node, { decimals: 6, symbol: 'RWD' })
  rewardToken = reward.address
  paying = await stage.deploy(contract('RewardVault'), asset.address, reward.address)
  const payer = { ...asset, ...vault, address: paying }
  await deposit(node, { vault: payer, user: node.accounts[5] ?? '0x', assets: 200n * unit })
  streams = await stage.deploy(contract('RewardStreamsLike'))
  const give = (startEpoch: number, amounts: bigint[]) =>
    act(
      streams,
      contract('RewardStreamsLike').abi,
      'registerReward',
      lending,
      rewardToken,
      startEpoch,
      amounts,
    )
  const tokens = (n: number) => BigInt(n) * 1_000_000n
  await give(0, [100, 200, 0, 400, 500, 600, 700].map(tokens))
  const { timestamp } = await node.head()
  await give(Math.floor(timestamp / WEEK) + 4, [10, 20, 30].map(tokens))
  await stage.wait(30 * 86_400)
  const notify = (amount: bigint) => act(paying, contract('RewardVault').abi, 'notifyRewardAmount', amount)
  await notify(700_000_000n)
  notifiedAt.push((await node.head()).timestamp)
  await stage.wait(2 * 86_400)
  await notify(1_400_000_000n)
  notifiedAt.push((await node.head()).timestamp)
  await stage.wait(86_400)
  // A market's rate is known once it has accrued.
  for (const { params } of markets) await act(morpho, morphoAbi, 'accrueInterest', params)
  // What was sampled last is the state at the head.
  await stage.perform(ref, user, 'deposit', { amount: unit })

  pipeline = await createPipeline()
  await pipeline.indexTo((await node.head()).number, {
    rpcUrl: node.rpcUrl,
    contracts: { 'morpho-blue': [morpho], 'euler-reward-streams': [streams] },
  })
  await pipeline.project()
  api = await startApi({ rpcUrl: node.rpcUrl, on: pipeline })
  await api.recordFacts(
    [
      { subject: `asset:1:${asset.address}`, kind: 'peg', value: { usd: '2' } },
      { subject: `asset:1:${rewardToken.toLowerCase()}`, kind: 'peg', value: { usd: '0.5' } },
    ],
    1_700_000_000,
  )
  await api.catchUp()
})
afterAll(async () => {
  await api?.stop()
  await pipeline?.drop()
  await stage?.node.stop()
})

const read = <const N extends 'totalAssets' | 'maxDeposit'>(vault: Address, functionName: N) =>
  stage.node.client.readContract({
    address: vault,
    abi: erc4626Abi,
    functionName,
    args: (functionName === 'maxDeposit' ? [user.address] : []) as never,
  }) as Promise<bigint>

async function analytics(vault: Address) {
  const answer = await request(api.app)
    .post(`/beta/advanced-analytics/mainnet/${vault}`)
    .set('x-api-key', api.apiKey)
    .send({ select: { composition: true, utilizationRate: true } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

async function detailed(vault: Address) {
  const { body } = await request(api.app)
    .get(`/v2/detailed-vaults/mainnet/${vault}`)
    .set('x-api-key', api.apiKey)
  return body
}

describe('a vault over markets', () => {
  it('takes what its markets still take', async () => {
    const [total, room] = [await read(lending, 'totalAssets'), await read(lending, 'maxDeposit')]
    expect(room).toBeGreaterThan(0n)
    expect(await detailed(lending)).toMatchObject({
      remainingCapacity: String(room),
      maxCapacity: String(total + room),
    })
  })

  it('is composed of its supplies with the interest up to now', async () => {
    const { composition, utilizationRate } = await analytics(lending)
    // Accruing on a throw-away fork of the state: what Morpho itself says after accrueInterest.
    const snapshot = await stage.node.rpc('evm_snapshot', [])
    const expected: { lltv: string; value: bigint; lent: number }[] = []
    for (const [market, lltv] of [
      [markets[0], '80 %'],
      [markets[1], '90 %'],
    ] as const) {
      await stage.act(morpho, morphoAbi, 'accrueInterest', market.params)
      const at = { address: morpho, abi: morphoAbi } as const
      const [shares] = await stage.node.client.readContract({
        ...at,
        functionName: 'position',
        args: [market.id, lending],
      })
      const [assets, all, borrowed] = await stage.node.client.readContract({
        ...at,
        functionName: 'market',
        args: [market.id],
      })
      const value = (shares * (assets + 1n)) / (all + 1_000_000n)
      expected.push({ lltv, value, lent: (Number(borrowed) / Number(assets)) * Number(value) })
    }
    await stage.node.rpc('evm_revert', [snapshot])
    expect(composition.items.map(({ kind }: { kind: string }) => kind)).toEqual(['deployed', 'deployed'])
    const total = await read(lending, 'totalAssets')
    expect(composition.totalAssetsNative).toBe(String(total))
    for (const [i, { lltv, value }] of expected.entries()) {
      const item = composition.items[i]
      expect(item.name).toMatch(new RegExp(`^Morpho Blue .*/LOAN ${lltv}$`))
      expect(Number(item.valueNative) / Number(value)).toBeCloseTo(1, 6)
      expect(item.allocation).toBeCloseTo(Number(value) / Number(total), 6)
    }
    const sum = expected.reduce((all, { value }) => all + Number(value), 0)
    const lent = expected.reduce((all, one) => all + one.lent, 0)
    expect(utilizationRate.value).toBeCloseTo(lent / sum, 6)
    expect(utilizationRate.value).toBeGreaterThan(0.4)
  })
})

describe('a vault that lends nothing', () => {
  it('is idle, takes everything, and has no utilization', async () => {
    const { composition, utilizationRate } = await analytics(plain)
    expect(composition).toEqual({
      items: [
        {
          name: 'Idle LOAN',
          address: getAddress(asset.address),
          network: 'mainnet',
          assetSymbol: 'LOAN',
          allocation: 1,
          valueNative: String(7n * unit),
          kind: 'idle',
        },
      ],
      totalAssetsNative: String(7n * unit),
    })
    expect(utilizationRate).toEqual({ value: null })
    const vault = await detailed(plain)
    expect(vault.maxCapacity).toBeUndefined()
    expect(vault.remainingCapacity).toBeUndefined()
  })
})

describe('a vault that pays rewards out itself', () => {
  it('yields what its own rate says, renewed streams included', async () => {
    const { rewards, apy, tvl } = await detailed(paying)
    expect(rewards.map((one: { asset: { symbol: string } }) => one.asset.symbol)).toEqual(['RWD'])
    const abi = contract('RewardVault').abi
    const rate = (await stage.node.client.readContract({
      address: paying,
      abi,
      functionName: 'rewardRate',
    })) as bigint
    // 0.5 USD a token of 6 decimals, for 200 units of 2 USD.
    expect(Number(tvl.usd)).toBe(400)
    const yearly = (perSecond: number) => ((perSecond / 1e6) * 0.5 * 31_536_000) / 400
    expect(rewards[0].apy['1day']).toBeCloseTo(yearly(Number(rate)), 9)
    // Two days at the first rate, 700 tokens a week, and the time since at the second one.
    const [first = 0, second = 0] = notifiedAt
    const now = api.catalogue.current().chain(1)?.blockTime ?? 0
    const paid = (second - first) * Number(700_000_000n / 604_800n) + (now - second) * Number(rate)
    expect(rewards[0].apy['7day']).toBeCloseTo(yearly(paid / 604_800), 9)
    expect(apy['7day'].reward).toBe(rewards[0].apy['7day'])
    expect((await detailed(plain)).rewards).toEqual([])
  })
})

describe('a vault whose holders are paid by a distributor, epoch by epoch', () => {
  it('yields what the distributor says of the epochs in each window, registrations added up', async () => {
    const { rewards, tvl } = await detailed(lending)
    expect(rewards.map((one: { asset: { symbol: string } }) => one.asset.symbol)).toEqual(['RWD'])
    const now = api.catalogue.current().chain(1)?.blockTime ?? 0
    const amountOf = (epoch: number) =>
      stage.node.client.readContract({
        address: streams,
        abi: contract('RewardStreamsLike').abi,
        functionName: 'rewardAmount',
        args: [lending, rewardToken, epoch],
      }) as Promise<bigint>
    const epoch = Math.floor(now / WEEK)
    const known = await Promise.all(
      [0, 1, 2, 3, 4, 5].map(async back => ({
        begins: (epoch - back) * WEEK,
        amount: Number(await amountOf(epoch - back)),
      })),
    )
    expect(known[0]?.amount).toBeGreaterThan(0)
    for (const [window, seconds] of [
      ['1hour', 3_600],
      ['1day', 86_400],
      ['7day', WEEK],
      ['30day', 30 * 86_400],
    ] as const) {
      const paid = known.reduce((sum, { begins, amount }) => {
        const inside = Math.min(now, begins + WEEK) - Math.max(now - seconds, begins)
        return sum + (amount / 1e6) * (Math.max(0, inside) / WEEK)
      }, 0)
      const expected = ((paid * 0.5) / Number(tvl.usd)) * (31_536_000 / seconds)
      expect(rewards[0].apy[window], window).toBeCloseTo(expected, 9)
    }
  })
})
