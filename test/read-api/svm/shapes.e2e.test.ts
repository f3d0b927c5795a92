import {
  type Address,
  address,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type KeyPairSigner,
} from '@solana/kit'
import request from 'supertest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromBase58 } from '../../../db/base58.ts'
import { SvmBundle } from '../../../read-api/svm/schemas.ts'
import { TestChain } from '../../svm/chain.ts'
import { indexSolana } from '../../svm/index-solana.ts'
import { TestKamino } from '../../svm/kamino.ts'
import { LENDING_PROGRAM, TestLending } from '../../svm/lend.ts'
import { standsOn } from '../../svm/programs/dumps.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'
import { TOKEN_PROGRAM, tokenAccountOf } from '../../svm/tokens.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import { newKey, SOL, WRAPPED_SOL } from './world.ts'

standsOn(LENDING_PROGRAM)

/** Wallets that lack the account that is paid into, or have SOL wrapped already; vaults whose reserves no transaction can name one by one. */

const FEE = 5_000n
const RENT = 2_039_280n
const MILLION = 1_000_000n
const chain = new TestChain({ time: 1_735_700_000 })
let node: RpcNode
let api: ApiHarness
let lent: TestLending
let lentSol: TestLending
let narrow: TestKamino
let broad: TestKamino
let kaminoSol: TestKamino

beforeAll(async () => {
  node = await serveRpc(chain)
  lent = await TestLending.create(chain)
  lentSol = await TestLending.create(chain, { mint: WRAPPED_SOL as Address, decimals: 9 })
  narrow = await TestKamino.create(chain, { mint: lent.mint, reserves: 1, hasFarm: false })
  broad = await TestKamino.create(chain, { mint: lent.mint, reserves: 25, hasFarm: false })
  kaminoSol = await TestKamino.create(chain, {
    mint: WRAPPED_SOL as Address,
    decimals: 9,
    reserves: 1,
    hasFarm: false,
  })
  const first = await chain.wallet(100n * SOL)
  for (const lending of [lent, lentSol]) {
    const [from, to] = await accountsOf(first.address, lending)
    lending.fund(from, lending.mint, first.address, 1_000n * SOL)
    lending.fund(to, lending.shareMint, first.address, 0n)
    await sent(first, [lending.deposit(first, from, to, 500n * SOL)])
  }
  // A deposit that names all of its reserves does not fit a transaction: it was made before they were many.
  broad.patch(broad.is.vault, data => void data.fill(0, 312, 312 + 25 * 2_160))
  const reserves = broad.reserves.splice(0)
  await broad.open(first.address, 10n ** 12n)
  await sent(first, [await broad.deposit(first, 10n ** 11n)])
  broad.reserves.push(...reserves)
  broad.allocate()
  await narrow.open(first.address, 10n ** 12n)
  await sent(first, [await narrow.deposit(first, 10n ** 11n)])
  await kaminoSol.open(first.address, SOL)
  await sent(first, [await kaminoSol.deposit(first, SOL)])
  chain.mine([], 3_600)
  api = await startApi({ solanaUrl: node.url })
  await indexSolana(api.pool, { chain, node })
  await api.catchUp()
})
afterAll(async () => {
  await api?.stop()
  await node?.close()
})

const accountsOf = async (owner: Address, { mint, shareMint }: { mint: Address; shareMint: Address }) =>
  [await tokenAccountOf(owner, mint), await tokenAccountOf(owner, shareMint)] as const

async function sent(wallet: KeyPairSigner, instructions: Parameters<TestChain['send']>[1]): Promise<void> {
  expect((await chain.send(wallet, instructions)).failed).toBeUndefined()
}

const ask = (action: string, of: Address, vault: Address, query: Record<string, string>) =>
  request(api.app)
    .get(`/beta/svm/transactions/${action}/${of}/${vault}`)
    .set('x-api-key', api.apiKey)
    .query({ simulate: 'true', allowUnlisted: 'true', ...query })

/** Prepares it as one transaction and lands it; gives what its simulation said, and the tables that it looks up in. */
async function carryOut(
  wallet: KeyPairSigner,
  action: 'deposit' | 'redeem',
  vault: Address,
  query: { assetAddress: Address; amount: bigint },
) {
  const answer = await ask(action, wallet.address, vault, { ...query, amount: `${query.amount}` })
  expect(answer.status, answer.text).toBe(200)
  const [only, ...more] = SvmBundle.parse(answer.body).actions
  expect([only?.name, more.length]).toEqual([action, 0])
  const bytes = Buffer.from(only?.tx.transaction ?? '', 'base64')
  expect(bytes.length).toBeLessThanOrEqual(1_232)
  const transaction = getTransactionDecoder().decode(bytes)
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
  expect(await chain.land(wallet, bytes)).toBeUndefined()
  const tables = message.version === 0 ? (message.addressTableLookups ?? []) : []
  return { simulation: only?.simulation, tables: tables.map(of => of.lookupTableAddress) }
}

const lamportsOf = (of: Address) => chain.svm.getBalance(of) ?? 0n
const isThere = (of: Address) => chain.svm.getAccount(of).exists && lamportsOf(of) > 0n

/** Closes a token account that is empty. */
const close = (wallet: KeyPairSigner, at: Address) =>
  sent(wallet, [
    {
      programAddress: TOKEN_PROGRAM,
      accounts: [
        { address: at, role: 1 },
        { address: wallet.address, role: 1 },
        { address: wallet.address, role: 2, signer: wallet } as never,
      ],
      data: Uint8Array.of(9),
    },
  ])

it.for([
  ['a lending vault', () => ({ vault: lent.lending, mint: lent.mint, shareMint: lent.shareMint })],
  [
    'a vault of reserves',
    () => ({ vault: narrow.is.vault, mint: narrow.is.mint, shareMint: narrow.is.shareMint }),
  ],
] as const)('a redemption from %s opens the account that it is paid into', async ([, of]) => {
  const { vault, mint, shareMint } = of()
  const wallet = await chain.wallet(SOL)
  const [assets, shares] = await accountsOf(wallet.address, { mint, shareMint })
  lent.fund(assets, mint, wallet.address, 50n * MILLION)
  await carryOut(wallet, 'deposit', vault, { assetAddress: mint, amount: 50n * MILLION })
  await close(wallet, assets)
  expect(isThere(assets)).toBe(false)
  const before = lamportsOf(wallet.address)
  const held = lent.amountOf(shares)
  const { simulation } = await carryOut(wallet, 'redeem', vault, { assetAddress: shareMint, amount: held })
  expect(lamportsOf(wallet.address)).toBe(before - FEE - RENT)
  expect(lent.amountOf(shares)).toBe(0n)
  const paid = lent.amountOf(assets)
  expect(50n * MILLION - paid).toBeLessThan(3n)
  expect(Object.values(simulation?.tokensReceived ?? {})).toEqual([`${paid}`])
})

it.for([
  ['a lending vault', () => ({ vault: lentSol.lending, shareMint: lentSol.shareMint })],
  ['a vault of reserves', () => ({ vault: kaminoSol.is.vault, shareMint: kaminoSol.is.shareMint })],
] as const)(
  'SOL for %s is taken from what is wrapped first, and comes back unwrapped with all of it',
  async ([, of]) => {
    const { vault, shareMint } = of()
    const wallet = await chain.wallet(10n * SOL)
    const mint = WRAPPED_SOL as Address
    const [assets, shares] = await accountsOf(wallet.address, { mint, shareMint })
    lentSol.fund(assets, mint, wallet.address, 3n * SOL)
    const small = await carryOut(wallet, 'deposit', vault, { assetAddress: mint, amount: SOL })
    expect(small.simulation?.tokensSpent).toEqual({ SOL: `${SOL}` })
    // Only the account of the shares was opened.
    expect([lentSol.amountOf(assets), lamportsOf(wallet.address)]).toEqual([2n * SOL, 10n * SOL - FEE - RENT])
    const large = await carryOut(wallet, 'deposit', vault, { assetAddress: mint, amount: 5n * SOL })
    expect(large.simulation?.tokensSpent).toEqual({ SOL: `${5n * SOL}` })
    expect([lentSol.amountOf(assets), lamportsOf(wallet.address)]).toEqual([0n, 7n * SOL - 2n * FEE - RENT])
    // What somebody wraps meanwhile comes back, too, and is not what was paid.
    lentSol.fund(assets, mint, wallet.address, SOL / 2n)
    const before = lamportsOf(wallet.address)
    const held = lentSol.amountOf(shares)
    const { simulation } = await carryOut(wallet, 'redeem', vault, { assetAddress: shareMint, amount: held })
    expect(isThere(assets)).toBe(false)
    const paid = lamportsOf(wallet.address) - before + FEE - RENT - SOL / 2n
    expect(6n * SOL - paid).toBeLessThan(3n)
    expect(paid).toBeLessThanOrEqual(6n * SOL)
    expect(simulation?.tokensReceived).toEqual({ SOL: `${paid}` })
  },
)

it('of 25 reserves a deposit and a redemption fit where the vault has a table, and say so where it has none', async () => {
  const { is } = broad
  const wallet = await chain.wallet(SOL)
  await broad.open(wallet.address, 100n * MILLION)
  const query = { assetAddress: is.mint, amount: 40n * MILLION }
  const without = await ask('deposit', wallet.address, is.vault, { ...query, amount: `${query.amount}` })
  expect([without.status, without.body.message]).toEqual([422, expect.stringContaining('1232 is the most')])

  const table = address(await newKey())
  broad.patch(is.vault, data => void data.write((fromBase58(table) ?? '').slice(2), 58_568, 'hex'))
  chain.setTable(table, [
    ...[is.vault, is.tokenVault, is.mint, is.authority, is.shareMint, is.settings, is.events],
    ...broad.reserves.flatMap(of => Object.values(of) as Address[]),
  ])
  const [assets, shares] = await accountsOf(wallet.address, is)
  const deposit = await carryOut(wallet, 'deposit', is.vault, query)
  expect(deposit.tables).toEqual([table])
  expect(Object.values(deposit.simulation?.tokensSpent ?? {})).toEqual([`${query.amount}`])
  expect(lent.amountOf(assets)).toBe(60n * MILLION)
  const held = lent.amountOf(shares)
  expect(held).toBeGreaterThan(0n)
  const back = await carryOut(wallet, 'redeem', is.vault, { assetAddress: is.shareMint, amount: held })
  expect(back.tables).toEqual([table])
  expect(lent.amountOf(shares)).toBe(0n)
  expect(100n * MILLION - lent.amountOf(assets)).toBeLessThan(3n)
})
