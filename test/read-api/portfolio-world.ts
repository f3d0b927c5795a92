import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { DAY, HOUR, START } from './world.ts'

/** Vaults that do sums as OpenZeppelin's ERC4626 does, and wallets that come, go, give shares away and come back. */

const ZERO = `0x${'0'.repeat(40)}`
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
export const numbered = (prefix: string, n: number) =>
  `0x${prefix}${n.toString(16).padStart(40 - prefix.length, '0')}`

export const WALLETS = [1, 2, 3, 4].map(n => numbered('aa', n))

export interface Step {
  block: number
  at: number
  vault: string
  kind: 'deposit' | 'redeem' | 'transfer'
  from: string
  to: string
  shares: bigint
  assets: bigint
}

/** Of the end of a block. */
export interface State {
  block: number
  at: number
  assets: bigint
  supply: bigint
}

export interface Modelled {
  vault: string
  asset: string
  decimals: number
  assetDecimals: number
}

export interface PortfolioWorld {
  vaults: Modelled[]
  steps: Step[]
  states: Map<string, State[]>
  blocks: BlockEvents[]
}

/** convertToAssets of OpenZeppelin, rounded down. */
export function worthOf(shares: bigint, { assets, supply }: State, vault: Modelled): bigint {
  return (shares * (assets + 1n)) / (supply + 10n ** BigInt(vault.decimals - vault.assetDecimals))
}

export function mulberry(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Thirty days, a block an hour, some with several things in them; the last wallet's position is closed for good. */
export function makePortfolioWorld(seed: number): PortfolioWorld {
  const random = mulberry(seed)
  const vaults: Modelled[] = [
    { vault: numbered('c0', 1), asset: numbered('cc', 1), decimals: 18, assetDecimals: 6 },
    { vault: numbered('c0', 2), asset: numbered('cc', 2), decimals: 18, assetDecimals: 18 },
  ]
  const steps: Step[] = []
  const states = new Map<string, State[]>(vaults.map(({ vault }) => [vault, []]))
  const blocks: BlockEvents[] = []
  const pools = new Map(vaults.map(({ vault }) => [vault, { assets: 0n, supply: 0n }]))
  const held = new Map<string, bigint>()
  const keyOf = (vault: string, wallet: string) => `${vault} ${wallet}`
  const part = (amount: bigint, most = 1) => (amount * BigInt(Math.ceil(random() * most * 1000))) / 1000n
  let logs = 0

  for (let hour = 0; hour < 30 * 24; hour++) {
    const block = 1_000 + hour * 7
    const at = START + hour * HOUR
    const events: DomainEvent[] = []
    if (hour === 0) for (const vault of vaults) events.push(discovered(vault, 'optimism'))
    for (const model of vaults) {
      const { vault } = model
      const pool = pools.get(vault) ?? { assets: 0n, supply: 0n }
      const virtual = 10n ** BigInt(model.decimals - model.assetDecimals)
      const add = (account: string, shares: bigint) =>
        held.set(keyOf(vault, account), (held.get(keyOf(vault, account)) ?? 0n) + shares)
      const step = (kind: Step['kind'], from: string, to: string, shares: bigint, assets: bigint) => {
        steps.push({ block, at, vault, kind, from, to, shares, assets })
        const transactionHash = word(++logs)
        const place = { contract: vault, transactionHash }
        events.push({ type: 'ShareTransferred', ...place, logIndex: logs, data: { from, to, shares } })
        if (from !== ZERO) add(from, -shares)
        if (to !== ZERO) add(to, shares)
        const common = { assets, shares, ledger: 'transfer' as const }
        if (kind === 'deposit') {
          events.push({
            type: 'Deposited',
            ...place,
            logIndex: ++logs,
            data: { sender: WALLETS[0] ?? to, owner: to, ...common },
          })
        } else if (kind === 'redeem') {
          events.push({
            type: 'Redeemed',
            ...place,
            logIndex: ++logs,
            data: { sender: from, receiver: from, owner: from, ...common },
          })
        }
      }
      // Earns a little every hour; loses a part of it all on the twelfth day.
      pool.assets += pool.assets / 20_000n
      if (hour === 12 * 24) pool.assets -= pool.assets / 7n
      const happenings = hour % 5 === 0 ? Math.floor(random() * 4) : 0
      for (let i = 0; i < happenings; i++) {
        const wallet = WALLETS[Math.floor(random() * WALLETS.length)] ?? ''
        const other = WALLETS[Math.floor(random() * WALLETS.length)] ?? ''
        const has = held.get(keyOf(vault, wallet)) ?? 0n
        const dice = random()
        if (has === 0n || dice < 0.4) {
          const assets = part(10n ** BigInt(model.assetDecimals + 4)) + BigInt(Math.floor(random() * 1000))
          const shares = (assets * (pool.supply + virtual)) / (pool.assets + 1n)
          pool.assets += assets
          pool.supply += shares
          step('deposit', ZERO, wallet, shares, assets)
        } else if (dice < 0.7) {
          const shares = dice < 0.5 ? has : part(has)
          const assets = (shares * (pool.assets + 1n)) / (pool.supply + virtual)
          pool.assets -= assets
          pool.supply -= shares
          step('redeem', wallet, ZERO, shares, assets)
        } else if (other !== wallet) {
          step('transfer', wallet, other, part(has), 0n)
        }
      }
      const last = WALLETS.at(-1) ?? ''
      const rest = held.get(keyOf(vault, last)) ?? 0n
      if (hour === 30 * 24 - 2 && rest > 0n) {
        const assets = (rest * (pool.assets + 1n)) / (pool.supply + virtual)
        pool.assets -= assets
        pool.supply -= rest
        step('redeem', last, ZERO, rest, assets)
      }
      states.get(vault)?.push({ block, at, ...pool })
      events.push(
        sampled(model, pool.assets, pool.supply, (10n ** 18n * (pool.assets + 1n)) / (pool.supply + virtual)),
      )
    }
    blocks.push({ block: { number: block, hash: word(block), timestamp: at }, events })
  }
  return { vaults, steps, states, blocks }
}

/** What happened, reckoned in the plainest way. */
export function bookOf({ steps, states }: PortfolioWorld) {
  /** The sum over a wallet's movements in a vault after one block and up to another, by what is written in the world. */
  function flowsOf(model: Modelled, wallet: string, after: number, until: number) {
    let deposited = 0n
    let withdrawn = 0n
    let received = 0n
    const sent = new Map<number, bigint>()
    for (const step of steps) {
      if (step.vault !== model.vault || step.block <= after || step.block > until) continue
      if (step.kind === 'deposit' && step.to === wallet) deposited += step.assets
      if (step.kind === 'redeem' && step.from === wallet) withdrawn += step.assets
      if (step.kind === 'transfer') {
        const sign = (step.to === wallet ? 1n : 0n) - (step.from === wallet ? 1n : 0n)
        sent.set(step.block, (sent.get(step.block) ?? 0n) + sign * step.shares)
      }
    }
    for (const [block, shares] of sent) received += worthOf(shares, stateAt(model, block), model)
    return { deposited, withdrawn, received }
  }

  function stateAt(model: Modelled, block: number): State {
    const state = states.get(model.vault)?.findLast(at => at.block <= block)
    if (!state) throw new Error(`no state of ${model.vault} at ${block}`)
    return state
  }

  const heldAfter = (model: Modelled, wallet: string, block: number) =>
    steps
      .filter(step => step.vault === model.vault && step.block <= block)
      .reduce(
        (sum, { from, to, shares }) => sum + (to === wallet ? shares : 0n) - (from === wallet ? shares : 0n),
        0n,
      )
  return { flowsOf, stateAt, heldAfter }
}

export function discovered(model: Modelled, name: string, assetSymbol = 'TST'): DomainEvent {
  return {
    type: 'VaultDiscovered',
    contract: model.vault,
    data: {
      vault: model.vault,
      protocol: 'erc-4626',
      name: `Vault on ${name}`,
      symbol: 'v',
      decimals: model.decimals,
      asset: model.asset,
      assetName: 'Asset',
      assetSymbol,
      assetDecimals: model.assetDecimals,
    },
  }
}

export function sampled(
  model: Modelled,
  totalAssets: bigint,
  totalSupply: bigint,
  sharePrice: bigint,
): DomainEvent {
  return {
    type: 'StateSampled',
    contract: model.vault,
    data: {
      vault: model.vault,
      reason: 'hourly',
      totalAssets,
      totalSupply,
      sharePrice,
      decimals: model.decimals,
      assetDecimals: model.assetDecimals,
    },
  }
}

/** Fifty vaults of one dollar coin, the n-th of n times a tenth of a million, each held by one wallet; three days. */
export const COLLECTOR = numbered('ab', 7)
export const DOLLAR = numbered('d0', 1)
export const SHELF: Modelled[] = Array.from({ length: 50 }, (_, i) => ({
  vault: numbered('e0', i + 1),
  asset: DOLLAR,
  decimals: 18,
  assetDecimals: 6,
}))
export const SHELF_DAYS = 3

/** Price of the n-th vault's share after so many hours: each earns at its own pace. */
export const shelfPrice = (n: number, hour: number) => BigInt(Math.round(1e6 * (1 + 1e-6 * (n + 1) * hour)))
/** Shares of the n-th vault: its assets at the start are (n + 1) times 100,000 dollars. */
export const shelfShares = (n: number) => BigInt(n + 1) * 100_000n * 10n ** 18n

export function makeShelf(): BlockEvents[] {
  return Array.from({ length: SHELF_DAYS * 24 }, (_, hour) => {
    const number = 50 + hour
    const events: DomainEvent[] = []
    for (const [n, model] of SHELF.entries()) {
      const shares = shelfShares(n)
      const price = shelfPrice(n, hour)
      if (hour === 0) {
        const place = { contract: model.vault, transactionHash: word(n + 1) }
        events.push(
          discovered(model, 'base', 'USDC'),
          {
            type: 'ShareTransferred',
            ...place,
            logIndex: 2 * n,
            data: { from: ZERO, to: COLLECTOR, shares },
          },
          {
            type: 'Deposited',
            ...place,
            logIndex: 2 * n + 1,
            data: {
              sender: COLLECTOR,
              owner: COLLECTOR,
              assets: shares / 10n ** 12n,
              shares,
              ledger: 'transfer',
            },
          },
        )
      }
      events.push(sampled(model, (shares * price) / 10n ** 18n, shares, price))
    }
    return { block: { number, hash: word(number), timestamp: START + hour * HOUR }, events }
  })
}

export const END_OF_SHELF = START + SHELF_DAYS * DAY - HOUR
