import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent, EventData } from '../../db/events/vocabulary.ts'
import { seededRandom } from '../chain/random.ts'
import { withState } from './aave-acts.ts'
import { moreActs } from './more-acts.ts'
import { hex, movementOf, ZERO } from './movements.ts'
import { claims, suffixes } from './reward-acts.ts'

export interface Positioned {
  position: number
  block: { number: number; hash: string; timestamp: number }
  event: DomainEvent
}

interface CanonicalBlock {
  number: number
  hash: string
  timestamp: number
  ranges: [number, number][]
}

interface VaultModel {
  address: string
  ledger: 'transfer' | 'self'
  decimals: number
  assetDecimals: number
  price: number
  shares: Map<string, bigint>
}

export { renumbered } from './movements.ts'
export { store } from './store.ts'
export { hex, movementOf, ZERO }

/**
 * A random history of one chain: vaults discovered late with their past stored after newer blocks of others, deposits
 * with either kind of ledger, transfers (to oneself and of nothing too), samples with unknown parts, prices, and forks
 * of several blocks, some of which are replaced again.
 */
export class RandomChain {
  readonly log: Positioned[] = []
  private readonly random: () => number
  private readonly more: ReturnType<typeof moreActs>
  private blocks: CanonicalBlock[] = []
  private vaults: VaultModel[] = []
  private readonly decimals = new Map<string, number>()
  private time = 1_700_000_000
  private height = 100
  private forks = 0
  private readonly accounts = Array.from({ length: 7 }, (_, i) => hex('acc', i))

  constructor(seed: number) {
    this.random = seededRandom(seed).next
    this.more = moreActs(seed)
  }

  /** As `grow`; gives what is new as it is appended. */
  lengthen(blocks: number, options: { forks?: boolean } = {}): BlockEvents[] {
    const had = this.log.length
    this.grow(blocks, options)
    return this.log.slice(had).map(({ block, event }) => ({ block, events: [event] }))
  }

  /** `blocks` more blocks, forks among them. */
  grow(blocks: number, options: { forks?: boolean } = {}): this {
    for (let i = 0; i < blocks; i++) {
      const chance = this.random()
      if (this.vaults.length === 0 || (this.vaults.length < 4 && chance < 0.05)) this.discover()
      else if (options.forks !== false && chance > 0.92 && this.blocks.length > 8) this.fork(1 + this.int(5))
      else this.block()
    }
    return this
  }

  /** The events that no retraction up to `position` took back. */
  canonical(position = Number.MAX_SAFE_INTEGER): Positioned[] {
    const gone = new Set<number>()
    for (const { event, position: at } of this.log) {
      if (event.type !== 'BlockRetracted' || at > position) continue
      for (let p = event.data.fromPosition; p <= event.data.toPosition; p++) gone.add(p)
    }
    return this.log.filter(
      entry =>
        entry.position <= position && entry.event.type !== 'BlockRetracted' && !gone.has(entry.position),
    )
  }

  private int(below: number): number {
    return Math.floor(this.random() * below)
  }

  private pick<T>(list: readonly T[]): T {
    return list[this.int(list.length)] as T
  }

  private append(block: CanonicalBlock, events: DomainEvent[]): void {
    if (events.length === 0) return
    const from = this.log.length + 1
    const { number, hash, timestamp } = block
    for (const event of events)
      this.log.push({ position: this.log.length + 1, block: { number, hash, timestamp }, event })
    block.ranges.push([from, this.log.length])
  }

  private nextBlock(): CanonicalBlock {
    this.height++
    // Some blocks share a second, some are hours apart, some leave whole days out.
    this.time += this.pick([0, 1, 12, 600, 1800, 3600, 5400, 7200, 40_000, 200_000])
    const hash = hex(`b${this.forks.toString(16)}f`, this.height, 64)
    const block: CanonicalBlock = { number: this.height, hash, timestamp: this.time, ranges: [] }
    this.blocks.push(block)
    return block
  }

  private block(): void {
    const block = this.nextBlock()
    const events: DomainEvent[] = []
    for (let n = this.int(5); n >= 0; n--)
      events.push(...this.activity(this.pick(this.vaults), events.length))
    if (this.int(2) === 0) events.push(...this.lend(events.length))
    events.push(...this.more(this.accounts, { logIndex: events.length + 800, time: this.time }))
    this.append(block, events)
  }

  /** Acts in lending markets, whether or not anybody could afford them: sums may fall below zero. */
  private lend(logIndex: number): DomainEvent[] {
    const account = this.pick(this.accounts)
    const other = this.pick(this.accounts)
    const market = hex('aaa', this.int(2), 64)
    const reserve = hex('bbb', this.int(2))
    const assets = this.pick([1n, 999n, 10n ** 18n, 123_456_789_012_345_678_901n])
    const indexRay = 10n ** 27n + BigInt(this.int(1_000_000)) * 10n ** 20n + 1n
    const flow = { market, sender: account, onBehalf: account, assets, shares: assets * 1_000_000n }
    const place = (protocol: string, contract: string) => ({
      protocol,
      contract,
      logIndex: logIndex + 700,
      transactionHash: hex('1e', this.log.length + logIndex, 64),
    })
    const morpho = place('morpho-blue', hex('ccc', 0))
    const pool = place('aave-v3', hex('ddd', 0))
    const token = place('aave-v3', hex('eee', this.int(2)))
    const scaled = { value: assets, balanceIncrease: this.pick([0n, 5n, assets, assets + 7n]), indexRay }
    const side = this.pick(['supply', 'variableDebt', 'stableDebt'] as const)
    const choices: (() => DomainEvent)[] = [
      () => ({ type: 'MarketCreated', ...morpho, data: { market, loanAsset: reserve, lltvWad: assets } }),
      () => ({ type: 'Supplied', ...morpho, data: flow }),
      () => ({ type: 'Withdrawn', ...morpho, data: { ...flow, receiver: other } }),
      () => ({ type: 'Borrowed', ...morpho, data: flow }),
      () => ({ type: 'Repaid', ...morpho, data: flow }),
      () => ({ type: 'CollateralSupplied', ...morpho, data: flow }),
      () => ({
        type: 'Liquidated',
        ...morpho,
        data: {
          market,
          liquidator: other,
          borrower: account,
          repaidAssets: assets,
          repaidShares: assets,
          seizedAssets: 3n,
          badDebtAssets: 1n,
          badDebtShares: 2n,
        },
      }),
      () => ({
        type: 'InterestAccrued',
        ...morpho,
        data: {
          market,
          interest: assets,
          feeShares: this.pick([0n, 5n]),
          previousBorrowRateWad: BigInt(this.int(1e9)),
        },
      }),
      () => ({
        type: 'FeeChanged',
        ...morpho,
        data: { kind: 'protocol', feeWad: BigInt(this.int(9)), market },
      }),
      () => ({ type: 'OwnerChanged', ...morpho, data: { owner: account, role: 'feeRecipient' } }),
      () => ({ type: 'ScaledMinted', ...token, data: { side, caller: other, onBehalf: account, ...scaled } }),
      () => ({ type: 'ScaledBurned', ...token, data: { side, from: account, ...scaled } }),
      () => ({
        type: 'ScaledTransferred',
        ...token,
        data: { from: account, to: other, scaledValue: assets, indexRay },
      }),
      () => ({
        type: 'RateUpdated',
        ...pool,
        data: { market: reserve, liquidityRateRay: assets, liquidityIndexRay: indexRay },
      }),
      () => ({ type: 'CollateralEnabled', ...pool, data: { market: reserve, user: account } }),
      () => ({ type: 'EModeChanged', ...pool, data: { user: account, category: this.int(3) } }),
      () => ({
        type: 'RiskParametersChanged',
        ...pool,
        data: { market: reserve, ltvBps: 7_500n, eModeCategory: this.int(3), label: 'a "label"' },
      }),
      () => ({ type: 'RewardClaimed', ...morpho, data: this.pick(claims(account, other, assets)) }),
      () => ({ type: 'CapChanged', ...pool, data: { kind: 'supply', cap: assets, market: reserve } }),
      () => ({
        type: 'Liquidated',
        ...pool,
        data: {
          market: reserve,
          liquidator: other,
          borrower: account,
          repaidAssets: assets,
          seizedAssets: 3n,
          collateralMarket: hex('bbb', 1),
        },
      }),
    ]
    return withState(Array.from({ length: 1 + this.int(4) }, () => this.pick(choices)()))
  }

  /** A vault seen for the first time: its earlier blocks are stored now, after newer ones of other vaults. */
  private discover(): void {
    const n = this.vaults.length
    const address = hex('vau', n)
    // After a fork that took its discovery back it is found again, as the same contract: earlier samples of it may stand.
    const drawn = this.pick([0, 6, 18, 27])
    const assetDecimals = this.decimals.get(address) ?? drawn
    this.decimals.set(address, assetDecimals)
    const vault: VaultModel = {
      address,
      ledger: n % 2 === 0 ? 'transfer' : 'self',
      decimals: 18,
      assetDecimals,
      price: 1,
      shares: new Map(),
    }
    const block = this.nextBlock()
    const past = n === 0 ? [] : this.blocks.slice(-1 - this.int(6), -1)
    for (const earlier of past) this.append(earlier, this.activity(vault, 500))
    const factory = hex('fac', 0)
    this.append(block, [
      ...(n % 2 === 0
        ? [
            {
              type: 'VaultCreated' as const,
              contract: factory,
              data: { vault: address, factory, protocol: 'erc-4626' },
            },
          ]
        : []),
      {
        type: 'VaultDiscovered',
        contract: vault.address,
        data: {
          vault: vault.address,
          protocol: 'erc-4626',
          name: `Vault ${n} "quoted" \\ Ünïcode`,
          symbol: `v${n}`,
          decimals: vault.decimals,
          asset: hex('ass', n),
          assetName: 'Asset',
          assetSymbol: 'AST',
          assetDecimals,
          ...(n % 2 === 0 ? { deployedBlock: 90, deployedAt: 1_699_999_000, hasCooldown: n % 4 === 2 } : {}),
        },
      },
    ])
    this.vaults.push(vault)
  }

  private activity(vault: VaultModel, logIndex: number): DomainEvent[] {
    const log = (n: number) => ({
      contract: vault.address,
      logIndex: logIndex + n,
      transactionHash: hex('tx', this.log.length + logIndex, 64),
    })
    const account = this.pick(this.accounts)
    const held = vault.shares.get(account) ?? 0n
    const shares = this.pick([1n, 1000n, 10n ** 18n, 123_456_789_012_345_678_901n])
    const move = (who: string, by: bigint) => vault.shares.set(who, (vault.shares.get(who) ?? 0n) + by)
    const transfer = (n: number, from: string, to: string, amount: bigint): DomainEvent[] =>
      vault.ledger === 'self' && (from === ZERO || to === ZERO)
        ? []
        : [{ type: 'ShareTransferred', ...log(n), data: { from, to, shares: amount } }]
    switch (this.int(7)) {
      case 0:
      case 1: {
        move(account, shares)
        return [
          ...transfer(0, ZERO, account, shares),
          {
            type: 'Deposited',
            ...log(1),
            data: {
              sender: this.pick(this.accounts),
              owner: account,
              assets: shares * 2n,
              shares,
              ledger: vault.ledger,
              ...this.pick(suffixes),
            },
          },
        ]
      }
      case 2: {
        if (held <= 0n) return []
        const out = this.pick([held, held / 2n + 1n])
        move(account, -out)
        return [
          ...transfer(0, account, ZERO, out),
          {
            type: 'Redeemed',
            ...log(1),
            data: {
              sender: account,
              receiver: account,
              owner: account,
              assets: out * 2n,
              shares: out,
              ledger: vault.ledger,
              ...this.pick(suffixes),
            },
          },
        ]
      }
      case 3: {
        const to = this.pick(this.accounts)
        const amount = this.pick([0n, held, 7n])
        if (to !== account) {
          move(account, -amount)
          move(to, amount)
        }
        return [{ type: 'ShareTransferred', ...log(0), data: { from: account, to, shares: amount } }]
      }
      case 4:
        return [
          {
            type: 'PriceReported',
            contract: hex('fee', this.int(2)),
            logIndex,
            data: {
              source: 'chainlink',
              feed: hex('fee', this.int(2)),
              answer: BigInt(this.int(1_000_000)) - 1000n,
              decimals: 8,
              reportedAt: this.time,
            },
          },
        ]
      case 5: {
        if (this.int(3) > 0) return [this.sample(vault)]
        const token = { reward: hex('fee', this.int(2)), name: 'Reward', symbol: 'RWD', decimals: 18 }
        const ratePerSecond = BigInt(this.int(1_000_000)) * 10n ** 12n
        const endsAt = this.time + this.int(1_000_000)
        if (endsAt % 2 === 0) {
          const times = { startsAt: this.time + 100, endsAt: endsAt + 101 }
          const data = { vault: vault.address, ...token, amount: ratePerSecond, ...times }
          return [{ type: 'RewardPeriodFunded', contract: vault.address, data }]
        }
        const data = { vault: vault.address, ...token, ratePerSecond, endsAt }
        return [{ type: 'RewardStreamSampled', contract: vault.address, data }]
      }
      default:
        return [this.sample(vault)]
    }
  }

  private sample(vault: VaultModel): DomainEvent {
    vault.price *= this.pick([1, 1.0001, 1.01, 0.995, 1.00001])
    const whole = 10n ** BigInt(vault.assetDecimals)
    const price = BigInt(Math.round(vault.price * 1e6)) * (whole > 1_000_000n ? whole / 1_000_000n : 1n)
    const supply = [...vault.shares.values()].reduce((sum, value) => sum + (value > 0n ? value : 0n), 0n)
    const data: EventData<'StateSampled'> = {
      vault: vault.address,
      reason: 'hourly',
      totalAssets: (supply * price) / 10n ** 18n,
      totalSupply: supply,
      sharePrice: price,
      decimals: vault.decimals,
      assetDecimals: vault.assetDecimals,
    }
    if (this.int(3) > 0) Object.assign(data, { maxDeposit: 2n ** 256n - 1n, idleAssets: supply / 3n })
    if (this.int(3) === 0) data.borrowedAssets = supply / 2n
    if (this.int(2) === 0) Object.assign(data, { finePrice: price * 1_000n + 7n, fineDigits: 3 })
    // Emptied vaults, and hollow ones: what is left of shares or assets is rounding.
    if (this.int(5) === 0) {
      data.totalSupply = this.pick([0n, 2n, 9_999n, 10_000n, supply])
      data.totalAssets = this.pick([0n, 3n, 9_999n, 10_000n, 10n ** 18n])
    }
    const unknown = this.int(12)
    if (unknown === 0) delete data.totalAssets
    if (unknown === 1) delete data.totalSupply
    if (unknown === 2 || unknown === 3) {
      delete data.finePrice
      delete data.fineDigits
      if (unknown === 2) delete data.sharePrice
      else data.sharePrice = 0n
    }
    return { type: 'StateSampled', contract: vault.address, data }
  }

  private fork(depth: number): void {
    const orphans = this.blocks.splice(-depth).reverse()
    const [deepest] = orphans.slice(-1)
    if (!deepest) return
    this.forks++
    for (const orphan of orphans) {
      for (const [fromPosition, toPosition] of [...orphan.ranges].reverse()) {
        this.log.push({
          position: this.log.length + 1,
          block: { number: orphan.number, hash: orphan.hash, timestamp: 0 },
          event: {
            type: 'BlockRetracted',
            contract: '',
            data: { blockNumber: orphan.number, blockHash: orphan.hash, fromPosition, toPosition },
          },
        })
      }
    }
    this.height = deepest.number - 1
    this.time = (this.blocks.at(-1)?.timestamp ?? 1_700_000_000) + 1
    const known = new Set(
      this.canonical().flatMap(({ event }) => (event.type === 'VaultDiscovered' ? [event.contract] : [])),
    )
    this.vaults = this.vaults.filter(vault => known.has(vault.address) || vault.address === hex('vau', 0))
    for (const vault of this.vaults) vault.shares = new Map()
    for (const { event } of this.canonical()) {
      const vault = this.vaults.find(({ address }) => address === event.contract)
      if (vault)
        for (const [holder, delta] of movementOf(event))
          vault.shares.set(holder, (vault.shares.get(holder) ?? 0n) + delta)
    }
    for (let n = this.int(depth + 2); n > 0; n--) this.block()
  }
}
