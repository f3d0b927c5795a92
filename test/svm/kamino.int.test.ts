import type { Instruction, KeyPairSigner } from '@solana/kit'
import { afterAll, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { type Ask, openFailover } from '../../db/chain/failover.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { groupBy } from '../../db/group-by.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { SOLANA } from '../../db/streams.ts'
import { openPortal } from '../../processors/source/portal-client.ts'
import { compareSlots, firstSlot } from '../../processors/svm/compare.ts'
import { loadPrograms } from '../../processors/svm/load-programs.ts'
import { openPortalSource } from '../../processors/svm/portal-source.ts'
import { openRpcSource } from '../../processors/svm/rpc-source.ts'
import { seededRandom } from '../chain/random.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { startPortal } from '../portal/server.ts'
import { TestChain } from './chain.ts'
import { type From, indexSolana } from './index-solana.ts'
import { ALL, FARMS, type KaminoOptions, LENDING, TestKamino, VAULTS } from './kamino.ts'
import { svmDataset } from './portal-server.ts'
import { standsOn } from './programs/dumps.ts'
import { routed } from './router.ts'
import { serveRpc } from './rpc-server.ts'
import { tokenAccountOf } from './tokens.ts'

standsOn(VAULTS, LENDING, FARMS)

const hex = (text: string, bytes = 32) => fromBase58(text, bytes) ?? ''
const opened: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of opened) await close()
})

interface Done {
  signature: string
  kind: 'SvmDeposited' | 'SvmWithdrawn'
  wallet: string
  assets: bigint
  shares: bigint
}

/** People who deposit and stake, take out and withdraw, at random; what came of it is told by their accounts. */
class World {
  readonly chain = new TestChain()
  readonly done: Done[] = []
  /** By slot: what everybody had, in token accounts and in the farm. */
  readonly held = new Map<number, Record<string, { held: bigint; staked: bigint }>>()
  vaults: TestKamino[] = []
  wallets: KeyPairSigner[] = []
  private readonly random: () => number

  constructor(seed: number) {
    this.random = seededRandom(seed).next
  }

  async begin(...vaults: KaminoOptions[]): Promise<this> {
    for (const options of vaults) this.vaults.push(await TestKamino.create(this.chain, options))
    for (let i = 0; i < 4; i++) this.wallets.push(await this.chain.wallet())
    for (const vault of this.vaults)
      for (const { address } of this.wallets) await vault.open(address, 10n ** 12n)
    return this
  }

  private int = (below: number) => Math.floor(this.random() * below)
  private pick = <T>(of: readonly T[]): T => of[this.int(of.length)] as T

  async grow(steps: number): Promise<this> {
    for (let i = 0; i < steps; i++) await this.step(this.pick(this.vaults), this.pick(this.wallets))
    return this
  }

  private async step(vault: TestKamino, wallet: KeyPairSigner): Promise<void> {
    const { held, staked } = await vault.sharesOf(wallet.address)
    const amount = BigInt(1 + this.int(2 ** 30))
    const hasFarm = vault.data(vault.is.farm).length > 0
    const dice = this.int(10)
    if (dice === 0) return this.chain.skip(1 + this.int(5))
    if (dice === 1) return void this.chain.mine([], 3600)
    const { available, invested } = vault.state()
    if (dice === 2 && available > 2n) return vault.invest(this.pick(vault.reserves), available / 2n)
    if (dice === 3 && (invested[0]?.[1] ?? 0n) > 0n && vault.reserves[0])
      return vault.earn(vault.reserves[0], BigInt(this.int(1e6)))
    if (dice < 6 && hasFarm) {
      const isNew = vault.data(await vault.stakeAccountOf(wallet.address)).length === 0
      const stake = [...(isNew ? [await vault.initializeUser(wallet)] : []), await vault.stake(wallet)]
      return this.flow(vault, wallet, [await vault.deposit(wallet, amount), ...stake])
    }
    if (dice === 6)
      return this.flow(vault, wallet, [
        await vault.deposit(wallet, amount, 'buy'),
        routed(this.chain, await vault.deposit(wallet, amount + 5n), 1),
      ])
    const out = staked > 0n ? await vault.unstake(wallet, dice === 7 ? staked : 1n + staked / 2n) : []
    if (dice === 9 && out.length > 0) return this.flow(vault, wallet, out)
    if (held + staked === 0n) return
    const reserve = dice === 8 ? undefined : this.pick(vault.reserves)
    await this.flow(vault, wallet, [
      ...out,
      await vault.withdraw(wallet, ALL, reserve, this.pick(['withdraw', 'sell'])),
    ])
  }

  /** Tells what it came to by what the wallet has before and after. */
  async flow(vault: TestKamino, wallet: KeyPairSigner, instructions: Instruction[]): Promise<void> {
    const state = async () => {
      const { held, staked } = await vault.sharesOf(wallet.address)
      return {
        assets: vault.amountOf(await tokenAccountOf(wallet.address, vault.is.mint)),
        shares: held + staked,
      }
    }
    const before = await state()
    const { signature, slot, failed } = await this.chain.send(wallet, instructions)
    if (failed) return
    const after = await state()
    const moved = { assets: after.assets - before.assets, shares: after.shares - before.shares }
    await this.note(slot)
    if (moved.shares === 0n) return
    const common = { signature, wallet: wallet.address }
    this.done.push(
      moved.shares > 0n
        ? { ...common, kind: 'SvmDeposited', assets: -moved.assets, shares: moved.shares }
        : { ...common, kind: 'SvmWithdrawn', assets: moved.assets, shares: -moved.shares },
    )
  }

  private async note(slot: number): Promise<void> {
    const all: Record<string, { held: bigint; staked: bigint }> = {}
    for (const vault of this.vaults)
      for (const { address } of this.wallets) {
        const shares = await vault.sharesOf(address)
        if (shares.held + shares.staked > 0n) all[`${hex(vault.is.shareMint)} ${hex(address)}`] = shares
      }
    this.held.set(slot, all)
  }
}

async function indexed(
  chain: TestChain,
  { store, ...from }: Omit<From, 'chain'> & { store?: TestPostgres },
): Promise<TestPostgres> {
  const into = store ?? (await createPostgres())
  if (!store) opened.push(into.drop)
  await indexSolana(into.pool, { chain, ...from })
  return into
}

const eventsOf = ({ pool }: TestPostgres, ...types: string[]) =>
  readEvents(pool, SOLANA.id, { after: 0, ...(types.length > 0 && { types }) })

/** Of each owner, in token accounts and staked, by what happened up to a slot. */
function told(events: readonly StoredEvent[], slot: number, farmVaults: readonly string[]) {
  const accounts = new Map<string, { key: string; held: bigint; staked: bigint }>()
  for (const { type, contract, data, block_number } of events) {
    const { owner, amount, change, tokenAccount, stakeAccount } = data as Record<string, string>
    const key = `${contract} ${owner}`
    if (block_number > slot || farmVaults.includes(tokenAccount ?? '')) continue
    if (type === 'SvmShareAccountChanged')
      accounts.set(tokenAccount ?? '', { key, held: BigInt(amount ?? ''), staked: 0n })
    if (type === 'SvmStakeChanged') {
      const before = accounts.get(stakeAccount ?? '')?.staked ?? 0n
      accounts.set(stakeAccount ?? '', { key, held: 0n, staked: before + BigInt(change ?? '') })
    }
  }
  const all: Record<string, { held: bigint; staked: bigint }> = {}
  for (const { key, held, staked } of accounts.values()) {
    const before = all[key] ?? { held: 0n, staked: 0n }
    if (held + staked > 0n) all[key] = { held: before.held + held, staked: before.staked + staked }
  }
  return all
}

function expectAsOnChain(world: World, events: readonly StoredEvent[]): void {
  const farmVaults = world.vaults.map(({ is }) => hex(is.farmVault))
  for (const [slot, held] of world.held) expect(told(events, slot, farmVaults), `slot ${slot}`).toEqual(held)
  const flows = events.filter(({ type }) => type === 'SvmDeposited' || type === 'SvmWithdrawn')
  const bySignature = groupBy(flows, ({ tx_hash }) => tx_hash ?? '')
  expect([...bySignature.keys()]).toEqual(world.done.map(({ signature }) => hex(signature, 64)))
  for (const { signature, kind, wallet, assets, shares } of world.done) {
    const found = bySignature.get(hex(signature, 64)) ?? []
    const sum = (field: string) =>
      found.reduce((total, { data }) => total + BigInt(data[field] as string), 0n)
    expect(found.map(({ type, data }) => [type, data['account']])).toEqual(
      found.map(() => [kind, hex(wallet)]),
    )
    expect([sum('assets'), sum('shares')], signature).toEqual([assets, shares])
  }
}

it('what was moved, who has what, staked or not, at every slot: by node and by Portal, through kills', async () => {
  const world = await new World(41).begin({}, { hasFarm: false, reserves: 1 }, {})
  await world.grow(110)
  const { chain } = world
  expect(new Set(world.done.map(({ kind }) => kind)).size).toBe(2)
  expect(world.done.length).toBeGreaterThan(40)

  const node = await serveRpc(chain)
  const portal = await startPortal(svmDataset(chain), { mostChunks: 1 })
  opened.push(node.close, () => portal.close())
  const urls = { urls: [portal.url], settings: { url: 'PORTAL_SOLANA', key: 'PORTAL_API_KEY' } }
  const client = openPortal({ network: 'solana', firstPause: 10, ...urls })
  const source = () => openRpcSource(openFailover([node.url]))

  const byNode = await indexed(chain, { source: source() })
  const events = await eventsOf(byNode)
  expectAsOnChain(world, events)
  expect(await eventsOf(await indexed(chain, { source: openPortalSource(client) }))).toEqual(events)
  const killed = await createPostgres()
  opened.push(killed.drop)
  for (let pause = 5; pause < 120; pause *= 2) {
    const stop = new AbortController()
    setTimeout(() => stop.abort(), pause)
    await indexed(chain, { source: source(), signal: stop.signal, store: killed })
  }
  expect(await eventsOf(await indexed(chain, { source: source(), store: killed }))).toEqual(events)

  expect(
    events.some(({ type, data }) => type === 'SvmStakeChanged' && String(data['change']).startsWith('-')),
  ).toBe(true)
  const identified = events.filter(({ type }) => type === 'SvmVaultIdentified')
  expect(identified.map(({ contract, protocol, data }) => [contract, protocol, data])).toEqual(
    expect.arrayContaining(
      world.vaults.map(({ is }) => [
        hex(is.vault),
        'kamino',
        {
          program: hex('KvauGMspG5k6rtzrqqn7WNn3oZdyKqLKwK2XWQ8FLjd'),
          shareMint: hex(is.shareMint),
          asset: hex(is.mint),
          authority: hex(is.authority),
        },
      ]),
    ),
  )
  expect(identified.length).toBe(3)
  const { rows } = await byNode.pool.query('SELECT * FROM dead_letter')
  expect(rows).toEqual([])
  const compared = await compareSlots(
    { pool: byNode.pool, source: source(), programs: await loadPrograms() },
    await firstSlot(byNode.pool),
    chain.slot,
  )
  expect(compared).toMatchObject({ equal: true, differences: [] })
  expect(compared.chain.events).toBeGreaterThan(100)
})

it('a stake that was moved before the process ended is read after it, and what a node said before it failed is kept', async () => {
  const world = await new World(7).begin({})
  const [vault] = world.vaults
  const [wallet] = world.wallets
  if (!vault || !wallet) return expect.unreachable()
  const stake = [await vault.initializeUser(wallet), await vault.stake(wallet)]
  await world.flow(vault, wallet, [await vault.deposit(wallet, 5_000_000n), ...stake])
  const node = await serveRpc(world.chain)
  opened.push(node.close)
  const ask = openFailover([node.url])
  // Without a node to ask nobody reads what was moved.
  const store = await indexed(world.chain, { source: openRpcSource(ask) })
  expect(await eventsOf(store, 'SvmStakeChanged')).toHaveLength(1)
  world.chain.mine([], 60)
  // Vaults, what they want, stakes: asked in this order.
  let asked = 0
  const failing: Ask = (method, ...more) => {
    if (method === 'getMultipleAccounts' && ++asked === 3) throw new UnavailableError('the node is gone')
    return ask(method, ...more)
  }
  await indexed(world.chain, { source: openRpcSource(ask), ask: failing, store })
  expect(asked).toBe(3)
  expect(await eventsOf(store, 'SvmFarmNamed')).toHaveLength(1)
  expect(await eventsOf(store, 'SvmStakeSampled')).toEqual([])
  world.chain.mine([], 60)
  await indexed(world.chain, { node, store })
  const sampled = await eventsOf(store, 'SvmStakeSampled')
  const { staked } = await vault.sharesOf(wallet.address)
  expect(staked).toBeGreaterThan(0n)
  const stakeAccount = hex(await vault.stakeAccountOf(wallet.address))
  const told = { farm: hex(vault.is.farm), stakeAccount, owner: hex(wallet.address), amount: `${staked}` }
  expect(sampled.map(({ data }) => data)).toEqual([told])
})

it('a share is worth what the accounts of vault and reserves say, interest up to the slot with it', async () => {
  const world = await new World(5).begin({ reserves: 2 })
  const [vault] = world.vaults
  const [wallet] = world.wallets
  const [first, second] = vault?.reserves ?? []
  if (!vault || !wallet || !first || !second) return expect.unreachable()
  await world.flow(vault, wallet, [await vault.deposit(wallet, 900_000_000n)])
  vault.invest(first, 300_000_000n)
  vault.invest(second, 200_000_000n)
  vault.earn(first, 12_345_678n)
  // Fees that are due: 7,000.5
  vault.patch(vault.is.vault, data => data.writeBigUInt64LE(((7_000n << 60n) | (1n << 59n)) & ALL, 296))
  vault.patch(vault.is.vault, data => data.writeBigUInt64LE(7_000n >> 4n, 304))
  const node = await serveRpc(world.chain)
  opened.push(node.close)
  world.chain.mine([], 3600)
  const store = await indexed(world.chain, { node })
  const sample = async () => (await eventsOf(store, 'SvmVaultSampled')).at(-1)
  const numbers = (data: Record<string, unknown> | undefined) =>
    [data?.['priceAssets'], data?.['priceShares']].map(text => BigInt(text as string))
  const { available, issued, invested } = vault.state()
  const supplied = invested[0]?.[1] ?? 0n
  const assets = vault.worth() - (7_000n << 60n) - (1n << 59n)
  const before = await sample()
  expect(numbers(before?.data)).toEqual([assets, issued << 60n])
  expect(before?.data).toMatchObject({
    totalAssets: `${assets >> 60n}`,
    totalSupply: `${issued}`,
    idleAssets: `${available + supplied + 200_000_000n}`,
    decimals: 6,
    assetDecimals: 6,
  })
  expect(supplied).toBe(312_345_678n)
  const farms = await eventsOf(store, 'SvmFarmNamed')
  const { shareMint, farm, farmVault } = vault.is
  expect(farms.map(({ contract, data }) => [contract, data])).toEqual([
    [hex(shareMint), { vault: hex(vault.is.vault), farm: hex(farm), farmVault: hex(farmVault) }],
  ])

  // Three quarters are borrowed: at 20 % × (75 % − 50 %) / 50 % a year, for 3,001 slots of two a second.
  vault.lend(second, 150_000_000n)
  world.chain.skip(3_000, 3_600)
  world.chain.mine([])
  await indexed(world.chain, { node, store })
  const after = await sample()
  expect(after?.block_number).toBe(world.chain.slot)
  const [worth = 0n] = numbers(after?.data)
  const grown = Number(worth - assets) / 2 ** 60
  const expected = 150_000_000 * Math.expm1((0.1 * 3_001) / 63_072_000)
  expect(Math.abs(grown - expected) / expected).toBeLessThan(1e-6)
  expect(after?.data['idleAssets']).toBe(`${available + supplied + 50_000_000n}`)
})

it('a stake that was there before, or is changed by what tells no amounts, is read from its account', async () => {
  const world = await new World(6).begin({})
  const [vault] = world.vaults
  const [wallet, other] = world.wallets
  if (!vault || !wallet || !other) return expect.unreachable()
  const [opens, stakes] = [await vault.initializeUser(wallet), await vault.stake(wallet)]
  await world.flow(vault, wallet, [await vault.deposit(wallet, 5_000_000n), opens, stakes])
  const { chain } = world
  const before = chain.blocks.length
  const node = await serveRpc(chain)
  opened.push(node.close)
  chain.mine([])
  // What is indexed begins here.
  chain.blocks.splice(0, before)
  await world.flow(vault, wallet, [
    ...(await vault.unstake(wallet, 2_000_000n)),
    await vault.withdraw(wallet, ALL),
  ])
  chain.mine([], 3600)
  const store = await indexed(chain, { node })
  const stakeAccount = hex(await vault.stakeAccountOf(wallet.address))
  const common = { farm: hex(vault.is.farm), stakeAccount, owner: hex(wallet.address) }
  const found = await eventsOf(store, 'SvmStakeChanged', 'SvmStakeSampled')
  expect(found.map(({ type, data }) => [type, data])).toEqual([
    ['SvmStakeChanged', { ...common, change: '-2000000' }],
    ['SvmStakeSampled', { ...common, amount: '3000000' }],
  ])
  expect(found[1]?.block_number).toBe(chain.slot)
  expect(await vault.sharesOf(wallet.address)).toEqual({ held: 0n, staked: 3_000_000n })
})

it('accounts that lie make no number and stop nothing', async () => {
  const lies: [string, (vault: TestKamino) => void][] = [
    ['names accounts that are not derived', vault => vault.patch(vault.is.vault, () => {}, LENDING)],
    [
      'names accounts that are not derived',
      vault => vault.patch(vault.is.vault, data => data.fill(7, 312 + 32, 312 + 40)),
    ],
    ['its shares are minted by', vault => vault.patch(vault.is.shareMint, data => data.fill(7, 4, 36))],
    ['the reserve', vault => vault.patch(vault.reserves[1]?.at ?? vault.is.vault, () => {}, vault.is.mint)],
    [
      'the reserve',
      vault => vault.patch(vault.reserves[1]?.at ?? vault.is.vault, data => data.fill(7, 128, 160)),
    ],
    ['a fraction is negative', vault => vault.patch(vault.is.vault, data => data.fill(255, 296, 311))],
  ]
  const world = await new World(7).begin(...lies.map(() => ({})), { reserves: 3 })
  const { chain, vaults } = world
  const [wallet] = world.wallets
  if (!wallet) return expect.unreachable()
  for (const vault of vaults) await world.flow(vault, wallet, [await vault.deposit(wallet, 1_000_000n)])
  lies.forEach(([, lie], i) => void (vaults[i] && lie(vaults[i])))
  chain.mine([], 3600)
  const node = await serveRpc(chain)
  opened.push(node.close)
  const store = await indexed(chain, { node })
  const samples = await eventsOf(store, 'SvmVaultSampled')
  expect(samples.map(({ contract, data }) => [contract, data['totalAssets']])).toEqual([
    [hex(vaults.at(-1)?.is.vault ?? ''), '1000000'],
  ])
  const { rows } = await store.pool.query<{ contract: string; reason: string }>(
    `SELECT contract, reason FROM dead_letter WHERE stage = 'sample'`,
  )
  for (const [i, [reason]] of lies.entries())
    expect(rows.find(({ contract }) => contract === hex(vaults[i]?.is.vault ?? ''))?.reason).toContain(reason)
  expect((await eventsOf(store, 'SvmDeposited')).length).toBe(vaults.length)
})

it('25 reserves are read with their vault, of one slot', async () => {
  const chain = new TestChain()
  const vault = await TestKamino.create(chain, { reserves: 25, hasFarm: false })
  const wallet = await chain.wallet()
  await vault.open(wallet.address, 10n ** 12n)
  // A deposit that names all of them does not fit a transaction: it was made before they were many.
  vault.patch(vault.is.vault, data => void data.fill(0, 312, 312 + 25 * 2_160))
  const few = vault.reserves.splice(0)
  expect((await chain.send(wallet, [await vault.deposit(wallet, 10n ** 9n)])).failed).toBeUndefined()
  vault.reserves.push(...few)
  vault.allocate()
  for (const [i, reserve] of few.entries()) {
    vault.invest(reserve, BigInt(i + 1) * 1_000n)
    vault.earn(reserve, BigInt(i))
  }
  chain.mine([], 3600)
  const node = await serveRpc(chain)
  opened.push(node.close)
  const [sample] = (await eventsOf(await indexed(chain, { node }), 'SvmVaultSampled')).slice(-1)
  // 0 + 1 + … + 24 was earned.
  expect(sample?.data).toMatchObject({ totalAssets: `${10n ** 9n + 300n}`, totalSupply: `${10n ** 9n}` })
  expect(node.calls.get('getMultipleAccounts')).toBe(2)
})
