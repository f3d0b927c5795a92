import type { Address, KeyPairSigner } from '@solana/kit'
import { afterAll, expect, it, vi } from 'vitest'
import { decodeTokenAccount } from '../../abi/svm/token.ts'
import { fromBase58 } from '../../db/base58.ts'
import { type Ask, openFailover } from '../../db/chain/failover.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { startPortal } from '../portal/server.ts'
import { TestChain } from './chain.ts'
import { type From, indexSolana } from './index-solana.ts'
import { TestKamino } from './kamino.ts'
import { give, takeFromAll } from './kamino-farm.ts'
import { svmDataset } from './portal-server.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'
import { SvmWorld } from './world.ts'

/** Who had shares before what is indexed begins. */

const hex = (text: string) => fromBase58(text) ?? ''
const opened: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of opened) await close()
})

async function stored(): Promise<TestPostgres> {
  const postgres = await createPostgres()
  opened.push(postgres.drop)
  return postgres
}

async function served(chain: TestChain): Promise<RpcNode> {
  const node = await serveRpc(chain)
  opened.push(node.close)
  return node
}

const eventsOf = ({ pool }: TestPostgres, ...types: string[]) =>
  readEvents(pool, SOLANA.id, { after: 0, ...(types.length > 0 && { types }) })

/** By mint and owner what token accounts hold, by the events. */
function told(events: readonly StoredEvent[]): Record<string, bigint> {
  const accounts = new Map<string, [key: string, amount: bigint]>()
  for (const { type, contract, data } of events) {
    const { owner, amount, tokenAccount } = data as Record<string, string>
    if (type === 'SvmShareAccountChanged' || type === 'SvmShareAccountSampled')
      accounts.set(tokenAccount ?? '', [`${contract} ${owner}`, BigInt(amount ?? '')])
  }
  const sums: Record<string, bigint> = {}
  for (const [key, amount] of accounts.values()) if (amount > 0n) sums[key] = (sums[key] ?? 0n) + amount
  return sums
}

/** The same, as the node answers for each owner. */
async function asked(
  node: RpcNode,
  owners: readonly string[],
  mints: readonly string[],
): Promise<Record<string, bigint>> {
  const ask = openFailover([node.url])
  const sums: Record<string, bigint> = {}
  for (const owner of owners)
    for (const mint of mints) {
      const { value } = (await ask('getTokenAccountsByOwner', [owner, { mint }, { encoding: 'base64' }])) as {
        value: { account: { owner: string; data: [string, string] } }[]
      }
      for (const { account } of value) {
        const key = `${hex(mint)} ${hex(owner)}`
        const is = decodeTokenAccount(hex(account.owner) as never, Buffer.from(account.data[0], 'base64'))
        if (is && is.amount > 0n) sums[key] = (sums[key] ?? 0n) + is.amount
      }
    }
  return sums
}

/** A world of which the index has not seen the beginning. */
async function late(seed: number): Promise<{ world: SvmWorld; owners: Address[]; mints: Address[] }> {
  const world = await new SvmWorld(seed).begin(2, 6)
  await world.grow(60)
  const { chain } = world
  chain.mine([])
  chain.blocks.splice(0, chain.blocks.length - 1)
  // So that each vault is met.
  const [wallet] = world.wallets
  if (wallet)
    for (const pool of world.pools) await chain.send(wallet, [await pool.depositSol(wallet, 1_000_000n)])
  const owners = [
    ...world.wallets.map(({ address }) => address),
    ...world.pools.map(({ manager }) => manager),
  ]
  return { world, owners, mints: world.pools.map(({ mint }) => mint) }
}

const PATIENCE = { timeout: 60_000, interval: 5 }

/** The processor runs for so many blocks, a minute each. */
async function indexed(
  { pool }: TestPostgres,
  { chain, ...from }: Omit<From, 'chain'> & { chain: TestChain },
  blocks = 8,
): Promise<void> {
  const stop = new AbortController()
  const run = indexSolana(pool, { chain, ...from, endSlot: Number.MAX_SAFE_INTEGER, signal: stop.signal })
  for (let i = 0; i < blocks; i++) {
    chain.mine([], 60)
    await vi.waitFor(async () => expect(await headOf(pool)).toBe(chain.slot), {
      timeout: 10_000,
      interval: 5,
    })
  }
  stop.abort()
  await run
}

async function headOf(pool: TestPostgres['pool']): Promise<number> {
  const { rows } = await pool.query<{ head: number }>(
    'SELECT head_height AS head FROM stream WHERE id = $1',
    [SOLANA.id],
  )
  return Number(rows[0]?.head ?? -1)
}

it('everybody who has shares is known at several slots, by node and by Portal: what getTokenAccountsByOwner says of every owner', async () => {
  const { world, owners, mints } = await late(11)
  const { chain } = world
  const node = await served(chain)
  const portal = await startPortal(svmDataset(chain), { mostChunks: 1 })
  opened.push(() => portal.close())
  const urls = { urls: [portal.url], settings: { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' } }
  const source = openPortalSource(openPortal({ network: 'solana', firstPause: 10, ...urls }))
  const stores = [await stored(), await stored()] as const
  for (let round = 0; round < 4; round++) {
    await indexed(stores[0], { chain, node }, 4)
    await indexed(stores[1], { chain, source, ask: openFailover([node.url]) }, 4)
    await indexSolana(stores[0].pool, { chain, node })
    const expected = await asked(node, owners, mints)
    expect(Object.keys(expected).length).toBeGreaterThan(6)
    for (const store of stores) expect(told(await eventsOf(store)), `round ${round}`).toEqual(expected)
    await world.grow(20)
  }
  for (const store of stores) {
    const whole = await eventsOf(store, 'SvmHoldersListed')
    expect(whole.map(({ contract }) => contract).sort()).toEqual(mints.map(hex).sort())
    expect((await store.pool.query('SELECT * FROM dead_letter')).rows).toEqual([])
  }
})

it('of too many for one answer some are asked for at a time', async () => {
  const { world, owners, mints } = await late(12)
  const node = await served(world.chain)
  const store = await stored()
  await indexed(store, { chain: world.chain, node }, 3)
  const before = node.calls.get('getProgramAccounts') ?? 0
  expect(before).toBe(2)
  const few = await stored()
  // An answer has room for two accounts or so.
  const ask = openFailover([node.url])
  const narrow: Ask = (method, ...more) => {
    node.most = method === 'getProgramAccounts' ? 700 : undefined
    return ask(method, ...more)
  }
  await indexed(few, { chain: world.chain, node, ask: narrow }, 70)
  // What a node says of too long an answer is believed when it has said so twice.
  expect(node.calls.get('getProgramAccounts')).toBe(before + 2 * 2 + 2 * 256)
  expect((await eventsOf(few, 'SvmHoldersListed')).map(({ data }) => data)).toHaveLength(2)
  expect(told(await eventsOf(few))).toEqual(await asked(node, owners, mints))
})

it('a node that does not tell stops nothing, and is asked again a day later', async () => {
  const { world, owners, mints } = await late(13)
  const { chain } = world
  const node = await served(chain)
  const store = await stored()
  node.fault = method =>
    method === 'getProgramAccounts'
      ? { code: -32010, message: `${method}: excluded from account secondary indexes` }
      : undefined
  await indexed(store, { chain, node })
  const letters = async () =>
    (
      await store.pool.query<{ contract: string; reason: string }>(
        'SELECT contract, reason FROM dead_letter ORDER BY contract',
      )
    ).rows
  expect((await letters()).map(({ contract }) => contract)).toEqual(mints.map(hex).sort())
  for (const { reason } of await letters())
    expect(reason).toContain('excluded from account secondary indexes')
  expect(await eventsOf(store, 'SvmHoldersListed')).toEqual([])
  expect(await eventsOf(store, 'SvmVaultSampled')).toHaveLength(2)
  node.fault = undefined
  chain.mine([], 86_400)
  await indexed(store, { chain, node })
  expect(told(await eventsOf(store))).toEqual(await asked(node, owners, mints))
})

it.each([
  ['says so', { code: -32016, message: 'Minimum context slot has not been reached' }],
  ['is unhealthy', { code: -32005, message: 'Node is behind by 42 slots' }],
])('a node that is behind and %s is asked again soon, and leaves no dead letter', async (_, failure) => {
  const { world, owners, mints } = await late(14)
  const { chain } = world
  const node = await served(chain)
  const store = await stored()
  node.fault = method => (method === 'getProgramAccounts' ? failure : undefined)
  await indexed(store, { chain, node }, 3)
  expect(await eventsOf(store, 'SvmHoldersListed')).toEqual([])
  node.fault = undefined
  await indexed(store, { chain, node }, 4)
  expect(told(await eventsOf(store))).toEqual(await asked(node, owners, mints))
  expect((await store.pool.query('SELECT * FROM dead_letter')).rows).toEqual([])
})

it('a node that answers as of an older slot than it was asked for is not believed', async () => {
  const { world, owners, mints } = await late(15)
  const { chain } = world
  const node = await served(chain)
  const store = await stored()
  const ask = openFailover([node.url])
  // The processor runs on: what it took for read would never be asked for again.
  const until = chain.slot + 3
  const old: Ask = async (method, parameters, ...more) => {
    const said = (await ask(method, parameters, ...more)) as { context?: { slot: number } }
    // Of state: it may be asked for when the chain has gone on.
    const { minContextSlot: slot } = (parameters.at(-1) ?? {}) as { minContextSlot?: number }
    return slot !== undefined && slot <= until ? { ...said, context: { slot: 1 } } : said
  }
  await indexed(store, { chain, node, ask: old }, 16)
  expect(told(await eventsOf(store))).toEqual(await asked(node, owners, mints))
  expect((await eventsOf(store, 'SvmMintDescribed')).map(({ contract }) => contract)).toEqual(
    expect.arrayContaining(mints.map(hex)),
  )
  const first = (await eventsOf(store)).find(({ type }) => /Sampled|Listed|Described/.test(type))
  expect(first?.block_number).toBeGreaterThan(until)
})

/** A vault with a farm in which three wallets have stakes, none of which the index saw. */
async function staked(): Promise<{ chain: TestChain; vault: TestKamino; wallets: KeyPairSigner[] }> {
  // What the program of 2024 does is another thing: a stake that is given away stays where it was.
  const chain = new TestChain({ dumps: () => undefined })
  const vault = await TestKamino.create(chain, {})
  const wallets: KeyPairSigner[] = []
  for (let i = 0; i < 4; i++) {
    const wallet = await chain.wallet()
    await vault.open(wallet.address, 10n ** 10n)
    const stake = i === 3 ? [] : [await vault.initializeUser(wallet), await vault.stake(wallet)]
    await chain.send(wallet, [await vault.deposit(wallet, 1_000_000n * BigInt(i + 1)), ...stake])
    wallets.push(wallet)
  }
  chain.mine([])
  chain.blocks.splice(0, chain.blocks.length - 1)
  const [first] = wallets
  if (first) await chain.send(first, [await vault.deposit(first, 5_000n)])
  return { chain, vault, wallets }
}

/** The newest that is known of each stake, by owner. */
function stakesOf(events: readonly StoredEvent[]): Record<string, bigint> {
  const stakes = new Map<string, [owner: string, amount: bigint]>()
  for (const { type, data } of events) {
    const { owner = '', stakeAccount, change, amount } = data as Record<string, string>
    const key = `${stakeAccount} ${owner}`
    if (type === 'SvmStakeSampled') stakes.set(key, [owner, BigInt(amount ?? '')])
    if (type === 'SvmStakeChanged')
      stakes.set(key, [owner, (stakes.get(key)?.[1] ?? 0n) + BigInt(change ?? '')])
  }
  const sums: Record<string, bigint> = {}
  for (const [owner, amount] of stakes.values()) if (amount !== 0n) sums[owner] = (sums[owner] ?? 0n) + amount
  return sums
}

it('stakes are known that were there before, that are given to another, and that are worth less since the farm was taken from', async () => {
  const { chain, vault, wallets } = await staked()
  const [first, second, third, fourth] = wallets
  if (!first || !second || !third || !fourth) return expect.unreachable()
  const node = await served(chain)
  const store = await stored()
  const settled = async () => {
    await indexed(store, { chain, node })
    return stakesOf(await eventsOf(store))
  }
  const of = (shares: readonly (readonly [KeyPairSigner, bigint])[]) =>
    Object.fromEntries(shares.map(([{ address }, amount]) => [hex(address), amount]))
  const shares = of([
    [first, 1_000_000n],
    [second, 2_000_000n],
    [third, 3_000_000n],
  ])
  expect(await settled()).toEqual(shares)
  const whole = await eventsOf(store, 'SvmHoldersListed')
  expect(whole.map(({ data }) => data['farm'])).toEqual([undefined, hex(vault.is.farm)])

  // To one who has a stake, and to one who has none.
  for (const [wallet, instruction] of [
    [fourth, await vault.initializeUser(fourth)],
    [second, await give(vault, second, fourth.address)],
    [third, await give(vault, third, first.address)],
  ] as const)
    expect((await chain.send(wallet, [instruction])).failed).toBeUndefined()
  expect(await settled()).toEqual(
    of([
      [first, 4_000_000n],
      [fourth, 2_000_000n],
    ]),
  )

  // A quarter of all, and a unit: everybody has as many parts of 4,499,999.
  expect((await chain.send(second, [await takeFromAll(vault, second, 1_500_001n)])).failed).toBeUndefined()
  expect(await settled()).toEqual(
    of([
      [first, (4_000_000n * 4_499_999n) / 6_000_000n],
      [fourth, (2_000_000n * 4_499_999n) / 6_000_000n],
    ]),
  )
  const farms = (await eventsOf(store, 'SvmHoldersListed')).map(({ data }) => data['farm'])
  expect(farms.filter(farm => farm === hex(vault.is.farm))).toHaveLength(2)
  expect((await store.pool.query('SELECT * FROM dead_letter')).rows).toEqual([])
})

it('that everybody was read is not said before it is stored', async () => {
  const { chain, vault } = await staked()
  // Blocks come from one that is behind the one that tells of state: what that says waits for its slot.
  const [blocks, state] = [await served(chain), await served(chain)]
  const source = openRpcSource(openFailover([blocks.url]))
  const ask = openFailover([state.url])
  const store = await stored()
  const listed = (events: readonly StoredEvent[]) =>
    events.findIndex(({ type, data }) => type === 'SvmHoldersListed' && data['farm'])
  for (let round = 0; round < 15; round++) {
    blocks.head = chain.slot
    for (let i = 0; i < 1 + (round % 4); i++) chain.mine([], 60)
    const stop = new AbortController()
    const run = indexSolana(store.pool, {
      chain,
      source,
      ask,
      endSlot: Number.MAX_SAFE_INTEGER,
      signal: stop.signal,
    })
    // One after the other, the last one left out: what was read of it is gone with the process.
    for (const { slot } of chain.blocks.filter(each => each.slot >= (blocks.head ?? 0)).slice(0, -1)) {
      blocks.head = slot
      await vi.waitFor(async () => expect(await headOf(store.pool)).toBe(slot), PATIENCE)
    }
    stop.abort()
    await run
    const events = await eventsOf(store)
    const at = listed(events)
    if (at >= 0) expect(Object.keys(stakesOf(events.slice(0, at))), `round ${round}`).toHaveLength(3)
  }
  blocks.head = undefined
  await indexed(store, { chain, source, ask })
  const events = await eventsOf(store)
  expect(Object.keys(stakesOf(events.slice(0, listed(events))))).toHaveLength(3)
  expect(events[listed(events)]?.data['farm']).toBe(hex(vault.is.farm))
})
