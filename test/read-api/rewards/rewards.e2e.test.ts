import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  keccak256,
  type LocalAccount,
  parseAbi,
} from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attributionSuffix, keyCodeOf } from '../../../db/attribution.ts'
import { aaveRewards } from '../../../read-api/protocols/aave-v3/rewards.ts'
import { compoundRewards } from '../../../read-api/protocols/compound-v3/rewards.ts'
import { merkl } from '../../../read-api/protocols/merkl/rewards.ts'
import { morphoUrd } from '../../../read-api/protocols/morpho-urd/rewards.ts'
import { createRewards, type Rewards, type RewardsOptions } from '../../../read-api/rewards/rewards.ts'
import { createTokenFinder } from '../../../read-api/rewards/tokens.ts'
import { deployAave } from '../../chain/aave.ts'
import { calls, deployFeed, deployToken, type Token } from '../../chain/deploy.ts'
import { contract, published } from '../artifacts.ts'
import { type Stage, startStage, vaultRef } from '../transactions/stage.ts'
import { startProofServer } from './proof-server.ts'

const pair = (a: Hex, b: Hex): Hex => keccak256(BigInt(a) < BigInt(b) ? concatHex([a, b]) : concatHex([b, a]))
const row = (user: Address, token: Address, amount: bigint): Hex =>
  encodeAbiParameters([{ type: 'address' }, { type: 'address' }, { type: 'uint256' }], [user, token, amount])

describe('rewards, claimed on chain', () => {
  let stage: Stage
  let server: Awaited<ReturnType<typeof startProofServer>>
  let options: RewardsOptions
  let rewards: Rewards
  let user: LocalAccount
  const token: Record<string, Token> = {}
  const at: Record<string, Address> = {}
  const cometAbi = contract('CometLike').abi
  const merklAbi = contract('MerklLike').abi
  const tokenOf = (name: string): Token => {
    const found = token[name]
    if (!found) throw new Error(name)
    return found
  }
  const addressOf = (name: string): Address => at[name] ?? '0x'

  beforeAll(async () => {
    stage = await startStage()
    server = await startProofServer()
    const { node, deploy, act, mint, newUser } = stage
    user = await newUser()
    for (const name of ['A', 'B', 'M', 'AAVE', 'COMP', 'BASE']) {
      token[name] = await deployToken(node, { decimals: name === 'BASE' ? 6 : 18, symbol: name })
    }
    at['merkl'] = await deploy(contract('MerklLike'))
    at['urdFactory'] = await deploy(contract('UrdFactoryLike'))
    await act(addressOf('urdFactory'), contract('UrdFactoryLike').abi, 'createUrd')
    at['urd'] = (await node.client.readContract({
      address: addressOf('urdFactory'),
      abi: contract('UrdFactoryLike').abi,
      functionName: 'newest',
    })) as Address
    at['foreignUrd'] = await deploy(contract('UrdLike'))
    await mint(tokenOf('A'), addressOf('merkl'), 1_000n)
    await mint(tokenOf('B'), addressOf('merkl'), 1_000n)
    await mint(tokenOf('M'), addressOf('urd'), 1_000n)

    at['comet'] = await deploy(contract('CometLike'), tokenOf('BASE').address, 6)
    at['cometRewards'] = await deploy(contract('CometRewardsLike'))
    await mint(tokenOf('COMP'), addressOf('cometRewards'), 10n ** 21n)
    await act(
      addressOf('cometRewards'),
      contract('CometRewardsLike').abi,
      'setRewardConfig',
      addressOf('comet'),
      tokenOf('COMP').address,
      10n ** 12n,
    )
    await act(addressOf('comet'), cometAbi, 'setAccrued', user.address, 2_500_000n)
    await placeAaveRewards()

    const { reader, preparer } = stage
    const common = { reader, tokenOf: createTokenFinder(reader), vaultsOn: () => [] }
    options = {
      networks: ['mainnet'],
      dryRun: preparer.dryRun,
      deadlineMs: 20_000,
      sources: [
        merkl({ ...common, service: server.baseUrl, contracts: { mainnet: addressOf('merkl') } }),
        morphoUrd({ ...common, service: server.baseUrl, contracts: { mainnet: addressOf('urdFactory') } }),
        aaveRewards({ ...common, vaultsOn: () => [addressOf('aToken')] }),
        compoundRewards({
          ...common,
          vaultsOn: () => [addressOf('comet')],
          contracts: { mainnet: addressOf('cometRewards') },
        }),
      ].filter(source => source !== undefined),
    }
    rewards = createRewards(options)
    await publish(100n)
  }, 120_000)
  afterAll(async () => {
    await server?.stop()
    await stage?.node.stop()
  })

  /** The published RewardsController over the aToken of a published market. */
  async function placeAaveRewards() {
    const { node, deploy, act, mint, perform } = stage
    const admin = node.accounts[0] ?? '0x'
    const feed = await deployFeed(node, { description: 'x / USD', price: 1 })
    const aave = await deployAave(node, [
      { asset: tokenOf('BASE'), feed, ltv: 0.7, liquidationThreshold: 0.75, liquidationBonus: 0.05 },
    ])
    const aToken = aave.reserves[0]?.aToken ?? '0x'
    at['aToken'] = aToken
    const controller = published('@aave/periphery-v3', 'rewards/RewardsController')
    at['controller'] = await deploy(controller)
    await act(addressOf('controller'), controller.abi, 'initialize', admin)
    const setter = parseAbi(['function setIncentivesController(address controller)'])
    await act(aToken, setter, 'setIncentivesController', addressOf('controller'))
    const strategy = await deploy(
      published('@aave/periphery-v3', 'rewards/transfer-strategies/PullRewardsTransferStrategy'),
      addressOf('controller'),
      admin,
      admin,
    )
    await mint(tokenOf('AAVE'), admin, 10n ** 24n)
    await node.send(calls.approve(admin, tokenOf('AAVE').address, strategy))
    await mint(tokenOf('BASE'), user.address, 1_000_000n)
    await perform(vaultRef(aToken, tokenOf('BASE'), { symbol: 'aBASE', decimals: 6 }), user, 'deposit', {
      amount: 1_000_000n,
    })
    const { timestamp } = await node.head()
    await act(addressOf('controller'), controller.abi, 'configureAssets', [
      {
        emissionPerSecond: 10n ** 15n,
        totalSupply: 0n,
        distributionEnd: timestamp + 86_400,
        asset: aToken,
        reward: tokenOf('AAVE').address,
        transferStrategy: strategy,
        rewardOracle: feed.proxy,
      },
    ])
    await stage.wait(600)
  }

  /** New roots: cumulative amounts of A, twice that of B, and half of it of M. */
  async function publish(amount: bigint, options: { disputeEnd?: number } = {}) {
    const leafA = keccak256(row(user.address, tokenOf('A').address, amount))
    const leafB = keccak256(row(user.address, tokenOf('B').address, 2n * amount))
    const leafM = keccak256(keccak256(row(user.address, tokenOf('M').address, amount / 2n)))
    const other = keccak256('0x01')
    await stage.act(addressOf('merkl'), merklAbi, 'update', pair(leafA, leafB), options.disputeEnd ?? 0)
    for (const name of ['urd', 'foreignUrd'])
      await stage.act(addressOf(name), contract('UrdLike').abi, 'setRoot', pair(leafM, other))
    const merklToken = (name: string) => ({ ...tokenOf(name), chainId: 1, price: 2 })
    const reward = { root: '0x', recipient: user.address, claimed: '0', pending: '7', breakdowns: [] }
    server.answers.set(`/v4/users/${user.address.toLowerCase()}/rewards`, [
      {
        chain: { id: 1, name: 'Ethereum' },
        rewards: [
          { ...reward, amount: String(amount), proofs: [leafB], token: merklToken('A') },
          { ...reward, amount: String(2n * amount), proofs: [leafA], token: merklToken('B') },
          { ...reward, amount: '5', proofs: [], token: { ...merklToken('B'), symbol: 'POINT-x' } },
        ],
      },
    ])
    server.answers.set(`/v1/users/${user.address}/distributions`, {
      // The service names a contract that Morpho's factory did not make, too, with a proof that folds to its root.
      data: ['urd', 'foreignUrd'].map(name => ({
        user: user.address,
        asset: { address: tokenOf('M').address, chain_id: 1 },
        distributor: { address: addressOf(name), chain_id: 1 },
        claimable: String(amount / 2n),
        proof: [other],
        tx_data: '0x',
      })),
    })
  }

  const found = async () =>
    Object.fromEntries((await rewards.find(user.address)).claims.map(claim => [claim.token.symbol, claim]))

  test('every source says what it would pay, and pays it', async () => {
    const { claims, down } = await rewards.find(user.address)
    expect(down).toEqual([])
    const listed = Object.fromEntries(claims.map(claim => [claim.token.symbol, claim.amount]))
    expect(listed).toMatchObject({ A: 100n, B: 200n, M: 50n, COMP: 25n * 10n ** 17n })
    expect(listed['AAVE']).toBeGreaterThan(0n)
    expect(Object.keys(listed)).toHaveLength(5)

    const suffix = attributionSuffix('key_one')
    const bundles = await rewards.claim(
      user.address,
      claims.map(({ claimId }) => claimId),
      { suffix, simulate: true },
    )
    expect(Object.keys(bundles)).toEqual(['mainnet'])
    const simulated: Record<string, string> = {}
    for (const { simulation } of bundles['mainnet']?.actions ?? []) {
      expect(simulation?.status).toBe('success')
      expect(simulation?.tokensSpent ?? {}).toEqual({})
      Object.assign(simulated, simulation?.tokensReceived)
    }
    const { AAVE: _, ...fixed } = listed
    expect(simulated).toMatchObject(
      Object.fromEntries(Object.entries(fixed).map(([name, amount]) => [name, String(amount)])),
    )
    expect(Object.keys(simulated).sort()).toEqual(Object.keys(listed).sort())
    // Merkl pays both tokens in one call.
    expect(bundles['mainnet']?.actions).toHaveLength(4)
    for (const { tx } of bundles['mainnet']?.actions ?? []) {
      const { landed, input } = await stage.sign(user, tx)
      expect(landed).toBe(true)
      expect(keyCodeOf(input)).toBe('key_one')
    }
    for (const [name, amount] of Object.entries(listed)) {
      const got = await stage.balance(tokenOf(name).address, user.address)
      // Aave's reward grew until the claim landed.
      if (name === 'AAVE') expect(got).toBeGreaterThanOrEqual(amount)
      else expect(got, name).toBe(amount)
    }
    const left = await found()
    for (const name of ['A', 'B', 'M', 'COMP']) expect(left[name], name).toBeUndefined()
  })

  test('more of the same has the same identifier; a row that does not fold to the live root is left out', async () => {
    const { timestamp } = await stage.node.head()
    const idBefore = (await firstIds())['A']
    await publish(150n)
    const claim = (await found())['A']
    expect(claim).toMatchObject({ amount: 50n, claimId: idBefore })
    await publish(170n, { disputeEnd: timestamp + 86_400 })
    // The new root is still disputed: its proofs would revert.
    expect((await found())['A']).toBeUndefined()
    await stage.wait(2 * 86_400)
    expect((await found())['A']).toMatchObject({ amount: 70n })
  })

  async function firstIds() {
    await publish(120n)
    return Object.fromEntries(Object.entries(await found()).map(([name, { claimId }]) => [name, claimId]))
  }

  test('a source that is down, slow or answers otherwise is named, the others answer', async () => {
    const path = `/v4/users/${user.address.toLowerCase()}/rewards`
    const good = server.answers.get(path)
    for (const bad of [500, { error: 'no' }, [{ chain: { id: 1 }, rewards: [{ amount: '-5' }] }]]) {
      server.answers.set(path, bad)
      const { claims, down } = await rewards.find(user.address)
      expect(down).toEqual(['merkl'])
      expect(claims.map(({ token: { symbol } }) => symbol)).toContain('M')
    }
    server.answers.set(path, good)
    const { claims } = await rewards.find(user.address)
    const merklClaim = claims.find(({ source }) => source === 'merkl')
    server.slow(1_500)
    const impatient = createRewards({ ...options, deadlineMs: 400 })
    const { down } = await impatient.find(user.address)
    expect(down).toEqual(expect.arrayContaining(['merkl', 'morpho-urd']))
    await expect(impatient.claim(user.address, [merklClaim?.claimId ?? ''])).rejects.toThrow(
      /Not claimable now.*do not answer at the moment: .*merkl/,
    )
    server.slow(0)
    await expect(rewards.claim(user.address, ['00'])).rejects.toThrow('Not claimable now: 00.')
  })

  test("a vault's own context names its rewards, and claim-rewards pays them", async () => {
    const { act, balance, look, perform, preparer } = stage
    const supply = vaultRef(addressOf('aToken'), tokenOf('BASE'), { symbol: 'aBASE', decimals: 6 })
    const comet = {
      ...vaultRef(addressOf('comet'), tokenOf('BASE'), { symbol: 'c', decimals: 6 }),
      rewards: addressOf('cometRewards'),
    }
    expect((await preparer.bind(supply)).family).toBe('aave-v3')
    await act(addressOf('comet'), cometAbi, 'setAccrued', user.address, 3_000_000n)
    for (const [ref, name] of [
      [supply, 'AAVE'],
      [comet, 'COMP'],
    ] as const) {
      await stage.wait(600)
      const had = await balance(tokenOf(name).address, user.address)
      const [owed] = (await look(ref, user)).rewards ?? []
      expect(owed?.token, name).toBe(tokenOf(name).address)
      await perform(ref, user, 'claim-rewards')
      const got = (await balance(tokenOf(name).address, user.address)) - had
      if (name === 'COMP') expect(got).toBe(owed?.amount)
      else expect(got).toBeGreaterThanOrEqual(owed?.amount ?? 0n)
    }
    await expect(stage.bundle(comet, user, 'claim-rewards')).rejects.toThrow('no rewards')
  })

  test('a claim that would revert is refused', async () => {
    await stage.act(addressOf('comet'), cometAbi, 'setAccrued', user.address, 10n ** 10n)
    const claim = (await found())['COMP']
    expect(claim?.amount).toBeGreaterThan(10n ** 21n)
    await expect(rewards.claim(user.address, [claim?.claimId ?? ''])).rejects.toThrow('would fail on chain')
  })
})
