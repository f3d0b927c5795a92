import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Abi, type Address, type Hex, type LocalAccount, parseSignature } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createKey } from '../../../db/keys/keys.ts'
import { initDataOf, SUITES } from '../../../read-api/intents/biconomy/nexus.ts'
import { ExecuteAnswer, QuoteAnswer, StatusAnswer } from '../../../read-api/intents/schemas.ts'
import { erc20, erc4626 } from '../../chain/abis.ts'
import type { Node } from '../../chain/node.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as w from '../world.ts'
import { startBiconomy } from './biconomy-double.ts'
import { ACROSS, startRhinestone } from './rhinestone-double.ts'
import {
  accountOf,
  actAs,
  allowance,
  balance,
  claim,
  inDollars,
  type Mandated,
  mint,
  PERMIT2,
  permit2Abi,
  permitAbi,
  sendAs,
  startChain,
  USD,
  VAULT,
} from './stage.ts'

const now = () => Math.floor(Date.now() / 1000)
const STRANGER = `0x${'66'.repeat(20)}` as Address

let source: Node
let target: Node
let api: ApiHarness
let server: Server
let baseUrl: string
let otherKey: string
let rhinestone: Awaited<ReturnType<typeof startRhinestone>>
let biconomy: Awaited<ReturnType<typeof startBiconomy>>
const suite = SUITES[0] ?? { factory: '0x', bootstrap: '0x' }

beforeAll(async () => {
  source = await startChain(1)
  target = await startChain(8453)
  // One per cent stays on the way.
  rhinestone = await startRhinestone({ out: (_, spent) => (spent * 99n) / 100n, now })
  biconomy = await startBiconomy({
    account: owner => accountOf(suite.factory, initDataOf(owner, suite.bootstrap)),
    permit: async (token, owner) => ({
      name: token.toLowerCase() === USD ? 'Permit money' : 'Permit vault',
      version: '1',
      nonce: await source.client.readContract({
        address: token,
        abi: permitAbi,
        functionName: 'nonces',
        args: [owner],
      }),
    }),
    fee: 20_000n,
    version: '1.1',
    now,
  })
  api = await startApi({
    rpcUrl: source.rpcUrl,
    rpc: { mainnet: [source.rpcUrl], base: [target.rpcUrl] },
    blockTime: { mainnet: 0, base: 0 },
    intents: {
      BICONOMY_URL: biconomy.url,
      BICONOMY_EXPLORER_URL: biconomy.url,
      BICONOMY_KEY: 'biconomy-key',
      RHINESTONE_URL: rhinestone.url,
      RHINESTONE_KEY: 'rhinestone-key',
    },
  })
  const world = w.makeWorld()
  await api.recordFacts(
    [
      { subject: `asset:8453:${w.USD_ASSET}`, kind: 'feed', value: { feed: w.USD_FEED, decimals: 8 } },
      { subject: `asset:8453:${w.ETH_ASSET}`, kind: 'feed', value: { feed: w.ETH_FEED, decimals: 8 } },
    ],
    w.START,
  )
  await api.append(8453, 'base', world.blocks)
  await w.seed(api, world)
  otherKey = (await createKey(api.pool, { name: 'other', plan: 'unlimited' })).key
  server = createServer(api.app)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => {
  for (const double of [rhinestone, biconomy]) {
    double.fail('none')
    double.straighten()
  }
})
afterAll(async () => {
  server?.closeAllConnections()
  server?.close()
  await api?.stop()
  await rhinestone?.stop()
  await biconomy?.stop()
  await source?.stop()
  await target?.stop()
})

async function newUser(units = 10_000_000n): Promise<LocalAccount> {
  const user = privateKeyToAccount(generatePrivateKey())
  await source.rpc('anvil_setBalance', [user.address, '0x56bc75e2d63100000'])
  await mint(source, USD, user.address, units)
  return user
}
const approve = (user: LocalAccount, spender: Address, amount: bigint) =>
  actAs(source, user.address, USD, erc20 as Abi, 'approve', [spender, amount])
/** Puts half of what a new user holds into the vault. */
async function invest(user: LocalAccount): Promise<bigint> {
  await approve(user, VAULT, 5_000_000n)
  expect(
    await actAs(source, user.address, VAULT, erc4626 as Abi, 'deposit', [5_000_000n, user.address]),
  ).toBe(true)
  return balance(source, VAULT, user.address)
}

async function ask(method: 'GET' | 'POST', path: string, body?: unknown, key = api.apiKey) {
  const response = await fetch(`${baseUrl}/alpha/transactions/intent/${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown }
}
type Wish = Partial<Record<'from' | 'to' | 'amount' | 'provider', string>>
const wishOf = (
  user: LocalAccount,
  { from = USD, to = USD, amount = '4000000', provider = 'rhinestone' }: Wish,
) => ({
  userAddress: user.address,
  inputPosition: { address: from, network: 'mainnet', amount },
  outputPosition: { address: to, network: 'base' },
  feeToken: { address: from, network: 'eip155:1' },
  provider,
})
async function quoted(user: LocalAccount, wish: Wish = {}) {
  const { status, body } = await ask('POST', 'getQuote', wishOf(user, wish))
  expect(status, JSON.stringify(body)).toBe(200)
  return QuoteAnswer.parse(body)
}
async function refused(answer: Promise<{ status: number; body: unknown }>, status: number, words: RegExp) {
  const { status: found, body } = await answer
  expect([found, (body as { message: string }).message]).toEqual([status, expect.stringMatching(words)])
}
const signed = (user: LocalAccount, quote: z.output<typeof QuoteAnswer>) =>
  user.signTypedData?.(quote.payloadToSign as never) as Promise<Hex>

describe('a token through Permit2', () => {
  it('moves what the quote says on the real contract, once, for the spender alone', async () => {
    const user = await newUser()
    const quote = await quoted(user)
    expect(quote).toMatchObject({
      totalCost: [{ network: 'mainnet', decimals: 6, amount: '4000000' }],
      receivedPosition: { network: 'base', decimals: 6, amount: '3960000' },
      fees: [
        { type: 'gas', amount: inDollars(20_000n) },
        { type: 'bridge', amount: inDollars(10_000n) },
      ],
    })
    for (const { tx } of quote.setupTransactions ?? [])
      expect(await sendAs(source, user.address, tx.to as Address, tx.data as Hex)).toBe(true)
    expect(await allowance(source, USD, user.address, PERMIT2)).toBe(4_000_000n)

    const signature = await signed(user, quote)
    const take = (from: Address, amount?: bigint) =>
      actAs(
        source,
        from,
        PERMIT2,
        permit2Abi as Abi,
        'permitWitnessTransferFrom',
        claim(quote.payloadToSign.message, { owner: user.address, to: STRANGER, signature, amount }),
      )
    const before = await balance(source, USD, STRANGER)
    expect(await take(STRANGER)).toBe(false)
    expect(await take(ACROSS, 4_000_001n)).toBe(false)
    expect(await balance(source, USD, user.address)).toBe(10_000_000n)
    expect(await take(ACROSS)).toBe(true)
    expect(await balance(source, USD, user.address)).toBe(6_000_000n)
    expect((await balance(source, USD, STRANGER)) - before).toBe(4_000_000n)
    expect(await take(ACROSS)).toBe(false)
    expect(await allowance(source, USD, user.address, PERMIT2)).toBe(0n)

    const executed = await ask('POST', 'execute', {
      payloadSignature: signature,
      provider: 'rhinestone',
      originalQuote: quote.originalQuote,
    })
    const { crosschainTransactionId: id } = ExecuteAnswer.parse(executed.body)
    const status = async () =>
      StatusAnswer.parse((await ask('GET', `status?provider=rhinestone&crosschainTransactionId=${id}`)).body)
    expect(await status()).toEqual({ status: 'pending' })
    const intent = rhinestone.submitted.get(id)
    for (const [theirs, ours] of [
      ['CLAIMED', 'pending'],
      ['FAILED', 'failed'],
      ['EXPIRED', 'failed'],
      ['COMPLETED', 'success'],
    ] as const) {
      if (intent) intent.status = theirs
      expect((await status()).status).toBe(ours)
    }
    expect(await status()).toEqual({
      status: 'success',
      sourceTransactionHash: `0x${'1'.repeat(64)}`,
      destinationTransactionHash: `0x${'2'.repeat(64)}`,
    })
  })

  it('enters a vault for the user, whoever runs the operations', async () => {
    const user = await newUser()
    const quote = await quoted(user, { to: VAULT })
    const { mandate } = quote.payloadToSign.message as unknown as Mandated
    const between = `0x${'be'.repeat(20)}` as Address
    await mint(target, USD, between, 3_960_000n)
    for (const { to, data } of mandate.destOps.ops) expect(await sendAs(target, between, to, data)).toBe(true)
    // 99.5 % of what a first quote delivers is deposited; the rest comes as the asset.
    expect(await balance(target, USD, between)).toBe(19_800n)
    expect(await balance(target, VAULT, between)).toBe(0n)
    expect(await balance(target, VAULT, user.address)).toBe(BigInt(quote.receivedPosition.amount))
    expect(quote.receivedPosition).toMatchObject({
      network: 'base',
      decimals: 18,
      amount: '3940200000000000000',
    })
  })

  it('is executed once by fifty callers at once, and for the key alone that was given the quote', async () => {
    const user = await newUser()
    const quote = await quoted(user)
    const signature = await signed(user, quote)
    const body = { payloadSignature: signature, provider: 'rhinestone', originalQuote: quote.originalQuote }
    await refused(ask('POST', 'execute', body, otherKey), 404, /There is no quote/)
    await refused(
      ask('POST', 'execute', { ...body, payloadSignature: await signed(await newUser(), quote) }),
      422,
      /signature is not that/,
    )
    await refused(
      ask('POST', 'execute', { ...body, payloadSignature: '0x1234' }),
      422,
      /signature is not that/,
    )
    const before = rhinestone.executions()
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask('POST', 'execute', body)))
    const ids = answers.map(({ status, body: answer }) => (status === 200 ? JSON.stringify(answer) : status))
    expect(new Set(ids).size).toBe(1)
    expect(rhinestone.executions() - before).toBe(1)
  })
})

describe('a token through a permit of its own', () => {
  it('lets the user’s own account take what the quote says on the real token, once', async () => {
    const user = await newUser()
    const quote = await quoted(user, { provider: 'biconomy' })
    expect(quote).toMatchObject({
      totalCost: [{ amount: '4020000' }],
      fees: [{ type: 'gas', amount: '20000' }],
      receivedPosition: { amount: '3800000' },
    })
    expect(quote.setupTransactions).toBeUndefined()
    const signature = await signed(user, quote)
    const { spender, value, deadline } = quote.payloadToSign.message as Record<string, string>
    const { r, s, v } = parseSignature(signature)
    const permit = (of: bigint) =>
      actAs(source, STRANGER, USD, permitAbi as Abi, 'permit', [
        user.address,
        spender,
        of,
        BigInt(deadline ?? ''),
        Number(v),
        r,
        s,
      ])
    const take = (from: Address, amount: bigint) =>
      actAs(source, from, USD, erc20 as Abi, 'transferFrom', [user.address, STRANGER, amount])
    expect(await permit(BigInt(value ?? '') + 1n)).toBe(false)
    expect(await permit(BigInt(value ?? ''))).toBe(true)
    expect(await allowance(source, USD, user.address, spender as Address)).toBe(4_020_000n)
    expect(await take(STRANGER, 1n)).toBe(false)
    expect(await take(spender as Address, 4_020_001n)).toBe(false)
    expect(await take(spender as Address, 4_020_000n)).toBe(true)
    expect(await balance(source, USD, user.address)).toBe(5_980_000n)
    expect(await permit(BigInt(value ?? ''))).toBe(false)
  })

  it('leaves a vault and enters another, with the account in between and the user at the end', async () => {
    const user = await newUser()
    const shares = await invest(user)
    const quote = await quoted(user, { from: VAULT, to: VAULT, amount: String(shares), provider: 'biconomy' })
    const { spender, value } = quote.payloadToSign.message as Record<string, string>
    expect(BigInt(value ?? '')).toBe(shares + 20_000n)
    const { request } = biconomy.quoted.at(-1) ?? { request: undefined }
    const [out, move, approve, enter] = request?.composeFlows ?? []
    // The account holds the shares by then: its redemption is run as it stands.
    await actAs(source, user.address, VAULT, erc20 as Abi, 'transfer', [spender, shares])
    const exit = out?.data as { to: Address; data: Hex }
    expect(await sendAs(source, spender as Address, exit.to, exit.data)).toBe(true)
    expect(await balance(source, USD, spender as Address)).toBe(5_000_000n)
    expect([move?.data, approve?.data, enter?.data]).toMatchObject([
      { amount: '5000000', srcToken: USD, dstToken: USD, srcChainId: 1, dstChainId: 8453 },
      { to: USD, args: [expect.stringMatching(new RegExp(VAULT, 'i')), { constraints: { gte: '4750000' } }] },
      {
        to: VAULT,
        functionSignature: 'function deposit(uint256 assets, address receiver)',
        args: [{ type: 'runtimeErc20Balance', tokenAddress: USD }, user.address],
      },
    ])
    expect(quote.receivedPosition).toMatchObject({ decimals: 18, amount: '4750000000000000000' })
  })

  it('is executed, and its status is that of all its user operations', async () => {
    const user = await newUser()
    const quote = await quoted(user, { provider: 'biconomy' })
    const body = { payloadSignature: await signed(user, quote), provider: 'biconomy' }
    const before = biconomy.executions()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('POST', 'execute', body)))
    const { crosschainTransactionId: id } = ExecuteAnswer.parse(answers[0]?.body)
    expect(new Set(answers.map(({ body: answer }) => JSON.stringify(answer))).size).toBe(1)
    expect([biconomy.executions() - before, biconomy.broken]).toEqual([1, []])
    const status = async () =>
      (await ask('GET', `status?provider=biconomy&crosschainTransactionId=${id}`)).body
    expect(await status()).toEqual({ status: 'pending' })
    biconomy.executed.set(id, 'MINED_SUCCESS')
    expect(await status()).toEqual({
      status: 'success',
      sourceTransactionHash: `0x${'1'.repeat(64)}`,
      destinationTransactionHash: `0x${'2'.repeat(64)}`,
    })
    biconomy.executed.set(id, 'MINED_FAIL')
    expect(await status()).toMatchObject({ status: 'failed' })
  })
})

describe('what is refused', () => {
  it('before a provider is asked', async () => {
    const user = await newUser()
    const before = rhinestone.calls.length + biconomy.calls.length
    const wish = (how: object, more: Wish = {}) => ask('POST', 'getQuote', { ...wishOf(user, more), ...how })
    await refused(wish({}, { amount: '0' }), 400, /more than 0/)
    await refused(wish({ more: 1 }), 400, /Unknown body key/)
    await refused(wish({}, { amount: '10000001' }), 422, /holds 10000000/)
    await refused(wish({}, { from: STRANGER }), 404, /no token and no vault/)
    await refused(wish({ feeToken: { address: VAULT, network: 'mainnet' } }), 422, /feeToken/)
    await refused(wish({ outputPosition: { address: VAULT, network: 'mainnet' } }), 422, /Both positions/)
    await refused(wish({}, { to: w.ODD_ASSET }), 422, /price of .* is not known/)
    await refused(wish({}, { from: VAULT, amount: '1' }), 422, /holds 0/)
    expect(rhinestone.calls.length + biconomy.calls.length).toBe(before)
  })

  it('a vault’s shares by Rhinestone, and a token without a permit by Biconomy', async () => {
    const user = await newUser()
    await invest(user)
    await refused(
      ask('POST', 'getQuote', wishOf(user, { from: VAULT, amount: '1000000000000000000' })),
      422,
      /provider biconomy/,
    )
    await mint(source, w.ETH_ASSET as Address, user.address, 10n ** 18n)
    await refused(
      ask(
        'POST',
        'getQuote',
        wishOf(user, { from: w.ETH_ASSET, amount: String(10n ** 18n), provider: 'biconomy' }),
      ),
      422,
      /has no permit/,
    )
  })

  it('a quote that is not what was asked for, with 503 and why', async () => {
    const user = await newUser()
    rhinestone.bend(route => {
      const [origin] = route.signData.origin
      if (origin) origin.message.mandate.target.recipient = STRANGER
      return route
    })
    await refused(ask('POST', 'getQuote', wishOf(user, {})), 503, /recipient is somebody else/)
    biconomy.bend(quote => ({ ...quote, ownerAddress: STRANGER }))
    await refused(
      ask('POST', 'getQuote', wishOf(user, { provider: 'biconomy' })),
      503,
      /owner is somebody else/,
    )
    biconomy.bend(quote => ({ ...quote, quoteType: 'onchain' }))
    await refused(ask('POST', 'getQuote', wishOf(user, { provider: 'biconomy' })), 422, /no permit/)
  })

  it.each(['429', '500', '401', 'hang', 'shape', 'text', 'long', 'lost'] as const)(
    'while a provider does %s, and no other endpoint is touched by it',
    async fault => {
      const user = await newUser()
      for (const provider of ['rhinestone', 'biconomy'] as const) {
        const [one, other] = provider === 'rhinestone' ? [rhinestone, biconomy] : [biconomy, rhinestone]
        one.fail(fault)
        const asked = ask('POST', 'getQuote', wishOf(user, { provider }))
        const others = await Promise.all([
          fetch(`${baseUrl}/v2/detailed-vaults/mainnet/${VAULT}`, { headers: { 'x-api-key': api.apiKey } }),
          ask('POST', 'getQuote', wishOf(user, { provider: other === biconomy ? 'biconomy' : 'rhinestone' })),
        ])
        expect(others.map(({ status }) => status)).toEqual([200, 200])
        const { status, headers, body } = await asked
        expect([status, headers.get('retry-after')]).toEqual([503, fault === '429' ? '17' : '5'])
        expect(JSON.stringify(body)).not.toMatch(/secret of theirs|-key/)
        one.fail('none')
      }
    },
  )

  it('a status of what nobody knows, or could', async () => {
    const of = (provider: string, id: string) =>
      ask('GET', `status?provider=${provider}&crosschainTransactionId=${id}`)
    await refused(of('rhinestone', '42'), 404, /knows of no transaction/)
    await refused(of('biconomy', `0x${'12'.repeat(32)}`), 404, /knows of no transaction/)
    await refused(of('biconomy', '42'), 400, /no identifier/)
  })

  it('everything of a provider that is not configured, with the setting’s name', async () => {
    const bare = await startApi({ intents: { BICONOMY_URL: biconomy.url } })
    const listening = createServer(bare.app)
    await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(listening.address() as AddressInfo).port}/alpha/transactions/intent/status`
    const told = async (provider: string) => {
      const response = await fetch(`${url}?crosschainTransactionId=1&provider=${provider}`, {
        headers: { 'x-api-key': bare.apiKey },
      })
      return [response.status, z.object({ message: z.string() }).parse(await response.json()).message]
    }
    expect(await told('biconomy')).toEqual([503, expect.stringContaining('BICONOMY_KEY is not set')])
    expect(await told('rhinestone')).toEqual([
      503,
      expect.stringContaining('RHINESTONE_URL and RHINESTONE_KEY are not set'),
    ])
    listening.closeAllConnections()
    listening.close()
    await bare.stop()
  })
})
