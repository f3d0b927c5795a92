import {
  type Address,
  address,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type KeyPairSigner,
} from '@solana/kit'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromBase58 } from '../../../db/base58.ts'
import { SOLANA } from '../../../db/streams.ts'
import { SvmBundle, SvmContext, SvmDetailed } from '../../../read-api/svm/schemas.ts'
import { TestChain } from '../../svm/chain.ts'
import { indexSolana } from '../../svm/index-solana.ts'
import { FARMS, LENDING, TestKamino, type TestReserve, VAULTS } from '../../svm/kamino.ts'
import { standsOn } from '../../svm/programs/dumps.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'
import { tokenAccountOf } from '../../svm/tokens.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { newKey, SOL, WRAPPED_SOL } from './world.ts'

standsOn(VAULTS, LENDING, FARMS)

/** Vaults that lend in several reserves and stake their shares in a farm. What is handed out lands and does what was said. */

const FEE = 5_000n
const RENT = 2_039_280n
const STAKE_RENT = 7_294_080n
const K = 1_000n * 10n ** 6n
const TOKENS = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
const chain = new TestChain({ time: 1_735_700_000 })
let node: RpcNode
let api: ApiHarness
let usd: TestKamino
let sol: TestKamino
let user: KeyPairSigner
let dollar: { subject: string; kind: string; value: unknown }
let large: TestReserve
let lentOn: TestReserve
let small: TestReserve

beforeAll(async () => {
  node = await serveRpc(chain)
  usd = await TestKamino.create(chain, { reserves: 3 })
  sol = await TestKamino.create(chain, {
    mint: WRAPPED_SOL as Address,
    decimals: 9,
    reserves: 1,
    hasFarm: false,
  })
  usd.patch(usd.is.farm, data => void data.write(fromBase58(TOKENS)?.slice(2) ?? '', 112, 'hex'))
  ;[large, lentOn, small] = usd.reserves as [TestReserve, TestReserve, TestReserve]
  await usd.describe(usd.is.mint, 'Dollar of the test', 'tUSD')
  await usd.describe(usd.is.shareMint, 'Steady dollar', 'kUSD')
  usd.patch(usd.is.vault, data => {
    data.writeBigUInt64LE(1_000n, 58_408)
    data.writeBigUInt64LE(2_000n, 58_416)
  })
  // The program of the tests reckons no interest.
  for (const { at } of usd.reserves)
    usd.patch(at, data => {
      for (let i = 0; i < 11; i++) data.writeUInt32LE(0, 4_924 + 8 * i)
    })
  user = await chain.wallet(100n * SOL)
  await usd.open(user.address, 300n * K)
  await chain.send(user, [
    await usd.initializeUser(user),
    await usd.deposit(user, 200n * K),
    await usd.stake(user),
  ])
  usd.invest(large, 60n * K)
  usd.earn(large, 6n * K)
  usd.invest(lentOn, 50n * K)
  usd.lend(lentOn, 20n * K)
  usd.invest(small, 40n * K)
  chain.mine([], 3_600)
  api = await startApi({ solanaUrl: node.url })
  dollar = { subject: `asset:${SOLANA.id}:${fromBase58(usd.is.mint)}`, kind: 'peg', value: { usd: '1' } }
  await api.recordFacts([dollar], chain.time)
  await index()
})
afterAll(async () => {
  await api?.stop()
  await node?.close()
})

async function index() {
  await indexSolana(api.pool, { chain, node })
  await api.catchUp()
}

const get = (path: string) => request(api.app).get(`/beta/svm${path}`).set('x-api-key', api.apiKey)
const ask = (action: string, of: string, { is }: TestKamino, query: Record<string, string>) =>
  get(`/transactions/${action}/${of}/${is.vault}`).query({
    simulate: 'true',
    allowUnlisted: 'true',
    ...query,
  })
const contextOf = async (of: string, { is }: TestKamino) =>
  SvmContext.parse((await get(`/transactions/context/${of}/${is.vault}`)).body)
const lamportsOf = (of: Address) => chain.svm.getBalance(of) ?? 0n

type Action = ReturnType<typeof SvmBundle.parse>['actions'][number]

async function land(signer: KeyPairSigner, { tx }: Action): Promise<string | undefined> {
  const bytes = Buffer.from(tx.transaction, 'base64')
  return chain.land(signer, bytes)
}

async function holds(vault: TestKamino, of: Address) {
  const { held, staked } = await vault.sharesOf(of)
  return {
    assets: vault.amountOf(await tokenAccountOf(of, vault.is.mint)),
    held,
    staked,
    lamports: lamportsOf(of),
  }
}

/** All that belongs to the holders, from the accounts as they stand. */
function worthOf(vault: TestKamino): { assets: bigint; shares: bigint } {
  const { available, issued, invested } = vault.state()
  const lent = invested.reduce(
    (sum, [ctokens, supplied, supply]) => sum + (supply === 0n ? 0n : (ctokens * supplied) / supply),
    0n,
  )
  return { assets: available + lent, shares: issued }
}

/** Prepares, lands and compares what moved with what the simulation said. */
async function carryOut(
  signer: KeyPairSigner,
  vault: TestKamino,
  action: 'deposit' | 'redeem',
  query: Record<string, string>,
) {
  const answer = await ask(action, signer.address, vault, query)
  expect(answer.status, answer.text).toBe(200)
  const [only, ...more] = SvmBundle.parse(answer.body).actions
  if (!only) return expect.unreachable()
  expect([only.name, more.length]).toEqual([action, 0])
  const before = await holds(vault, signer.address)
  expect(await land(signer, only)).toBeUndefined()
  const after = await holds(vault, signer.address)
  const moved = {
    assets: after.assets - before.assets,
    shares: after.held + after.staked - before.held - before.staked,
    lamports: after.lamports - before.lamports,
  }
  const { tokensReceived = {}, tokensSpent = {} } = only.simulation ?? {}
  const said = (name: string) => BigInt(tokensReceived[name] ?? 0) - BigInt(tokensSpent[name] ?? 0)
  return { moved, said, after, tx: only.tx.transaction }
}

describe('what is said of the vault', () => {
  it('is what lies in it and its reserves, and counts shares that are staked', async () => {
    // 50 idle, 60 that earned 6, 50 and 40.
    const worth = 206n * K
    const { body } = await get(`/detailed-vaults/${usd.is.vault}`)
    expect(SvmDetailed.parse(body)).toMatchObject({
      name: 'Steady dollar',
      asset: { address: usd.is.mint, symbol: 'tUSD', decimals: 6 },
      tvl: { native: `${worth}`, usd: '206000' },
      protocol: { name: 'kamino' },
      lpToken: { address: usd.is.shareMint, symbol: 'kUSD' },
      standing: 'made',
    })
    expect((await usd.sharesOf(user.address)).staked).toBe(200n * K)
    const positions = await get(`/portfolio/positions/${user.address}`)
    expect(positions.body.data).toMatchObject([
      { address: usd.is.vault, asset: { balanceNative: `${worth}`, balanceUsd: '206000' } },
    ])
    const farms = await get(`/portfolio/positions/${usd.is.farmAuthority}`)
    expect(farms.body.data).toEqual([])
    const events = await get(`/portfolio/events/${user.address}/${usd.is.vault}`)
    expect(events.body.data).toMatchObject([
      { eventType: 'deposit', assetAmountNative: `${200n * K}`, lpTokenAmount: `${200n * K}` },
    ])
    const idle = await get(`/portfolio/idle-assets/${user.address}`)
    expect(idle.body.data).toMatchObject([{ address: usd.is.mint, balance: `${100n * K}` }])
  })

  it('to a wallet: what it has, and what can be paid at once', async () => {
    const { asset, lpToken, depositSteps, redeemSteps } = await contextOf(user.address, usd)
    expect(asset).toMatchObject({ balanceNative: `${100n * K}`, minDeposit: '1000', minRedeem: '2001' })
    // Of a reserve that lent 20 of 50 on, 30; each may pay a unit less than it has.
    expect(asset.redeemLimit).toBe(`${(50n + 66n + 30n + 40n) * K - 3n}`)
    expect(lpToken.balanceNative).toBe(`${200n * K}`)
    expect([depositSteps.length, redeemSteps.length]).toEqual([1, 1])
  })

  it('without a price or a name in the registry nobody vouches for it', async () => {
    const { body } = await get(`/detailed-vaults/${sol.is.vault}`)
    expect([404, 'found']).toContain(body.standing ?? 404)
  })
})

describe('a deposit', () => {
  it('leaves the shares in the wallet where nobody vouches for the vault: who runs its farm may change its terms', async () => {
    const other = await chain.wallet(SOL)
    usd.fund(await tokenAccountOf(other.address, usd.is.mint), usd.is.mint, other.address, K)
    const query = { assetAddress: usd.is.mint, amount: `${K}` }
    const { after, moved, said } = await carryOut(other, usd, 'deposit', query)
    expect([after.held, after.staked, said('kUSD')]).toEqual([moved.shares, 0n, moved.shares])
    expect(moved.shares).toBeGreaterThan(0n)
    const [lendUrl, protocolVaultUrl] = ['https://steady.example', 'https://steady.example']
    const subject = `vault:${SOLANA.id}:${fromBase58(usd.is.vault)}`
    const value = { protocol: 'kamino', description: 'Lends.', lendUrl, protocolVaultUrl }
    await api.recordFacts([dollar, { subject, kind: 'listed', value }], chain.time)
    await index()
    // Those that were loose already stay so.
    usd.fund(await tokenAccountOf(other.address, usd.is.mint), usd.is.mint, other.address, K)
    const again = await carryOut(other, usd, 'deposit', query)
    expect([again.after.held, again.after.staked]).toEqual([moved.shares + again.moved.shares, 0n])
  })

  it('opens accounts, stakes the shares, and moves what its simulation said', async () => {
    const other = await chain.wallet(SOL)
    usd.fund(await tokenAccountOf(other.address, usd.is.mint), usd.is.mint, other.address, 50n * K)
    const { assets, shares } = worthOf(usd)
    const amount = 10n * K + 7n
    const { moved, said, after } = await carryOut(other, usd, 'deposit', {
      assetAddress: usd.is.mint,
      amount: `${amount}`,
    })
    const got = (amount * shares) / assets
    expect(after).toEqual({
      assets: 50n * K + moved.assets,
      held: 0n,
      staked: got,
      lamports: SOL - FEE - RENT - STAKE_RENT,
    })
    // Rounded to whole shares first, and up to what these cost.
    expect(moved.assets).toBe(-((got * assets + shares - 1n) / shares))
    expect([said('tUSD'), said('kUSD')]).toEqual([moved.assets, got])

    const again = await carryOut(other, usd, 'deposit', { assetAddress: usd.is.mint, amount: `${K}` })
    expect([again.after.held, again.moved.lamports]).toEqual([0n, -FEE])
    expect(again.said('kUSD')).toBe(again.moved.shares)

    const all = again.after.staked
    const back = await carryOut(other, usd, 'redeem', { assetAddress: usd.is.shareMint, amount: `${all}` })
    expect([back.after.held, back.after.staked, back.moved.shares]).toEqual([0n, 0n, -all])
    expect(back.said('tUSD')).toBe(back.moved.assets)
    expect(11n * K + 7n - back.moved.assets).toBeLessThan(4n)
  })
})

describe('a redemption', () => {
  const invested = () => usd.state().invested.map(([ctokens]) => ctokens)

  it('is paid from what lies in no reserve where that is enough', async () => {
    const before = invested()
    const { moved, said, after } = await carryOut(user, usd, 'redeem', {
      assetAddress: usd.is.mint,
      amount: `${4n * K + 1n}`,
    })
    expect([4n * K + 1n, 4n * K + 2n]).toContain(moved.assets)
    expect([said('tUSD'), said('kUSD')]).toEqual([moved.assets, moved.shares])
    expect([after.held, after.staked]).toEqual([0n, 200n * K + moved.shares])
    expect(invested()).toEqual(before)
  })

  it('beyond it takes the rest from the reserve that can pay most', async () => {
    const before = invested()
    const { moved, said } = await carryOut(user, usd, 'redeem', {
      assetAddress: usd.is.mint,
      amount: `${90n * K + 3n}`,
    })
    expect(moved.assets).toBeGreaterThanOrEqual(90n * K + 3n)
    expect(moved.assets).toBeLessThanOrEqual(90n * K + 5n)
    expect([said('tUSD'), said('kUSD')]).toEqual([moved.assets, moved.shares])
    const after = invested()
    expect(after.slice(1)).toEqual(before.slice(1))
    expect(after[0]).toBeLessThan(before[0] ?? 0n)
    expect(usd.state().available).toBeLessThan(3n)
  })

  it('of which one transaction cannot name all accounts is two, or one by the look-up table of the vault', async () => {
    const query = { assetAddress: usd.is.mint, amount: `${60n * K}` }
    const answer = await ask('redeem', user.address, usd, query)
    expect(answer.status, answer.text).toBe(200)
    const { actions, warnings } = SvmBundle.parse(answer.body)
    expect(actions.map(({ name, simulation }) => [name, simulation !== undefined])).toEqual([
      ['setup', true],
      ['redeem', false],
    ])
    expect(warnings).toEqual([expect.stringContaining('when the first has landed')])

    const table = address(await newKey())
    usd.patch(usd.is.vault, data => void data.write((fromBase58(table) ?? '').slice(2), 58_568, 'hex'))
    const { is, reserves } = usd
    chain.setTable(table, [
      ...[is.vault, is.tokenVault, is.mint, is.authority, is.shareMint, is.settings, is.events],
      ...reserves.flatMap(of => Object.values(of) as Address[]),
    ])
    const before = invested()
    const { moved, said, tx } = await carryOut(user, usd, 'redeem', query)
    expect([60n * K, 60n * K + 1n, 60n * K + 2n]).toContain(moved.assets)
    expect([said('tUSD'), said('kUSD')]).toEqual([moved.assets, moved.shares])
    const { messageBytes } = getTransactionDecoder().decode(Buffer.from(tx, 'base64'))
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
    expect(message.version === 0 && message.addressTableLookups?.map(of => of.lookupTableAddress)).toEqual([
      table,
    ])
    // 40 of the one, the rest of the other that has 30 left of 50.
    const after = invested()
    expect(after[0]).toBe(before[0])
    expect(after[1]).toBeLessThan(before[1] ?? 0n)
    expect(after[2]).toBeLessThan(10n)
  })

  it('in two lands in two', async () => {
    usd.patch(usd.is.vault, data => void data.fill(0, 58_568, 58_600))
    const shares = (await usd.sharesOf(user.address)).staked
    const { asset } = await contextOf(user.address, usd)
    const amount = BigInt(asset.redeemLimit ?? 0) - 5n
    const answer = await ask('redeem', user.address, usd, { assetAddress: usd.is.mint, amount: `${amount}` })
    expect(answer.status, answer.text).toBe(200)
    const [setup, act] = SvmBundle.parse(answer.body).actions
    if (!setup || !act) return expect.unreachable()
    expect(setup.simulation).toEqual({ status: 'success', tokensReceived: {}, tokensSpent: {} })
    const before = await holds(usd, user.address)
    expect(await land(user, setup)).toBeUndefined()
    const between = await holds(usd, user.address)
    expect([between.held + between.staked, between.assets]).toEqual([shares, before.assets])
    expect(between.held).toBeGreaterThan(0n)
    expect(await land(user, act)).toBeUndefined()
    const after = await holds(usd, user.address)
    expect(after.held).toBe(0n)
    expect(after.assets - before.assets).toBeGreaterThanOrEqual(amount)
  })

  it('of more than can be paid at once is refused', async () => {
    const { asset, lpToken } = await contextOf(user.address, usd)
    expect(BigInt(asset.redeemLimit ?? 0)).toBeLessThan(10n)
    const query = { assetAddress: usd.is.shareMint, amount: lpToken.balanceNative }
    const { status, body } = await ask('redeem', user.address, usd, query)
    expect([status, body.message]).toEqual([422, expect.stringContaining('redeemLimit')])
  })
})

it('of SOL wraps what is deposited and unwraps what is paid, where there is no farm', async () => {
  const other = await chain.wallet(5n * SOL)
  const query = { assetAddress: WRAPPED_SOL, amount: `${2n * SOL}` }
  // Somebody has to have been there for it to be known.
  const first = await chain.wallet(5n * SOL)
  await sol.open(first.address, 0n)
  sol.fund(await tokenAccountOf(first.address, sol.is.mint), sol.is.mint, first.address, SOL)
  expect((await chain.send(first, [await sol.deposit(first, SOL)])).failed).toBeUndefined()
  chain.mine([], 3_600)
  await index()
  const { after } = await carryOut(other, sol, 'deposit', query)
  expect(after).toEqual({ assets: 0n, held: 2n * SOL, staked: 0n, lamports: 3n * SOL - FEE - RENT })
  const half = await carryOut(other, sol, 'redeem', { assetAddress: sol.is.shareMint, amount: `${SOL}` })
  expect(half.moved).toEqual({ assets: 0n, shares: -SOL, lamports: SOL - FEE })
  expect(half.said('SOL')).toBe(SOL)
})

describe('what is refused or not counted', () => {
  const refused = async (action: 'deposit' | 'redeem', query: Record<string, string>, of = user.address) => {
    const { status, body } = await ask(action, of, usd, query)
    return [status, body.message]
  }

  it('less than the vault takes or pays, and a wallet without SOL', async () => {
    const query = { assetAddress: usd.is.mint, amount: '999' }
    expect(await refused('deposit', query)).toEqual([422, expect.stringContaining('below 1000 base units')])
    usd.patch(usd.is.vault, data => void data.writeBigUInt64LE(0n, 58_408))
    expect((await ask('deposit', user.address, usd, { ...query, amount: `${K}` })).status).toBe(200)
    await carryOut(user, usd, 'deposit', { ...query, amount: `${K}` })
    const small = await refused('redeem', { ...query, amount: '1500' })
    expect(small).toEqual([422, expect.stringContaining('below 2001 base units')])
    const poor = address(await newKey())
    expect(await refused('deposit', query, poor)).toEqual([422, expect.stringContaining('lamports')])
  })

  it('shares in a farm that gives them back after a time only', async () => {
    const { held, staked } = await usd.sharesOf(user.address)
    usd.patch(usd.is.farm, data => void data.writeUInt32LE(3_600, 7_404))
    usd.patch(usd.is.vault, data => void data.writeBigUInt64LE(25n, 58_688))
    const { lpToken, warnings } = await contextOf(user.address, usd)
    expect(lpToken.balanceNative).toBe(`${held}`)
    for (const words of [`${staked} shares are staked`, 'keeps 0.25 % of a redemption'])
      expect(warnings).toContainEqual(expect.stringContaining(words))
    usd.patch(usd.is.vault, data => void data.writeBigUInt64LE(0n, 58_688))
    usd.patch(usd.is.farm, data => void data.writeUInt32LE(0, 7_404))
  })

  it.each([
    ['is frozen', 7_361, 1],
    ['lets somebody take out what others staked', 7_368, 32],
    ['counts a stake later', 7_400, 4],
    ['gives back after a time', 7_404, 4],
    ['is locked', 7_496, 8],
  ])('a farm that %s gets no shares: they stay in the wallet', async (_, at, bytes) => {
    // Who has others loose keeps these loose anyway.
    await chain.send(user, [await usd.stake(user)])
    usd.patch(usd.is.farm, data => void data.fill(1, at, at + bytes))
    const before = await holds(usd, user.address)
    expect(before.held).toBe(0n)
    const query = { assetAddress: usd.is.mint, amount: `${K}` }
    const { moved, after } = await carryOut(user, usd, 'deposit', query)
    expect(moved.shares).toBeGreaterThan(0n)
    expect([after.held, after.staked]).toEqual([before.held + moved.shares, before.staked])
    usd.patch(usd.is.farm, data => void data.fill(0, at, at + bytes))
  })

  it('a share that somebody else may mint, and a vault whose reserve is another one', async () => {
    const query = { assetAddress: usd.is.mint, amount: `${K}` }
    const { mint, shareMint } = usd.is
    const authority = usd.data(shareMint).subarray(4, 36)
    usd.patch(shareMint, data => void data.set(Buffer.alloc(32, 9), 4))
    expect(await refused('deposit', query)).toEqual([422, expect.stringContaining('may mint its shares')])
    usd.patch(shareMint, data => void data.set(authority, 4))
    usd.patch(large.at, data => void data.set(Buffer.alloc(32, 9), 128))
    expect(await refused('deposit', query)).toEqual([422, expect.stringContaining('do not add up')])
    usd.patch(large.at, data => void data.set(Buffer.from((fromBase58(mint) ?? '').slice(2), 'hex'), 128))
    expect((await ask('deposit', user.address, usd, query)).status).toBe(200)
  })
})

it('in the end positions are what the chain says, staked or not', async () => {
  chain.mine([], 3_600)
  await index()
  const { held, staked } = await usd.sharesOf(user.address)
  expect([held > 0n, staked > 0n]).toEqual([true, true])
  const { assets, shares } = worthOf(usd)
  const { body } = await get(`/portfolio/positions/${user.address}?allowUnlisted=true`)
  const found = (body.data as { address: string; asset: { balanceNative: string } }[]).find(
    of => of.address === usd.is.vault,
  )
  const expected = ((held + staked) * assets) / shares
  expect([expected, expected + 1n, expected + 2n]).toContain(BigInt(found?.asset.balanceNative ?? 0))
  const events = await get(`/portfolio/events/${user.address}/${usd.is.vault}`)
  const kinds = (events.body.data as { eventType: string }[]).map(({ eventType }) => eventType)
  expect([kinds.filter(kind => kind === 'deposit').length, kinds.includes('withdrawal')]).toEqual([7, true])
})
