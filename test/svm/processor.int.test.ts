import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromBase58 } from '../../db/base58.ts'
import { readEvents, type StoredEvent } from '../../db/events/event-store.ts'
import { SOLANA } from '../../db/streams.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'
import { indexSolana } from './index-solana.ts'
import { standsOn } from './programs/dumps.ts'
import { type RpcNode, serveRpc } from './rpc-server.ts'
import { STAKE_POOL_PROGRAM } from './stake-pool.ts'
import { SvmWorld } from './world.ts'

standsOn(STAKE_POOL_PROGRAM)

const hex = (address: string, bytes = 32) => fromBase58(address, bytes) ?? ''
const world = new SvmWorld(11)
let node: RpcNode
let postgres: TestPostgres

beforeAll(async () => {
  await world.begin()
  node = await serveRpc(world.chain)
  postgres = await createPostgres()
})
afterAll(async () => {
  await node.close()
  await postgres.drop()
})

async function index(endSlot = world.chain.head.slot, signal?: AbortSignal): Promise<void> {
  await indexSolana(postgres.pool, { chain: world.chain, node, endSlot, signal })
}

const eventsOf = (...types: string[]) => readEvents(postgres.pool, SOLANA.id, { after: 0, types })

/** Of each owner, by the newest of each token account. */
function balances(events: readonly StoredEvent[]): Map<string, bigint> {
  const accounts = new Map<string, { owner: string; mint: string; amount: bigint }>()
  for (const { contract, data } of events) {
    const { tokenAccount, owner, amount } = data as { tokenAccount: string; owner: string; amount: string }
    accounts.set(tokenAccount, { owner, mint: contract ?? '', amount: BigInt(amount) })
  }
  const held = new Map<string, bigint>()
  for (const { owner, mint, amount } of accounts.values())
    if (amount > 0n) held.set(`${mint} ${owner}`, (held.get(`${mint} ${owner}`) ?? 0n) + amount)
  return held
}

async function balancesOnChain(): Promise<Map<string, bigint>> {
  const held = new Map<string, bigint>()
  for (const pool of world.pools)
    for (const owner of [...world.wallets.map(({ address }) => address), pool.manager]) {
      const amount = await pool.balanceOf(owner)
      if (amount > 0n) held.set(`${hex(pool.mint)} ${hex(owner)}`, amount)
    }
  return held
}

it('tells what wallets and accounts of the chain tell', async () => {
  let samples = 0
  for (let round = 0; round < 6; round++) {
    await world.grow(12)
    world.chain.mine([], 3600)
    await index()
    const sampled = await eventsOf('SvmVaultSampled')
    expect(sampled.length).toBeGreaterThan(samples)
    samples = sampled.length
    for (const pool of world.pools) {
      const last = sampled.filter(({ contract }) => contract === hex(pool.pool)).at(-1)
      const { lamports, supply } = pool.state()
      if (!last) continue
      expect(last.block_number).toBe(world.chain.slot)
      expect(last.data).toMatchObject({
        totalAssets: `${lamports}`,
        totalSupply: `${supply}`,
        ...(supply > 0n && { priceAssets: `${lamports}`, priceShares: `${supply}` }),
        epoch: world.chain.epoch,
        decimals: 9,
      })
      const reserve = world.chain.svm.getAccount(pool.reserve)
      expect(last.data['idleAssets']).toBe(`${(reserve.exists ? reserve.lamports : 0n) - 2_282_880n}`)
    }
    expect(balances(await eventsOf('SvmShareAccountChanged'))).toEqual(await balancesOnChain())
  }
  const flows = await eventsOf('SvmDeposited', 'SvmWithdrawn')
  const bySignature = new Map<string, StoredEvent[]>()
  for (const flow of flows)
    bySignature.set(flow.tx_hash ?? '', [...(bySignature.get(flow.tx_hash ?? '') ?? []), flow])
  expect([...bySignature.keys()]).toEqual(world.done.map(({ signature }) => hex(signature, 64)))
  for (const { signature, slot, kind, wallet, assets, shares } of world.done) {
    const found = bySignature.get(hex(signature, 64)) ?? []
    const sum = (field: string) =>
      found.reduce((total, { data }) => total + BigInt(data[field] as string), 0n)
    expect(found[0]).toMatchObject({
      type: kind === 'deposit' ? 'SvmDeposited' : 'SvmWithdrawn',
      block_number: slot,
      data: { account: hex(wallet), [kind === 'deposit' ? 'sender' : 'receiver']: hex(wallet) },
    })
    expect([sum('assets'), sum('shares')], signature).toEqual([assets, shares])
  }
  expect(world.done.length).toBeGreaterThan(15)
  expect(new Set(world.done.map(({ kind }) => kind)).size).toBe(2)

  const identified = await eventsOf('SvmVaultIdentified')
  expect(identified.map(({ contract }) => contract).sort()).toEqual(
    world.pools.map(({ pool }) => hex(pool)).sort(),
  )
  for (const pool of world.pools)
    expect(identified.find(({ contract }) => contract === hex(pool.pool))?.data).toEqual({
      program: hex(pool.program),
      shareMint: hex(pool.mint),
      asset: hex('So11111111111111111111111111111111111111112'),
      authority: hex(pool.authority),
      reserve: hex(pool.reserve),
    })
  const { rows } = await postgres.pool.query('SELECT * FROM dead_letter')
  expect(rows).toEqual([])
})

it('goes on from where it was, whenever it is stopped and whatever the node refuses', async () => {
  const before = await readEvents(postgres.pool, SOLANA.id, { after: 0 })
  let failures = 0
  node.fault = method => (method === 'getBlock' && failures++ % 7 === 3 ? { status: 502 } : undefined)
  await world.grow(20)
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 30)
  await index(world.chain.slot, stop.signal)
  await index()
  node.fault = undefined
  const after = await readEvents(postgres.pool, SOLANA.id, { after: 0 })
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.map(({ position }) => position)).toEqual(after.map((_, i) => i + 1))
  const flows = after.filter(({ type }) => ['SvmDeposited', 'SvmWithdrawn'].includes(type))
  expect(new Set(flows.map(({ tx_hash }) => tx_hash)).size).toBe(world.done.length)
  expect(balances(await eventsOf('SvmShareAccountChanged'))).toEqual(await balancesOnChain())
})
