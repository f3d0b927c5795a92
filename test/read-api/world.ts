import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { ApiHarness } from './harness.ts'
import { lendingEvents } from './lending-world.ts'

/**
 * A small made-up chain: what happens is written down here, and what the API should say of it is reckoned from this
 * list by the tests, not by the code under test.
 */
const address = (digit: string) => `0x${digit.repeat(40)}`
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`

export const HOUR = 3_600
export const DAY = 86_400
/** 2025-01-01, a Wednesday, 00:00 UTC. */
export const START = 1_735_689_600
export const DAYS = 40
export const ALICE = `0x${'a1'.repeat(20)}`
export const BOB = `0x${'b0'.repeat(20)}`
export const CAROL = `0x${'ca'.repeat(20)}`
const ZERO = address('0')

/** USDC-like vault with 6/18 decimals, an ETH-like one, one nested over the first, one without a price. */
export const USD_ASSET = `0x${'01'.repeat(20)}`
export const ETH_ASSET = `0x${'02'.repeat(20)}`
export const ODD_ASSET = `0x${'03'.repeat(20)}`
export const USD_VAULT = `0x${'1d'.repeat(20)}`
export const ETH_VAULT = `0x${'2d'.repeat(20)}`
export const NESTED_VAULT = `0x${'3d'.repeat(20)}`
export const ODD_VAULT = `0x${'4d'.repeat(20)}`
export const USD_FEED = `0x${'f1'.repeat(20)}`
export const ETH_FEED = `0x${'f2'.repeat(20)}`

export interface Move {
  at: number
  vault: string
  kind: 'deposit' | 'redeem' | 'transfer'
  from: string
  to: string
  shares: bigint
  assets: bigint
}
export interface Sample {
  at: number
  vault: string
  price: bigint
  assets: bigint
  supply: bigint
}
export interface Answer {
  at: number
  feed: string
  answer: bigint
}

export interface World {
  vaults: {
    vault: string
    asset: string
    decimals: number
    assetDecimals: number
    name: string
    symbol: string
  }[]
  moves: Move[]
  samples: Sample[]
  answers: Answer[]
  blocks: BlockEvents[]
}

/** Block n is mined at START + 600 (n - 1): six an hour. */
export const blockAt = (timestamp: number) => Math.floor((timestamp - START) / 600) + 1

/** `more`: what else happened in the fifth hour. */
export function makeWorld(more: readonly DomainEvent[] = []): World {
  const vaults: World['vaults'] = [
    {
      vault: USD_VAULT,
      asset: USD_ASSET,
      decimals: 18,
      assetDecimals: 6,
      name: 'Steady USDX',
      symbol: 'sUSDX',
    },
    {
      vault: ETH_VAULT,
      asset: ETH_ASSET,
      decimals: 18,
      assetDecimals: 18,
      name: 'Ether "Plus"',
      symbol: 'pETH',
    },
    {
      vault: NESTED_VAULT,
      asset: USD_VAULT,
      decimals: 18,
      assetDecimals: 18,
      name: 'Twice steady',
      symbol: 'ssUSDX',
    },
    { vault: ODD_VAULT, asset: ODD_ASSET, decimals: 0, assetDecimals: 8, name: 'Ödd 奇', symbol: 'ODD-V' },
  ]
  const moves: Move[] = []
  const samples: Sample[] = []
  const answers: Answer[] = []
  const supply = new Map<string, bigint>()
  const events = new Map<number, { timestamp: number; events: DomainEvent[] }>()
  let logs = 0
  const put = (at: number, event: DomainEvent) => {
    const number = blockAt(at)
    const entry = events.get(number) ?? { timestamp: START + (number - 1) * 600, events: [] }
    entry.events.push(event)
    events.set(number, entry)
  }
  const whole = (vault: string) => 10n ** BigInt(vaults.find(v => v.vault === vault)?.decimals ?? 18)

  const price = (vault: string, at: number): bigint => {
    const day = (at - START) / DAY
    if (vault === USD_VAULT) return BigInt(Math.round(1_000_000 * 1.0001 ** day))
    if (vault === ETH_VAULT) {
      // Rises, falls by a tenth on day 20, recovers in part.
      const grown = BigInt(Math.round(1_000_000 * (1 + 0.002 * day))) * 10n ** 12n
      return day < 20 ? grown : (grown * 9n) / 10n
    }
    if (vault === NESTED_VAULT) return 10n ** 18n + BigInt(Math.round(day * 1_000)) * 10n ** 12n
    return 250_000_000n
  }
  const sample = (vault: string, at: number, reason: 'hourly' | 'discovery') => {
    const one = price(vault, at)
    const held = supply.get(vault) ?? 0n
    const assets = (held * one) / whole(vault)
    const info = vaults.find(v => v.vault === vault)
    samples.push({ at, vault, price: one, assets, supply: held })
    put(at, {
      type: 'StateSampled',
      contract: vault,
      data: {
        vault,
        reason,
        totalAssets: assets,
        totalSupply: held,
        sharePrice: one,
        decimals: info?.decimals ?? 18,
        assetDecimals: info?.assetDecimals ?? 18,
      },
    })
  }
  const move = (at: number, vault: string, kind: Move['kind'], from: string, to: string, shares: bigint) => {
    const assets = (shares * price(vault, at)) / whole(vault)
    moves.push({ at, vault, kind, from, to, shares, assets })
    const place = { contract: vault, transactionHash: word(++logs), logIndex: logs }
    put(at, { type: 'ShareTransferred', ...place, data: { from, to, shares } })
    const place2 = { contract: vault, transactionHash: word(logs), logIndex: ++logs }
    if (kind === 'deposit') {
      supply.set(vault, (supply.get(vault) ?? 0n) + shares)
      put(at, {
        type: 'Deposited',
        ...place2,
        data: { sender: to, owner: to, assets, shares, ledger: 'transfer' },
      })
    } else if (kind === 'redeem') {
      supply.set(vault, (supply.get(vault) ?? 0n) - shares)
      put(at, {
        type: 'Redeemed',
        ...place2,
        data: { sender: from, receiver: from, owner: from, assets, shares, ledger: 'transfer' },
      })
    }
  }
  const answer = (at: number, feed: string, value: bigint) => {
    answers.push({ at, feed, answer: value })
    put(at, {
      type: 'PriceReported',
      // A feed's reports come from its aggregator.
      contract: `0x${'a9'.repeat(4)}${feed.slice(10)}`,
      data: { source: 'chainlink', feed, answer: value, decimals: 8, reportedAt: at },
    })
  }

  for (const { vault, asset, decimals, assetDecimals, name, symbol } of vaults) {
    put(START, {
      type: 'VaultDiscovered',
      contract: vault,
      data: {
        vault,
        protocol: vault === ETH_VAULT ? 'metamorpho' : 'erc-4626',
        name,
        symbol,
        decimals,
        asset,
        assetName: `Asset ${symbol}`,
        assetSymbol: { [USD_ASSET]: 'USDX', [ETH_ASSET]: 'WETH', [USD_VAULT]: 'sUSDX' }[asset] ?? 'ODD',
        assetDecimals,
        ...(vault === USD_VAULT ? { deployedBlock: 1, deployedAt: START } : {}),
      },
    })
  }
  const E18 = 10n ** 18n
  for (let hour = 0; hour < DAYS * 24; hour++) {
    const at = START + hour * HOUR
    if (hour % 6 === 0) answer(at, ETH_FEED, 300_000_000_000n + BigInt(hour) * 10_000_000n)
    if (hour % 24 === 0) answer(at, USD_FEED, 100_000_000n - BigInt(hour % 48) * 1_000n)
    if (hour === 1) move(at, USD_VAULT, 'deposit', ZERO, ALICE, 5_000n * E18)
    if (hour === 1) move(at, ETH_VAULT, 'deposit', ZERO, BOB, 20n * E18)
    if (hour === 2) move(at, ODD_VAULT, 'deposit', ZERO, ALICE, 12n)
    if (hour === 30) move(at, USD_VAULT, 'deposit', ZERO, BOB, 1_500n * E18 + 7n)
    if (hour === 30) move(at, USD_VAULT, 'deposit', ZERO, BOB, 3n)
    if (hour === 31) move(at, NESTED_VAULT, 'deposit', ZERO, ALICE, 100n * E18)
    if (hour === 100) move(at, USD_VAULT, 'transfer', ALICE, CAROL, 1_234n)
    if (hour === 24 * 10 + 5) move(at, USD_VAULT, 'redeem', BOB, ZERO, 1_500n * E18 + 10n)
    if (hour === 24 * 12) move(at, ETH_VAULT, 'redeem', BOB, ZERO, 5n * E18)
    if (hour === 24 * 30) move(at, USD_VAULT, 'deposit', ZERO, BOB, 42n * E18)
    // A hole in the samples: a whole day without one.
    if (hour < 24 * 15 || hour >= 24 * 16) for (const { vault } of vaults) sample(vault, at + 10, 'hourly')
  }
  const names = {
    usd: USD_ASSET,
    eth: ETH_ASSET,
    timeOf: (hour: number) => START + hour * HOUR,
    usdFeed: USD_FEED,
    ethFeed: ETH_FEED,
    alice: ALICE,
    bob: BOB,
    carol: CAROL,
    lender: ETH_VAULT,
    secures: USD_VAULT,
  }
  for (const { hour, event } of lendingEvents(names)) put(START + hour * HOUR, event)
  for (const event of more) put(START + 5 * HOUR, event)
  const blocks = [...events]
    .sort(([a], [b]) => a - b)
    .map(([number, { timestamp, events }]) => ({
      block: { number, hash: word(number), timestamp },
      events,
    }))
  return { vaults, moves, samples, answers, blocks }
}

export async function seed(
  api: Pick<ApiHarness, 'recordFacts' | 'append' | 'catchUp'>,
  world: World,
): Promise<void> {
  const wrappers = world.blocks
    .flatMap(({ events }) => events)
    .flatMap(({ type, data }) => (type === 'FixedTermTokensNamed' ? [data.sy] : []))
  const factories = world.blocks
    .flatMap(({ events }) => events)
    .flatMap(({ type, contract, data }) => (type === 'AmmVaultCreated' ? [{ contract, ...data }] : []))
  await api.recordFacts(
    [
      ...factories.map(({ contract, creator }) => ({
        subject: `contract:1:${contract}`,
        kind: 'ammFactory',
        value: { deployer: creator },
      })),
      ...wrappers.map(sy => ({ subject: `contract:1:${sy}`, kind: 'wrapper', value: {} })),
      { subject: `asset:1:${USD_ASSET}`, kind: 'feed', value: { feed: USD_FEED, decimals: 8 } },
      { subject: `asset:1:${ETH_ASSET}`, kind: 'feed', value: { feed: ETH_FEED, decimals: 8 } },
      { subject: `vault:1:${USD_VAULT}`, kind: 'tags', value: ['Stable', 'core'] },
      { subject: `vault:1:${USD_VAULT}`, kind: 'curator', value: 'acme' },
      { subject: `vault:1:${USD_VAULT}`, kind: 'featured', value: true },
      { subject: 'curator:acme', kind: 'profile', value: { displayName: 'Acme Capital' } },
      {
        subject: 'protocol:morpho',
        kind: 'profile',
        value: { displayName: 'Morpho', protocolId: 'morpho-blue-v1', product: 'blue', version: 'v1' },
      },
      {
        subject: `vault:1:${ETH_VAULT}`,
        kind: 'flags',
        value: [{ content: 'Lost a tenth once.', severity: 'warning' }],
      },
    ],
    START,
  )
  await api.append(1, 'mainnet', world.blocks)
  await api.catchUp()
}

/** The block that a world ends with. */
export function lastBlock({ blocks }: Pick<World, 'blocks'>): BlockEvents['block'] {
  const last = blocks.at(-1)
  if (!last) throw new TypeError('a world without blocks')
  return last.block
}

/** Appends blocks after the last one of the world, an hour apart. */
export function laterBlocks(api: Pick<ApiHarness, 'append' | 'catchUp'>, { blocks }: World) {
  const last = blocks.at(-1)?.block
  if (!last) throw new Error('the world has no blocks')
  let told = 0
  return async (events: readonly DomainEvent[]) => {
    told++
    const hash = `0x${(0x5a0000 + told).toString(16).padStart(64, '0')}`
    const block = { number: last.number + told, hash, timestamp: last.timestamp + told * HOUR }
    const logged = events.map((event, n) => ({ logIndex: n + 1, transactionHash: hash, ...event }))
    await api.append(1, 'mainnet', [{ block, events: logged }])
    await api.catchUp()
  }
}
