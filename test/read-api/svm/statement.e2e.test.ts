import { afterAll, beforeAll, expect, it } from 'vitest'
import { fromBase58 } from '../../../db/base58.ts'
import { SOLANA } from '../../../db/streams.ts'
import { indexSolana } from '../../svm/index-solana.ts'
import { type RpcNode, serveRpc } from '../../svm/rpc-server.ts'
import { SvmWorld } from '../../svm/world.ts'
import { asking } from '../ask.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as p from '../portfolio-world.ts'
import { newKey, WRAPPED_SOL } from './world.ts'

/** Statements of wallets on Solana, against what lay in their accounts and in the pools at each moment. */

const ROUNDS = 24
const world = new SvmWorld(31)
const evm = p.makePortfolioWorld(7)
/** Read from the chain's accounts, when the index read them too. */
interface Mark {
  at: number
  pools: { lamports: bigint; supply: bigint }[]
  /** By pool and wallet. */
  held: Map<string, bigint>
}
const marks: Mark[] = []
let node: RpcNode
let api: ApiHarness
let dearer = 0

beforeAll(async () => {
  await world.begin()
  node = await serveRpc(world.chain)
  api = await startApi({ solanaUrl: node.url, showUnlisted: true })
  const hex = fromBase58(WRAPPED_SOL)
  const peg = (usd: string, at: number) =>
    api.recordFacts([{ subject: `asset:${SOLANA.id}:${hex}`, kind: 'peg', value: { usd } }], at)
  await peg('200', world.chain.time)
  for (let round = 0; round < ROUNDS; round++) {
    await world.grow(6)
    world.chain.mine([], 3_600)
    await indexSolana(api.pool, { chain: world.chain, node })
    const held = new Map<string, bigint>()
    for (const pool of world.pools)
      for (const { address } of world.wallets)
        held.set(`${pool.pool} ${address}`, await pool.balanceOf(address))
    marks.push({ at: world.chain.time, pools: world.pools.map(pool => pool.state()), held })
    if (round === ROUNDS / 2) {
      dearer = world.chain.time + 1_800
      await peg('250', dearer)
    }
    world.chain.mine([], 3_600)
  }
  await indexSolana(api.pool, { chain: world.chain, node })
  await api.append(10, 'optimism', evm.blocks)
  await api.catchUp()
}, 240_000)
afterAll(async () => {
  await api?.stop()
  await node?.close()
})

const { ask, get } = asking(() => api)
const asked = (of: readonly string[], from: number, to: number, more = '') =>
  get(`/beta/portfolio/statement?wallets=${of.join(',')}&fromTimestamp=${from}&toTimestamp=${to}${more}`)
const timeOf = (slot: number) => world.chain.blocks.find(block => block.slot === slot)?.blockTime ?? 0
const FLOWS = ['deposits', 'withdrawals', 'transfersIn', 'transfersOut'] as const
const SUMS = [...FLOWS, 'gain', 'yield', 'priceEffect', 'realised'] as const
type Native = Record<
  (typeof SUMS)[number] | 'opening' | 'closing' | 'unrealisedOpening' | 'unrealisedClosing',
  string
>
interface Row {
  vaultId: string
  native: Native
  usd: Native
  unknown: string[]
}

/** What happened to shares of a pool after one moment, up to another. */
function expected(place: number, of: readonly string[], from: Mark, to: Mark) {
  const pool = world.pools[place]?.pool ?? ''
  const worth = (shares: bigint, { pools }: Mark) => {
    const { lamports = 0n, supply = 1n } = pools[place] ?? {}
    return (shares * lamports) / supply
  }
  const heldAt = (mark: Mark) =>
    of.reduce((all, wallet) => all + (mark.held.get(`${pool} ${wallet}`) ?? 0n), 0n)
  const isIn = ({ slot, pool: at }: { slot: number; pool: string }) =>
    at === pool && timeOf(slot) > from.at && timeOf(slot) <= to.at
  const total = (kind: string) =>
    world.done
      .filter(act => isIn(act) && act.kind === kind && of.includes(act.wallet))
      .reduce((all, { assets }) => all + assets, 0n)
  let [transfersIn, transfersOut] = [0n, 0n]
  for (const act of world.passed.filter(isIn)) {
    const known = marks.findLast(({ at }) => at <= timeOf(act.slot))
    if (!known || of.includes(act.from) === of.includes(act.to)) continue
    if (of.includes(act.to)) transfersIn += worth(act.shares, known)
    else transfersOut += worth(act.shares, known)
  }
  return {
    opening: worth(heldAt(from), from),
    closing: worth(heldAt(to), to),
    deposits: total('deposit'),
    withdrawals: total('withdrawal'),
    transfersIn,
    transfersOut,
  }
}

const cases = [
  [[0], 0, 11, 23],
  [[1], 2, 5, 9],
  [[0, 1], 3, 12, 20],
  [[2, 3], 1, 14, 22],
  [[0, 1, 2, 3], 0, 8, 23],
] as const
const dollars = (lamports: bigint, at: number) => lamports * (at < dearer ? 200n : 250n) * 1_000n
const units = (text: string) => {
  const [, sign, whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  return BigInt(`${sign}${whole}${fraction.padEnd(12, '0')}`)
}

it('had shares handed on, in and out of those who are asked for', () => {
  expect(world.passed.length).toBeGreaterThan(5)
  expect(new Set(world.done.map(({ kind, pool }) => `${kind} ${pool}`)).size).toBe(4)
})

it.each(cases)('say what happened, to the unit: wallets %o, rounds %i, %i and %i', async (who, ...rounds) => {
  const of = who.map(place => world.wallets[place]?.address ?? '')
  const [from, , to] = rounds.map(round => marks[round]) as [Mark, Mark, Mark]
  const body = await asked(of, from.at, to.at)
  expect(body).toMatchObject({ wallets: of, incompleteNetworks: [] })
  let total = 0n
  for (const [place, { pool }] of world.pools.entries()) {
    const should = expected(place, of, from, to)
    const row: Row | undefined = body.data.find(({ vaultId }: Row) => vaultId === pool)
    if (!row) {
      expect(Object.values(should).every(figure => figure === 0n)).toBe(true)
      continue
    }
    const { native, usd } = row
    const found = Object.fromEntries(
      Object.keys(should).map(key => [key, BigInt(native[key as keyof Native])]),
    )
    expect(found).toEqual(should)
    const flows = should.deposits - should.withdrawals + should.transfersIn - should.transfersOut
    expect(BigInt(native.gain)).toBe(should.closing - should.opening - flows)
    expect(units(usd.opening)).toBe(dollars(should.opening, from.at))
    expect(units(usd.closing)).toBe(dollars(should.closing, to.at))
    expect(units(usd.yield) + units(usd.priceEffect)).toBe(units(usd.gain))
    if (to.at < dearer) expect(usd.priceEffect).toBe('0')
    total += units(usd.closing)
    if (row.unknown.length > 0) continue
    expect(
      BigInt(native.realised) + BigInt(native.unrealisedClosing) - BigInt(native.unrealisedOpening),
    ).toBe(BigInt(native.gain))
  }
  expect(units(body.total.usd.closing)).toBe(total)
  expect(body.assets).toMatchObject([{ asset: { address: WRAPPED_SOL, network: { name: 'solana' } } }])
})

it.each(cases)('of adjacent periods add up: wallets %o, rounds %i, %i and %i', async (who, ...rounds) => {
  const of = who.map(place => world.wallets[place]?.address ?? '')
  const [from, middle, to] = rounds.map(round => marks[round]?.at ?? 0) as [number, number, number]
  const [first, second, whole] = await Promise.all([
    asked(of, from, middle),
    asked(of, middle, to),
    asked(of, from, to),
  ])
  for (const all of whole.data as Row[]) {
    const [one, two] = [first, second].map(({ data }) =>
      data.find(({ vaultId }: Row) => vaultId === all.vaultId),
    )
    for (const sum of SUMS.filter(name => all.native[name] !== '')) {
      expect(BigInt(one?.native[sum] ?? 0) + BigInt(two?.native[sum] ?? 0), sum).toBe(BigInt(all.native[sum]))
      expect(units(one?.usd[sum] ?? '0') + units(two?.usd[sum] ?? '0'), sum).toBe(units(all.usd[sum]))
    }
  }
})

it('stand beside those of other networks, and in sums with them', async () => {
  const [wallet = ''] = p.WALLETS
  const [sol] = world.wallets
  const [from, to] = [(marks[0]?.at ?? 0) - 1, marks.at(-1)?.at ?? 0]
  const of = (wallets: string[], more = '') => asked(wallets, from, to, more)
  const [there, here, both] = await Promise.all([
    of([wallet]),
    of([sol?.address ?? '']),
    of([wallet, sol?.address ?? '']),
  ])
  expect(both.data).toEqual([...there.data, ...here.data])
  expect(both.assets).toEqual([...there.assets, ...here.assets])
  expect(both.notIncluded).toEqual([...there.notIncluded, ...here.notIncluded])
  const pair = [wallet, sol?.address ?? '']
  expect((await of(pair, '&allowedNetworks=Solana')).data).toEqual(here.data)
  expect((await of(pair, '&disallowedNetworks=solana')).data).toEqual(there.data)
  expect((await of(pair, '&allowedProtocols=spl-stake-pool')).data).toEqual(here.data)
  expect((await of(pair, '&allowedAssets=SOL')).errors.unsupportedAssets).toEqual([])
  expect((await of(pair, '&allowUnlisted=false&allowedNetworks=solana')).data).toEqual([])
  const { headers } = await ask(
    `/beta/portfolio/statement?wallets=${pair}&fromTimestamp=${from}&toTimestamp=${to}`,
  )
  expect(headers['x-as-of-block']).toMatch(/^optimism=\d+, solana=\d+$/)
})

it('are of nothing where there is nothing, and refuse what is no address', async () => {
  const path = `/beta/portfolio/statement?fromTimestamp=${marks[0]?.at}&wallets=`
  expect(await get(`${path}${await newKey()}`)).toMatchObject({ data: [], total: { usd: { closing: '0' } } })
  const [wallet] = world.wallets
  await ask(`${path}${wallet?.address}1111`, 400)
  await ask(`${path}${wallet?.address.replace(/./, '0')}`, 400)
})
