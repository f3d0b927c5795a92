import type { Address, KeyPairSigner } from '@solana/kit'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SvmBundle, SvmContext, SvmDetailed } from '../../../read-api/svm/schemas.ts'
import { TestChain } from '../../svm/chain.ts'
import { indexSolana } from '../../svm/index-solana.ts'
import { LENDING_PROGRAM, TestLending } from '../../svm/lend.ts'
import { standsOn } from '../../svm/programs/dumps.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { newKey, SOL, WRAPPED_SOL } from './world.ts'

standsOn(LENDING_PROGRAM)

/** Lending vaults: of a token, of SOL, and of a token of which each transfer keeps a part. What is handed out lands and does what was said. */

const FEE = 5_000n
const RENT = 2_039_280n
const YEAR = 31_536_000n
const PRICE = 1_073_210_000_007n
const MILLION = 1_000_000n
const chain = new TestChain({ time: 1_735_700_000 })
let node: RpcNode
let api: ApiHarness
let usd: TestLending
let sol: TestLending
let taxed: TestLending
let user: KeyPairSigner

async function fund(lending: TestLending, owner: Address, amount: bigint): Promise<Address> {
  const at = await lending.tokenAccountOf(owner, lending.mint)
  lending.fund(at, lending.mint, owner, amount)
  return at
}

beforeAll(async () => {
  node = await serveRpc(chain)
  usd = await TestLending.create(chain)
  sol = await TestLending.create(chain, { mint: WRAPPED_SOL as Address, decimals: 9 })
  taxed = await TestLending.create(chain, { hasFee: true })
  await usd.describe(usd.mint, 'Dollar of the test', 'tUSD')
  await usd.describe(usd.shareMint, 'Lent dollar', 'jtUSD')
  user = await chain.wallet(100n * SOL)
  for (const lending of [usd, sol, taxed]) {
    const from = await fund(lending, user.address, 1_000n * MILLION)
    const to = await lending.tokenAccountOf(user.address, lending.shareMint)
    lending.fund(to, lending.shareMint, user.address, 0n)
    const sent = await chain.send(user, [lending.deposit(user, from, to, 600n * MILLION)])
    expect(sent.failed).toBeUndefined()
    // Others have lent, too: it can pay what it has come to be worth.
    lending.setLying(5_000n * MILLION)
    lending.setPrice(PRICE)
  }
  chain.mine([], 3_600)
  api = await startApi({ solanaUrl: node.url })
  await indexSolana(api.pool, { chain, node })
  await api.catchUp()
})
afterAll(async () => {
  await api?.stop()
  await node?.close()
})

const get = (path: string) => request(api.app).get(`/beta/svm${path}`).set('x-api-key', api.apiKey)
const ask = (action: string, of: string, { lending }: TestLending, query: Record<string, string>) =>
  get(`/transactions/${action}/${of}/${lending}`).query({ simulate: 'true', ...query })
const lamportsOf = (of: Address) => chain.svm.getBalance(of) ?? 0n

async function land(signer: KeyPairSigner, body: unknown): Promise<string | undefined> {
  const [action] = SvmBundle.parse(body).actions
  const bytes = Buffer.from(action?.tx.transaction ?? '', 'base64')
  return chain.land(signer, bytes)
}

async function holds(lending: TestLending, of: Address) {
  const amount = async (mint: Address) => lending.amountOf(await lending.tokenAccountOf(of, mint))
  return {
    assets: await amount(lending.mint),
    shares: await amount(lending.shareMint),
    lamports: lamportsOf(of),
  }
}

it('says what the vault is, what is in it, and what a wallet has of it', async () => {
  const shares = 600n * MILLION
  const worth = (shares * PRICE) / 10n ** 12n
  const { body } = await get(`/detailed-vaults/${usd.lending}`)
  expect(SvmDetailed.parse(body)).toMatchObject({
    name: 'Lent dollar',
    asset: { address: usd.mint, name: 'Dollar of the test', symbol: 'tUSD', decimals: 6 },
    tvl: { native: `${worth}` },
    protocol: { name: 'jupiter', product: 'lend' },
    lpToken: { address: usd.shareMint, symbol: 'jtUSD', decimals: 6 },
    standing: 'made',
  })
  const positions = await get(`/portfolio/positions/${user.address}`)
  const found = positions.body.data as { address: string; asset: { balanceNative: string } }[]
  expect(found.find(({ address }) => address === usd.lending)?.asset.balanceNative).toBe(`${worth}`)
  const events = await get(`/portfolio/events/${user.address}/${usd.lending}`)
  expect(events.body.data).toMatchObject([
    { eventType: 'deposit', assetAmountNative: `${shares}`, lpTokenAmount: `${shares}` },
  ])
  const context = SvmContext.parse((await get(`/transactions/context/${user.address}/${usd.lending}`)).body)
  expect([context.asset.balanceNative, context.lpToken.balanceNative, context.asset.redeemLimit]).toEqual([
    `${400n * MILLION}`,
    `${shares}`,
    `${5_000n * MILLION}`,
  ])
})

describe('a deposit and a redemption', () => {
  it('move what their simulations said, and open the accounts that a wallet has not', async () => {
    const other = await chain.wallet(SOL)
    await fund(usd, other.address, 50n * MILLION)
    const amount = 10n * MILLION + 7n
    const deposit = await ask('deposit', other.address, usd, { assetAddress: usd.mint, amount: `${amount}` })
    expect(deposit.status, deposit.text).toBe(200)
    expect(await land(other, deposit.body)).toBeUndefined()
    const between = await holds(usd, other.address)
    expect(between).toEqual({
      assets: 40n * MILLION - 7n,
      shares: (amount * 10n ** 12n) / PRICE,
      lamports: SOL - FEE - RENT,
    })
    expect(SvmBundle.parse(deposit.body).actions[0]?.simulation).toEqual({
      status: 'success',
      tokensSpent: { tUSD: `${amount}` },
      tokensReceived: { jtUSD: `${between.shares}` },
    })
    const wanted = await ask('redeem', other.address, usd, { assetAddress: usd.mint, amount: '4000001' })
    expect(await land(other, wanted.body)).toBeUndefined()
    const paid = (await holds(usd, other.address)).assets - between.assets
    expect(paid === 4_000_001n || paid === 4_000_002n).toBe(true)
    const { shares } = await holds(usd, other.address)
    const all = await ask('redeem', other.address, usd, { assetAddress: usd.shareMint, amount: `${shares}` })
    expect(await land(other, all.body)).toBeUndefined()
    expect((await holds(usd, other.address)).shares).toBe(0n)
  })

  it('reckon with rewards and interest since the last update, as the program does', async () => {
    usd.setRewards({ startTime: BigInt(chain.time), duration: YEAR, yearlyReward: 60n * MILLION })
    usd.setReserve({ supplyPrice: 10n ** 12n + 3n * 10n ** 9n })
    chain.mine([], 30 * 86_400)
    const context = SvmContext.parse((await get(`/transactions/context/${user.address}/${usd.lending}`)).body)
    expect(context.depositSteps.length).toBe(1)
    const shares = 100n * MILLION
    const answer = await ask('redeem', user.address, usd, {
      assetAddress: usd.shareMint,
      amount: `${shares}`,
    })
    expect(answer.status, answer.text).toBe(200)
    const before = await holds(usd, user.address)
    expect(await land(user, answer.body)).toBeUndefined()
    // About 643.9 in it: 60 a year are 9.3 %, of which a month; and 0.3 % of interest.
    expect(Number(usd.price()) / Number(PRICE)).toBeCloseTo(1 + 0.003 + (60 / 643.926) * (30 / 365), 5)
    const paid = (await holds(usd, user.address)).assets - before.assets
    expect(paid).toBe((shares * usd.price()) / 10n ** 12n)
  })

  it('that would give much less by then does not land', async () => {
    const answer = await ask('redeem', user.address, usd, {
      assetAddress: usd.shareMint,
      amount: `${MILLION}`,
    })
    usd.setPrice((usd.price() * 99n) / 100n)
    expect(await land(user, answer.body)).toContain('6001')
  })

  it('of SOL wraps what is deposited and unwraps what is paid', async () => {
    const other = await chain.wallet(5n * SOL)
    const deposit = await ask('deposit', other.address, sol, {
      assetAddress: WRAPPED_SOL,
      amount: `${2n * SOL}`,
    })
    expect(deposit.status, deposit.text).toBe(200)
    expect(await land(other, deposit.body)).toBeUndefined()
    const { assets, shares, lamports } = await holds(sol, other.address)
    expect([assets, shares, lamports]).toEqual([0n, (2n * SOL * 10n ** 12n) / PRICE, 3n * SOL - FEE - RENT])
    const half = await ask('redeem', other.address, sol, {
      assetAddress: sol.shareMint,
      amount: `${shares / 2n}`,
    })
    expect(half.status, half.text).toBe(200)
    const { tokensReceived } = SvmBundle.parse(half.body).actions[0]?.simulation ?? {}
    expect(await land(other, half.body)).toBeUndefined()
    const paid = ((shares / 2n) * PRICE) / 10n ** 12n
    expect(tokensReceived).toEqual({ SOL: `${paid}` })
    expect(lamportsOf(other.address)).toBe(lamports + paid - FEE)
  })

  it('of a token of which a transfer comes to keep a part: nothing more is taken, and what is paid is less by it', async () => {
    const amount = 100n * MILLION
    const query = { assetAddress: taxed.mint, amount: `${amount}` }
    const deposit = await ask('deposit', user.address, taxed, query)
    expect(deposit.status, deposit.text).toBe(200)
    const before = await holds(taxed, user.address)
    taxed.setTransferFee(100)
    // What was made before does not land, and another one is not made.
    expect(await land(user, deposit.body)).toContain('6033')
    const refused = await ask('deposit', user.address, taxed, query)
    expect([refused.status, refused.body.message]).toEqual([
      422,
      'A transfer of the asset keeps a part of it: the vault takes no such deposit.',
    ])
    const context = await get(`/transactions/context/${user.address}/${taxed.lending}`)
    expect(SvmContext.parse(context.body).depositSteps).toEqual([])
    const wanted = await ask('redeem', user.address, taxed, { ...query, amount: `${50n * MILLION}` })
    expect(wanted.status, wanted.text).toBe(200)
    expect(await land(user, wanted.body)).toBeUndefined()
    const { assets, shares } = await holds(taxed, user.address)
    const paid = assets - before.assets
    expect(paid >= 50n * MILLION && paid < 50n * MILLION + 2n).toBe(true)
    // A hundredth of what was sent stayed.
    const sent = ((before.shares - shares) * PRICE) / 10n ** 12n
    expect(sent - paid).toBe((sent + 99n) / 100n)
  })
})

describe('what is refused', () => {
  const refused = async (of: string, lending: TestLending, query: Record<string, string>) => {
    const { status, body } = await ask('deposit', of, lending, query)
    return [status, body.message]
  }
  it('for want of SOL, and for less than the liquidity layer moves', async () => {
    const query = { assetAddress: usd.mint, amount: '1000000' }
    expect(await refused(await newKey(), usd, query)).toEqual([422, expect.stringContaining('lamports')])
    const { asset } = SvmContext.parse(
      (await get(`/transactions/context/${user.address}/${usd.lending}`)).body,
    )
    expect([asset.minDeposit, asset.minRedeem]).toEqual(['10', '10'])
    for (const action of ['deposit', 'redeem']) {
      const { status, body } = await ask(action, user.address, usd, { ...query, amount: '9' })
      expect([status, body.message]).toEqual([422, expect.stringContaining('10 base units')])
      const least = await ask(action, user.address, usd, { ...query, amount: '10' })
      expect(least.status, least.text).toBe(200)
      expect(await land(user, least.body)).toBeUndefined()
    }
  })
  it('while the liquidity layer is behind, and for an asset that somebody else may move', async () => {
    const query = { assetAddress: usd.mint, amount: '1000000' }
    usd.setReserve({ supplyPrice: 10n ** 12n })
    expect(await refused(user.address, usd, query)).toEqual([422, expect.stringContaining('do not fit')])
    const mint = chain.svm.getAccount(taxed.mint)
    if (!mint.exists) return expect.unreachable()
    for (const [extension, said] of [
      [12, 'permanent delegate'],
      [14, 'transfer hook'],
    ] as const) {
      const data = Buffer.alloc(278)
      Buffer.from(mint.data).copy(data)
      data.writeUInt16LE(extension, 166)
      chain.setAccount(taxed.mint, mint.programAddress, data)
      expect(await refused(user.address, taxed, { ...query, assetAddress: taxed.mint })).toEqual([
        422,
        expect.stringContaining(said),
      ])
    }
  })
})
