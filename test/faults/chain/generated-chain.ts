import { keccak256, numberToHex, stringToHex } from 'viem'
import { type Random, seededRandom } from '../../chain/random.ts'
import { type ChainBlock, type Emitted, emit, NOBODY, sealBlock, type VaultState } from './blocks.ts'

export interface GeneratedVault {
  address: string
  asset: string
  name: string
  symbol: string
  decimals: number
  assetDecimals: number
  /** Block in which its code appears. */
  born: number
}

export interface ChainSettings {
  seed: number
  chainId: number
  /** Unix seconds of block 0. */
  startTime?: number
  blockSeconds?: number
}

const addressOf = (name: string) => `0x${keccak256(stringToHex(name)).slice(26)}`

/**
 * A chain that follows from its seed alone: a few ERC-4626 vaults with people who deposit, redeem and send shares to
 * each other. It has no machine behind it; what the vaults' views answer is kept beside each block.
 */
export class GeneratedChain {
  readonly chainId: number
  readonly vaults: GeneratedVault[] = []
  readonly people: string[]
  readonly random: Random
  readonly blockSeconds: number
  /** The canonical chain, by height. */
  blocks: ChainBlock[] = []
  /** Every block that ever was, so that replaced ones can still be served by a node that lags. */
  readonly everSeen = new Map<string, ChainBlock>()
  private readonly byAddress = new Map<string, GeneratedVault>()
  private shares = new Map<string, Map<string, bigint>>()
  private states = new Map<string, VaultState>()
  /** What is in `states` and not in the newest block's. */
  private changed = new Map<string, VaultState>()
  private salt = 0
  private listeners = new Set<(block: ChainBlock) => void>()

  constructor({ seed, chainId, startTime = 1_750_000_000, blockSeconds = 600 }: ChainSettings) {
    this.chainId = chainId
    this.random = seededRandom(seed)
    this.blockSeconds = blockSeconds
    this.people = Array.from({ length: 8 }, (_, i) => addressOf(`person ${i} of ${seed}`))
    this.append([], { timestamp: startTime })
  }

  get head(): ChainBlock {
    const head = this.blocks.at(-1)
    if (!head) throw new TypeError('a chain without blocks')
    return head
  }

  onBlock(listener: (block: ChainBlock) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  addVault(about: Partial<GeneratedVault> = {}): GeneratedVault {
    const index = this.vaults.length
    const vault: GeneratedVault = {
      address: addressOf(`vault ${index} of ${this.chainId}`),
      asset: addressOf(`asset ${index} of ${this.chainId}`),
      name: `Vault ${index}`,
      symbol: `v${index}`,
      decimals: 18,
      assetDecimals: 18,
      born: this.head.number + 1,
      ...about,
    }
    this.vaults.push(vault)
    this.byAddress.set(vault.address, vault).set(vault.asset, vault)
    return vault
  }

  /** The vault of this address, or that takes the asset of this address. */
  vaultOf(address: string): GeneratedVault | undefined {
    return this.byAddress.get(address)
  }

  /** Mines `count` blocks with one act of somebody each. */
  live(count: number, seconds = this.blockSeconds): void {
    for (let i = 0; i < count; i++) this.append([this.act()], { timestamp: this.head.timestamp + seconds })
  }

  mineEmpty(count: number, seconds = this.blockSeconds): void {
    for (let i = 0; i < count; i++) this.append([], { timestamp: this.head.timestamp + seconds })
  }

  /** Mines one block of given transactions. */
  mine(transactions: Emitted[][], options: { timestamp?: number; firstLogIndex?: number } = {}): ChainBlock {
    return this.append(transactions, { timestamp: this.head.timestamp + this.blockSeconds, ...options })
  }

  /** Takes the newest `depth` blocks away; what is mined next is another branch. */
  rollback(depth: number): void {
    const kept = this.blocks.length - depth
    const gone = this.blocks.slice(kept)
    this.blocks = this.blocks.slice(0, kept)
    this.salt++
    this.states = new Map(this.head.states)
    this.changed = new Map()
    for (const { logs } of gone) for (const log of logs) this.move(log, -1n)
  }

  /** Replaces the newest `depth` blocks by `length` others. */
  reorg(depth: number, length = depth): void {
    this.rollback(depth)
    this.live(length)
  }

  /** Goes on with blocks of a branch that was left. */
  readopt(blocks: readonly ChainBlock[]): void {
    for (const block of blocks) {
      this.blocks.push(block)
      this.everSeen.set(block.hash, block)
      for (const log of block.logs) this.move(log)
      this.states = new Map(block.states)
      this.changed = new Map()
    }
  }

  deposit(vault: GeneratedVault, owner: string, assets: bigint): Emitted[] {
    const { totalAssets, totalSupply } = this.stateOf(vault.address)
    const shares = totalSupply === 0n ? assets : (assets * totalSupply) / totalAssets
    this.change(vault, { totalAssets: totalAssets + assets, totalSupply: totalSupply + shares })
    return [
      emit.transfer(vault.address, NOBODY, owner, shares),
      emit.deposit(vault.address, owner, assets, shares),
    ]
  }

  redeem(vault: GeneratedVault, owner: string, shares: bigint): Emitted[] {
    const { totalAssets, totalSupply } = this.stateOf(vault.address)
    const assets = (shares * totalAssets) / totalSupply
    this.change(vault, { totalAssets: totalAssets - assets, totalSupply: totalSupply - shares })
    return [
      emit.transfer(vault.address, owner, NOBODY, shares),
      emit.withdraw(vault.address, owner, assets, shares),
    ]
  }

  /** A deposit, share transfer or redemption by somebody at random; sometimes with a yield that no log tells of. */
  act(): Emitted[] {
    const vault = this.random.pick(this.vaults)
    const owner = this.random.pick(this.people)
    const other = this.random.pick(this.people)
    if (!vault || !owner || !other) return []
    const held = this.shares.get(vault.address)?.get(owner) ?? 0n
    const dice = this.random.next()
    if (this.random.chance(0.2)) {
      const { totalAssets, totalSupply } = this.stateOf(vault.address)
      this.change(vault, { totalAssets: totalAssets + totalAssets / 1000n, totalSupply })
    }
    if (dice < 0.5 || held === 0n)
      return this.deposit(vault, owner, BigInt(1 + this.random.below(1_000_000)) * 10n ** 15n)
    const part = 1n + held / BigInt(2 + this.random.below(5))
    return dice < 0.75 ? [emit.transfer(vault.address, owner, other, part)] : this.redeem(vault, owner, part)
  }

  /** `0x` where the code is not there yet, as of a height. */
  codeAt(address: string, height: number): string {
    const vault = this.vaultOf(address)
    return vault && vault.born <= height ? '0x60016000' : '0x'
  }

  private stateOf(vault: string): VaultState {
    return this.states.get(vault) ?? { totalAssets: 0n, totalSupply: 0n }
  }

  private change({ address }: GeneratedVault, state: VaultState): void {
    this.states.set(address, state)
    this.changed.set(address, state)
  }

  private append(
    transactions: Emitted[][],
    { timestamp, firstLogIndex = 0 }: { timestamp: number; firstLogIndex?: number },
  ): ChainBlock {
    const parent = this.blocks.at(-1)
    const block = sealBlock(parent, {
      number: this.blocks.length,
      timestamp,
      transactions: transactions.filter(logs => logs.length > 0),
      states: parent && this.changed.size === 0 ? parent.states : new Map(this.states),
      changed: this.changed,
      salt: this.salt,
      firstLogIndex,
    })
    this.changed = new Map()
    for (const log of block.logs) this.move(log)
    this.blocks.push(block)
    this.everSeen.set(block.hash, block)
    for (const listener of this.listeners) listener(block)
    return block
  }

  private move({ address, topics, data }: Emitted, times = 1n): void {
    if (topics.length !== 3 || data.length !== 66) return
    const [, from = '', to = ''] = topics
    const held = this.shares.get(address) ?? new Map<string, bigint>()
    this.shares.set(address, held)
    const add = (topic: string, amount: bigint) => {
      const who = `0x${topic.slice(26)}`
      held.set(who, (held.get(who) ?? 0n) + amount)
    }
    add(from, -BigInt(data) * times)
    add(to, BigInt(data) * times)
  }
}

export const toQuantity = (value: number | bigint) => numberToHex(value)
