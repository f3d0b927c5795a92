import type { KeyPairSigner } from '@solana/kit'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SvmBundle, SvmContext } from '../../../read-api/svm/schemas.ts'
import { standsOn } from '../../svm/programs/dumps.ts'
import { type PoolOptions, STAKE_POOL_PROGRAM, tokenInstruction } from '../../svm/stake-pool.ts'
import { tokenAccountOf } from '../../svm/tokens.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { makeSolana, newKey, SOL, type SolanaWorld, seatSolana, WRAPPED_SOL, wrapSol } from './world.ts'

standsOn(STAKE_POOL_PROGRAM)

/** What the API hands out for a stake pool is signed, landed on the real virtual machine, and compared with what it said. */

const FEE = 5_000n
const DEPOSIT_FEE = { numerator: 1n, denominator: 1_000n }
let world: SolanaWorld
let api: ApiHarness

beforeAll(async () => {
  world = await makeSolana({ depositFee: DEPOSIT_FEE, withdrawalFee: { numerator: 3n, denominator: 1_000n } })
  api = await startApi({ solanaUrl: world.node.url })
  await seatSolana(api, world)
})
afterAll(async () => {
  await api?.stop()
  await world?.node.close()
})

const get = (path: string) => request(api.app).get(`/beta/svm${path}`).set('x-api-key', api.apiKey)

const ask = (action: string, user: string, query: Record<string, string>) =>
  get(`/transactions/${action}/${user}/${world.pool.pool}`).query({ simulate: 'true', ...query })

const lamportsOf = (of: string) => world.chain.svm.getBalance(of as never) ?? 0n

/** Signs what the API hands out with the wallet's key and sends it. */
async function land(signer: KeyPairSigner, body: unknown): Promise<string | undefined> {
  const { actions } = SvmBundle.parse(body)
  expect(actions.length).toBe(1)
  const bytes = Buffer.from(actions[0]?.tx.transaction ?? '', 'base64')
  expect(bytes.length).toBeLessThanOrEqual(1_232)
  return world.chain.land(signer, bytes)
}

async function holds(of: KeyPairSigner) {
  return { lamports: lamportsOf(of.address), shares: await world.pool.balanceOf(of.address) }
}

describe('a deposit', () => {
  it('lands and moves what its simulation said, and opens the token account of a new wallet', async () => {
    const user = await world.chain.wallet(20n * SOL)
    const amount = 7n * SOL + 123n
    const answer = await ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: `${amount}` })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.headers['x-as-of-block']).toBe(`solana=${world.chain.slot}`)
    const before = await holds(user)
    expect(await land(user, answer.body)).toBeUndefined()
    const after = await holds(user)
    const { simulation } = SvmBundle.parse(answer.body).actions[0] ?? {}
    expect(simulation).toEqual({
      status: 'success',
      tokensSpent: { SOL: `${amount}` },
      tokensReceived: { tSOL: `${after.shares - before.shares}` },
    })
    // Rent of the token account: (128 + 165) × 6,960 lamports.
    expect(before.lamports - after.lamports).toBe(amount + FEE + 2_039_280n)
    const { lamports, supply } = world.pool.state()
    expect(Number(after.shares) / Number(amount)).toBeCloseTo((Number(supply) / Number(lamports)) * 0.999, 6)
  })

  it('unwraps what the wallet holds wrapped where its SOL is not enough, and not before', async () => {
    const user = await world.chain.wallet(2n * SOL)
    const wrapped = await wrapSol(world, user, 5n * SOL)
    const small = await ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: `${SOL}` })
    expect(await land(user, small.body)).toBeUndefined()
    expect(lamportsOf(wrapped)).toBe(5n * SOL + 2_039_280n)
    const large = await ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: `${5n * SOL}` })
    expect(large.status, large.text).toBe(200)
    expect(SvmBundle.parse(large.body).actions[0]?.simulation?.tokensSpent).toEqual({ SOL: `${5n * SOL}` })
    const before = lamportsOf(user.address)
    expect(await land(user, large.body)).toBeUndefined()
    expect(lamportsOf(wrapped)).toBe(0n)
    expect(lamportsOf(user.address)).toBe(before + 5n * SOL + 2_039_280n - 5n * SOL - FEE)
  })

  it('takes all that the context says, and not a lamport more', async () => {
    const user = await world.chain.wallet(3n * SOL)
    const context = await get(`/transactions/context/${user.address}/${world.pool.pool}`)
    const { asset } = SvmContext.parse(context.body)
    const more = `${BigInt(asset.balanceNative) + 1n}`
    const refused = await ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: more })
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('ask for less')])
    const all = await ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: asset.balanceNative })
    expect(all.status, all.text).toBe(200)
    expect(await land(user, all.body)).toBeUndefined()
    // What is left is the rent of the wallet itself: 128 × 6,960.
    expect(lamportsOf(user.address)).toBe(890_880n)
  })
})

describe('a redemption', () => {
  it.each([
    ['shares', 'mint', 12n * SOL + 7n],
    ['assets', 'asset', 11n * SOL + 1n],
  ])('of an amount of %s lands and moves what its simulation said', async (_, of, amount) => {
    const assetAddress = of === 'mint' ? world.pool.mint : WRAPPED_SOL
    const answer = await ask('redeem', world.user.address, { assetAddress, amount: `${amount}` })
    expect(answer.status, answer.text).toBe(200)
    const { simulation } = SvmBundle.parse(answer.body).actions[0] ?? {}
    const before = await holds(world.user)
    expect(await land(world.user, answer.body)).toBeUndefined()
    const after = await holds(world.user)
    const paid = after.lamports - before.lamports + FEE
    expect(simulation).toEqual({
      status: 'success',
      tokensSpent: { tSOL: `${before.shares - after.shares}` },
      tokensReceived: { SOL: `${paid}` },
    })
    if (of === 'mint') expect(before.shares - after.shares).toBe(amount)
    else {
      // At least so many, and not by a share more than it takes: a share is worth more than a lamport here.
      expect(paid).toBeGreaterThanOrEqual(amount)
      expect(paid).toBeLessThanOrEqual(amount + 2n)
    }
  })

  it('of all shares leaves none', async () => {
    const user = await world.chain.wallet(20n * SOL)
    const deposit = await ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: `${9n * SOL}` })
    expect(await land(user, deposit.body)).toBeUndefined()
    const context = SvmContext.parse(
      (await get(`/transactions/context/${user.address}/${world.pool.pool}`)).body,
    )
    const url = context.redeemSteps[0]?.actionsUrl ?? ''
    const answer = await request(api.app)
      .get(`${url}&amount=${context.lpToken.balanceNative}`)
      .set('x-api-key', api.apiKey)
    expect(answer.status, answer.text).toBe(200)
    expect(SvmBundle.parse(answer.body).actions[0]?.simulation).toBeUndefined()
    expect(await land(user, answer.body)).toBeUndefined()
    expect((await holds(user)).shares).toBe(0n)
  })
})

describe('what would fail is refused, and says what to do', () => {
  const refused = async (action: string, user: string, query: Record<string, string>) => {
    const answer = await ask(action, user, query)
    return [answer.status, answer.body.message, answer.headers['x-credits-used']]
  }
  const deposit = { assetAddress: WRAPPED_SOL, amount: `${SOL}` }

  it('a wallet without SOL', async () => {
    expect(await refused('deposit', await newKey(), deposit)).toEqual([
      422,
      expect.stringMatching(/can give 0 base units of SOL/),
      '0',
    ])
  })
  it('a redemption that rounds to nothing, and one of more than is held', async () => {
    const { mint } = world.pool
    expect(await refused('redeem', world.user.address, { assetAddress: mint, amount: '1' })).toEqual([
      422,
      'So few shares pay nothing: ask for more.',
      '0',
    ])
    const held = await world.pool.balanceOf(world.user.address)
    expect(
      await refused('redeem', world.user.address, { assetAddress: mint, amount: `${held + 1n}` }),
    ).toEqual([422, expect.stringContaining(`can give ${held} base units of tSOL`), '0'])
  })
  it('amounts that are none, and tokens of something else', async () => {
    expect(await refused('deposit', world.user.address, { ...deposit, amount: '0' })).toEqual([
      422,
      expect.stringContaining('amount is 0'),
      '0',
    ])
    expect(await refused('deposit', world.user.address, { ...deposit, amount: `${2n ** 64n}` })).toEqual([
      422,
      expect.stringContaining('2^64'),
      '0',
    ])
    expect(
      await refused('deposit', world.user.address, { ...deposit, assetAddress: world.pool.pool }),
    ).toEqual([422, expect.stringContaining(WRAPPED_SOL), '0'])
    expect(
      await refused('deposit', world.user.address, { ...deposit, assetAddress: world.pool.mint }),
    ).toEqual([422, expect.stringContaining(`assetAddress=${WRAPPED_SOL}`), '0'])
    expect(await refused('deposit', world.user.address, { assetAddress: WRAPPED_SOL })).toEqual([
      400,
      expect.stringContaining('"amount"'),
      '0',
    ])
  })
  it.each([
    ['31 bytes', '1'.repeat(31)],
    ['33 bytes', '1'.repeat(33)],
    ['a letter that base58 has not', `${WRAPPED_SOL.slice(0, -1)}0`],
    ['an address of another kind', `0x${'11'.repeat(20)}`],
  ])('an address of %s', async (_, address) => {
    const answer = await get(`/portfolio/positions/${address}`)
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('base58')])
  })
  it('a vault that there is not, lower case among them', async () => {
    for (const path of ['/detailed-vaults/', `/portfolio/events/${world.user.address}/`]) {
      expect((await get(`${path}${await newKey()}`)).status).toBe(404)
      expect([400, 404]).toContain((await get(`${path}${world.pool.pool.toLowerCase()}`)).status)
    }
  })
})

describe('a new epoch', () => {
  it('is 503 with Retry-After until the pool is brought up to date, and then the price has moved', async () => {
    const query = { assetAddress: world.pool.mint, amount: `${SOL}` }
    world.chain.nextEpoch()
    world.pool.earn(175n * SOL)
    for (const action of ['deposit', 'redeem']) {
      const answer = await ask(action, world.user.address, {
        ...query,
        ...(action === 'deposit' ? { assetAddress: WRAPPED_SOL } : {}),
      })
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '60'])
      expect(answer.body.message).toContain('Try again later')
    }
    expect((await world.chain.send(world.user, [world.pool.update()])).failed).toBeUndefined()
    const answer = await ask('redeem', world.user.address, query)
    const paid = BigInt(SvmBundle.parse(answer.body).actions[0]?.simulation?.tokensReceived?.['SOL'] ?? 0)
    const { lamports, supply } = world.pool.state()
    const burnt = SOL - (SOL * 3n) / 1_000n
    expect(paid).toBe((burnt * lamports) / supply)
    expect(paid).toBeGreaterThan(SOL)
  })
})

describe("a wallet's token account of the share", () => {
  const deposit = (user: KeyPairSigner) =>
    ask('deposit', user.address, { assetAddress: WRAPPED_SOL, amount: `${SOL}` })
  const context = (user: KeyPairSigner) => get(`/transactions/context/${user.address}/${world.pool.pool}`)

  it('that was given to another owner gets and gives nothing', async () => {
    const user = await world.chain.wallet(10n * SOL)
    expect(await land(user, (await deposit(user)).body)).toBeUndefined()
    const give = await tokenInstruction(world.pool, user, { giveTo: (await newKey()) as never })
    expect((await world.chain.send(user, [give])).failed).toBeUndefined()
    const refused = await deposit(user)
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('another owner')])
    const { body } = await context(user)
    expect([body.lpToken.balanceNative, body.depositSteps, body.redeemSteps]).toEqual(['0', [], []])
  })

  it('that is frozen is said to be, and no new epoch is blamed', async () => {
    const user = await world.chain.wallet(10n * SOL)
    expect(await land(user, (await deposit(user)).body)).toBeUndefined()
    const at = await tokenAccountOf(user.address, world.pool.mint)
    const account = world.chain.svm.getAccount(at)
    if (!account.exists) return expect.unreachable()
    const data = Buffer.from(account.data)
    data[108] = 2
    world.chain.setAccount(at, account.programAddress, data)
    for (const action of ['deposit', 'redeem']) {
      const query = { assetAddress: action === 'deposit' ? WRAPPED_SOL : world.pool.mint, amount: '1000000' }
      const answer = await ask(action, user.address, query)
      expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining('is frozen')])
    }
  })

  it('is made in a deposit although somebody sent SOL to its address before', async () => {
    const user = await world.chain.wallet(10n * SOL)
    const at = await tokenAccountOf(user.address, world.pool.mint)
    world.chain.setAccount(at, '11111111111111111111111111111111', new Uint8Array(), 1_000_000n)
    const answer = await deposit(user)
    expect(answer.status, answer.text).toBe(200)
    expect(SvmBundle.parse(answer.body).actions[0]?.simulation?.tokensSpent).toEqual({ SOL: `${SOL}` })
    expect(await land(user, answer.body)).toBeUndefined()
    expect((await holds(user)).shares).toBeGreaterThan(0n)
  })
})

describe('pools that are not for everybody', () => {
  const others: SolanaWorld[] = []
  afterAll(async () => {
    for (const { node } of others) await node.close()
  })

  /** A pool of its own chain, on an API of its own databases. */
  async function other(options: PoolOptions, deposits?: bigint[]) {
    const own = await makeSolana(options, deposits)
    others.push(own)
    const its = await startApi({ solanaUrl: own.node.url })
    await seatSolana(its, own)
    const ask = (path: string, query: Record<string, string> = {}) =>
      request(its.app).get(`/beta/svm${path}`).set('x-api-key', its.apiKey).query(query)
    return { own, its, ask }
  }

  it('one with authorities of its own has no steps, and its transactions are refused', async () => {
    const authority = (await newKey()) as never
    const { own, its, ask } = await other({ depositAuthority: authority, withdrawAuthority: authority }, [])
    // Nobody can deposit, so that nothing tells of it but the events of its making.
    const path = `${own.user.address}/${own.pool.pool}`
    const context = await ask(`/transactions/context/${path}`)
    expect([context.status, context.body.depositSteps, context.body.redeemSteps]).toEqual([200, [], []])
    expect(context.body.warnings.join(' ')).toContain('authority of its own')
    for (const [action, assetAddress] of [
      ['deposit', WRAPPED_SOL],
      ['redeem', own.pool.mint],
    ] as const) {
      const answer = await ask(`/transactions/${action}/${path}`, {
        assetAddress,
        amount: '1000',
        allowUnlisted: 'true',
      })
      expect([answer.status, answer.body.message]).toEqual([
        422,
        expect.stringContaining('authority of its own'),
      ])
    }
    await its.stop()
  })

  it('a small one that nobody listed is left out, and takes deposits from who insists', async () => {
    const { own, its, ask } = await other({ freezeAuthority: (await newKey()) as never }, [5n * SOL])
    const list = await ask('/detailed-vaults')
    expect([list.body.data, list.headers['x-unlisted-left-out']]).toEqual([[], '1'])
    expect(list.body.warnings[0]).toContain('allowUnlisted=true')
    expect((await ask('/vaults')).body).toEqual([])
    expect((await ask('/vaults', { allowUnlisted: 'true' })).body.length).toBe(1)
    expect((await ask(`/portfolio/positions/${own.user.address}`)).body.data).toEqual([])
    const one = await ask(`/detailed-vaults/${own.pool.pool}`)
    expect(one.body.standing).toBe('found')
    expect(one.body.warnings.join(' ')).toMatch(/Nobody.*may freeze/)
    const path = `/transactions/deposit/${own.user.address}/${own.pool.pool}`
    const query = { assetAddress: WRAPPED_SOL, amount: `${SOL}` }
    const refused = await ask(path, query)
    expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining('allowUnlisted')])
    const taken = await ask(path, { ...query, allowUnlisted: 'true' })
    expect([taken.status, taken.body.warnings]).toEqual([200, [expect.stringContaining('Nobody')]])

    // The reserve pays no more than it has: what was earned is staked elsewhere.
    own.pool.earn(-3n * SOL)
    const limit = (await ask(`/transactions/context/${own.user.address}/${own.pool.pool}`)).body.asset
    expect(limit.redeemLimit).toBe(`${2n * SOL}`)
    const redeem = (amount: bigint) =>
      ask(`/transactions/redeem/${own.user.address}/${own.pool.pool}`, {
        assetAddress: WRAPPED_SOL,
        amount: `${amount}`,
      })
    expect((await redeem(2n * SOL)).status).toBe(200)
    const beyond = await redeem(2n * SOL + 1n)
    expect([beyond.status, beyond.body.message]).toEqual([422, expect.stringContaining('redeemLimit')])
    await its.stop()
  })
})
