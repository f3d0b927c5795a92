import { afterAll, beforeAll, expect, it } from 'vitest'
import { toBase58 } from '../../../db/base58.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import { SOLANA } from '../../../db/streams.ts'
import { appendBlocks } from '../append.ts'
import { asking } from '../ask.ts'
import { type ApiHarness, startApi } from '../harness.ts'
import * as w from '../world.ts'

/** What statements of wallets on Solana say where shares are staked, and where something is not known. */

const key = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const [VAULT, MINT, ASSET, AUTHORITY, PROGRAM] = [1, 2, 3, 4, 5].map(key) as [
  string,
  string,
  string,
  string,
  string,
]
const [ANN, BOB] = [key(0xa1), key(0xb0b)]
const [ANNS, ANNS_OTHER, BOBS] = [key(0xa2), key(0xa3), key(0xb1)]
const [FARM, FARM_VAULT, STAKE] = [key(0xf1), key(0xf2), key(0xf3)]
const K = 10n ** 9n
let api: ApiHarness
let slots = 0
/** A slot an hour. */
const timeOf = (slot: number) => w.START + slot * w.HOUR

type Told = [contract: string, type: string, data: object]
async function append(...told: Told[]) {
  const transactionHash = `0x${(++slots).toString(16).padStart(128, '0')}`
  const events = told.map(
    ([contract, type, data], logIndex) =>
      ({ protocol: 'jupiter-lend', contract, type, data, logIndex, transactionHash }) as DomainEvent,
  )
  const block = { number: slots, hash: key(slots), timestamp: timeOf(slots) }
  await appendBlocks(api.pool, SOLANA.id, 'solana', [{ block, events }], 'svm')
  return slots
}
const holds = (tokenAccount: string, owner: string, amount: bigint): Told => [
  MINT,
  'SvmShareAccountChanged',
  { tokenAccount, owner, amount },
]
const deposit = (account: string, shares: bigint, assets?: bigint): Told => [
  VAULT,
  'SvmDeposited',
  { account, sender: account, shares, instructionIndex: 0, path: '0', ...(assets ? { assets } : {}) },
]
const sample = (priceAssets: bigint): Told => [
  VAULT,
  'SvmVaultSampled',
  {
    reason: 'hourly',
    totalAssets: 10n ** 15n,
    totalSupply: 10n ** 15n,
    priceAssets,
    priceShares: K,
    decimals: 9,
    assetDecimals: 9,
  },
]
const price = (priceAssets: bigint): Told => [VAULT, 'SvmPriceUpdated', { priceAssets, priceShares: K }]

beforeAll(async () => {
  api = await startApi({ showUnlisted: true })
  await api.recordFacts(
    [{ subject: `asset:${SOLANA.id}:${ASSET}`, kind: 'peg', value: { usd: '2' } }],
    w.START,
  )
  const mint = { tokenProgram: PROGRAM, decimals: 9, symbol: 'X' }
  await append(
    [VAULT, 'SvmVaultIdentified', { program: PROGRAM, shareMint: MINT, asset: ASSET, authority: AUTHORITY }],
    [MINT, 'SvmMintDescribed', { ...mint, mintAuthority: AUTHORITY }],
    [ASSET, 'SvmMintDescribed', mint],
  )
}, 120_000)
afterAll(() => api?.stop())

const { get } = asking(() => api)
async function rowOf(wallets: string[], from: number, to: number) {
  await api.catchUp()
  const of = wallets.map(toBase58)
  const path = `/beta/portfolio/statement?wallets=${of}&fromTimestamp=${timeOf(from)}&toTimestamp=${timeOf(to)}`
  const { data } = await get(path)
  expect(data.length).toBeLessThanOrEqual(1)
  return data[0]
}

it('do not know what shares were worth before the first price was read or written to a log', async () => {
  const first = await append(holds(ANNS, ANN, 10n * K), deposit(ANN, 10n * K, 9n * K))
  const before = await rowOf([ANN], first - 1, first)
  expect(before).toMatchObject({
    accounts: [toBase58(ANN)],
    asset: { assetCaip: `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:${toBase58(ASSET)}` },
    shares: { opening: '0', closing: `${10n * K}` },
    native: { opening: '0', deposits: `${9n * K}`, closing: '', gain: '', unrealisedClosing: '' },
    unknown: ['worth'],
  })
  const logged = await append(price((11n * K) / 10n))
  expect(await rowOf([ANN], first - 1, logged)).toMatchObject({
    native: { deposits: `${9n * K}`, closing: `${11n * K}`, gain: `${2n * K}` },
    usd: { deposits: '18', closing: '22', gain: '4', yield: '4', priceEffect: '0' },
    unknown: [],
  })
  // A sample of a later slot counts from there on, and a price of the log after that again.
  const sampled = await append(sample((12n * K) / 10n))
  const again = await append(price((13n * K) / 10n))
  expect((await rowOf([ANN], logged, sampled)).native).toMatchObject({
    opening: `${11n * K}`,
    closing: `${12n * K}`,
  })
  expect((await rowOf([ANN], sampled, again)).native).toMatchObject({
    opening: `${12n * K}`,
    closing: `${13n * K}`,
  })
})

it('count what is staked with the farm that the vault names, and no other', async () => {
  const strange: Told = [
    MINT,
    'SvmStakeChanged',
    { farm: key(0xf9), stakeAccount: key(0xf8), owner: ANN, change: K },
  ]
  const begun = await append(
    [MINT, 'SvmFarmNamed', { vault: VAULT, farm: FARM, farmVault: FARM_VAULT }],
    holds(ANNS, ANN, 4n * K),
    holds(FARM_VAULT, FARM, 6n * K),
    [MINT, 'SvmStakeChanged', { farm: FARM, stakeAccount: STAKE, owner: ANN, change: 6n * K }],
    strange,
  )
  expect(await rowOf([ANN], begun - 1, begun)).toMatchObject({
    shares: { opening: `${10n * K}`, closing: `${10n * K}` },
    native: { transfersIn: '0', transfersOut: '0', gain: '0' },
  })
  // What the farm's own account says is so: a penalty took a share of what was staked.
  const penalty = await append([
    MINT,
    'SvmStakeSampled',
    { farm: FARM, stakeAccount: STAKE, owner: ANN, amount: 5n * K },
  ])
  expect((await rowOf([ANN], begun, penalty)).native).toMatchObject({
    transfersOut: `${(13n * K) / 10n}`,
    gain: '0',
    closing: `${(117n * K) / 10n}`,
  })
})

it('do not count what goes between token accounts and wallets that are asked for together', async () => {
  const moved = await append(holds(ANNS, ANN, 3n * K), holds(ANNS_OTHER, ANN, 1n * K))
  expect(await rowOf([ANN], moved - 1, moved)).toMatchObject({
    native: { transfersIn: '0', transfersOut: '0' },
    accounts: [toBase58(ANN)],
  })
  // A token account is given to another owner, with what is in it.
  const [, type, data] = holds(ANNS_OTHER, BOB, 1n * K)
  const given = await append([MINT, type, { ...data, previousOwner: ANN }], holds(BOBS, BOB, 0n))
  const share = `${(13n * K) / 10n}`
  expect((await rowOf([ANN], moved, given)).native).toMatchObject({ transfersOut: share, transfersIn: '0' })
  expect((await rowOf([BOB], moved, given)).native).toMatchObject({ transfersIn: share, closing: share })
  const both = await rowOf([BOB, ANN], moved, given)
  expect(both).toMatchObject({
    accounts: [ANN, BOB].map(toBase58),
    native: { transfersIn: '0', transfersOut: '0', gain: '0' },
  })
})

it('do not know what was paid where no instruction says it', async () => {
  const paid = await append(holds(BOBS, BOB, 2n * K), deposit(BOB, 2n * K))
  const row = await rowOf([BOB], paid - 1, paid)
  expect(row).toMatchObject({
    native: { deposits: '', gain: '', realised: '0', closing: `${(39n * K) / 10n}` },
    usd: { deposits: '', closing: '7.8' },
    unknown: ['paid'],
  })
})
