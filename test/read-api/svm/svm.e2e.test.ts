import { getTransactionDecoder, type KeyPairSigner, signTransaction } from '@solana/kit'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SvmBundle, SvmContext, SvmDetailed, SvmEvents } from '../../../read-api/svm/schemas.ts'
import { type PoolOptions, tokenAccountOf } from '../../svm/stake-pool.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { hexOf, makeSolana, newKey, SOL, type SolanaWorld, seatSolana, WRAPPED_SOL } from './world.ts'

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
  const signed = await signTransaction([signer.keyPair], getTransactionDecoder().decode(bytes))
  return world.chain.mine([signed as never])[0]?.failed
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
    const wrapped = await wrap(user, 5n * SOL)
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

describe('what is said of the vault', () => {
  it('names it, its token and its figures', async () => {
    const { body, headers } = await get(`/detailed-vaults/${world.pool.pool}`)
    const first = world.deposits.reduce((sum, { lamports }) => sum + lamports, 0n)
    expect(SvmDetailed.parse(body)).toMatchObject({
      address: world.pool.pool,
      name: 'Test pool SOL',
      asset: { address: WRAPPED_SOL, name: 'Wrapped SOL', symbol: 'SOL', decimals: 9 },
      tvl: { native: `${first}`, usd: `${(Number(first) / 1e9) * 200}` },
      protocol: { name: 'spl-stake-pool' },
      lpToken: {
        address: world.pool.mint,
        tokenCaip: `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:${world.pool.mint}`,
        symbol: 'tSOL',
      },
      standing: 'made',
    })
    expect(headers['x-as-of-block']).toMatch(/^solana=\d+$/)
  })

  it('says what a wallet has done, and what its shares are worth', async () => {
    const { body } = await get(`/portfolio/events/${world.user.address}/${world.pool.pool}`)
    expect(SvmEvents.parse(body)).toEqual({
      items: world.deposits.length,
      data: world.deposits.map(({ sent, lamports, shares }) => ({
        timestamp: world.chain.blocks.find(({ slot }) => slot === sent.slot)?.blockTime,
        slot: `${sent.slot}`,
        eventType: 'deposit',
        vaultAddress: world.pool.pool,
        assetAmountNative: `${lamports}`,
        lpTokenAmount: `${shares}`,
        signature: sent.signature,
        instructionIndex: 0,
      })),
    })
    expect((await get(`/portfolio/events/${world.user.address}`)).body).toEqual(body)
    expect((await get(`/portfolio/events/${await newKey()}`)).body).toEqual({ data: [], items: 0 })

    const assets = world.deposits.reduce((sum, { lamports }) => sum + lamports, 0n)
    const shares = world.deposits.reduce((sum, of) => sum + of.shares, 0n)
    const supply = shares + world.deposits.reduce((sum, { lamports }) => sum + lamports, 0n) - shares
    const worth = (shares * assets) / supply
    const positions = await get(`/portfolio/positions/${world.user.address}`)
    expect(positions.body.data).toMatchObject([
      {
        address: world.pool.pool,
        asset: {
          balanceNative: `${worth}`,
          positionValueInAsset: `${worth}`,
          unclaimedNative: '0',
        },
      },
    ])
    expect(Number(positions.body.data[0].asset.balanceUsd)).toBeCloseTo((Number(worth) / 1e9) * 200, 4)
    const above = await get(`/portfolio/positions/${world.user.address}`).query({
      minUsdAssetValueThreshold: '1e9',
    })
    expect(above.body).toEqual({ data: [] })
  })

  it('says what a wallet holds besides, SOL and wrapped SOL together', async () => {
    const user = await world.chain.wallet(4n * SOL)
    await wrap(user, 3n * SOL)
    const all = await get(`/portfolio/idle-assets/${user.address}`)
    expect(all.body).toEqual({
      data: [
        { address: WRAPPED_SOL, name: 'Wrapped SOL', symbol: 'SOL', decimals: 9, balance: `${7n * SOL}` },
      ],
    })
    const one = await get(`/portfolio/idle-assets/${user.address}/${WRAPPED_SOL}`)
    expect(one.body).toEqual({ asset: all.body.data[0] })
    const held = await world.pool.balanceOf(world.user.address)
    const strange = await get(`/portfolio/idle-assets/${world.user.address}/${world.pool.mint}`)
    expect(strange.body).toEqual({
      asset: { address: world.pool.mint, name: '', symbol: '', decimals: 9, balance: `${held}` },
    })
    expect((await get(`/portfolio/idle-assets/${user.address}/${world.pool.pool}`)).status).toBe(404)
    expect((await get(`/portfolio/idle-assets/${await newKey()}`)).body).toEqual({ data: [] })
  })

  it.each([
    [{ assetSymbol: 'sol' }, 1],
    [{ assetSymbol: 'USDC' }, 0],
    [{ allowedAssets: 'SOL,USDC' }, 1],
    [{ disallowedAssets: 'SOL' }, 0],
    [{ allowedAssetMints: WRAPPED_SOL }, 1],
    [{ allowedAssetMints: WRAPPED_SOL.toLowerCase() }, 0],
    [{ disallowedAssetMints: WRAPPED_SOL }, 0],
    [{ allowedProtocols: 'SPL-Stake-Pool' }, 1],
    [{ disallowedProtocols: 'spl-stake-pool' }, 0],
    [{ allowedProtocols: 'kamino' }, 0],
    [{ minTvl: '349999' }, 1],
    [{ minTvl: '350001' }, 0],
    [{ maxTvl: '350001' }, 1],
    [{ maxTvl: '349999' }, 0],
    // Of 7 days nothing is known.
    [{ minApy: '-1' }, 0],
    [{ maxApy: '1' }, 0],
  ])('a filter lets through what it says: %o', async (query, count) => {
    const answer = await get('/detailed-vaults').query(query)
    expect([answer.status, answer.body.itemsOnPage, answer.body.nextPage]).toEqual([200, count, null])
    expect(answer.headers['x-credits-used']).toBe(`${1 + 3 * count}`)
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

describe('the node', () => {
  it('that does not answer, or answers something else, is 503', async () => {
    const path = `/portfolio/idle-assets/${world.user.address}`
    world.node.fault = () => ({ status: 500 })
    const gone = await get(path)
    world.node.fault = () => ({ code: -32005, message: 'Node is behind by 200 slots' })
    const behind = await get(path)
    world.node.fault = undefined
    for (const answer of [gone, behind])
      expect([answer.status, answer.headers['retry-after']]).toEqual([503, '5'])
    expect((await get(path)).status).toBe(200)
  })
})

/** Wraps SOL past the rules: a token account of the wallet with as many lamports more. */
async function wrap(user: KeyPairSigner, lamports: bigint): Promise<string> {
  const at = await tokenAccountOf(user.address, WRAPPED_SOL as never)
  const data = Buffer.alloc(165)
  data.write(hexOf(WRAPPED_SOL).slice(2), 0, 'hex')
  data.write(hexOf(user.address).slice(2), 32, 'hex')
  data.writeBigUInt64LE(lamports, 64)
  data[108] = 1
  // It is of the chain's own coin: so much of its lamports are rent.
  data.writeUInt32LE(1, 109)
  data.writeBigUInt64LE(2_039_280n, 113)
  world.chain.setAccount(at, 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA', data, lamports + 2_039_280n)
  return at
}

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
    const { own, its, ask } = await other({}, [5n * SOL])
    const list = await ask('/detailed-vaults')
    expect([list.body.data, list.headers['x-unlisted-left-out']]).toEqual([[], '1'])
    expect(list.body.warnings[0]).toContain('allowUnlisted=true')
    expect((await ask('/vaults')).body).toEqual([])
    expect((await ask('/vaults', { allowUnlisted: 'true' })).body.length).toBe(1)
    expect((await ask(`/portfolio/positions/${own.user.address}`)).body.data).toEqual([])
    const one = await ask(`/detailed-vaults/${own.pool.pool}`)
    expect([one.body.standing, one.body.warnings[0]]).toEqual(['found', expect.stringContaining('Nobody')])
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
