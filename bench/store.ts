import type pg from 'pg'
import { appendEvents, type BlockEvents, lockStreamHead, registerStream } from '../db/events/event-store.ts'
import { retraction } from '../db/events/hot-blocks.ts'
import type { DomainEvent } from '../db/events/vocabulary.ts'
import { inTransaction } from '../db/postgres.ts'
import { seededRandom } from '../test/chain/random.ts'

/** A year of one chain, generated: the same every time. */
export interface GeneratedStore {
  events: number
  vaults: readonly string[]
  /** The vault with the most events, and its most active account. */
  busiest: { vault: string; account: string }
  begins: number
  ends: number
}

const CHAIN = 1
const BEGINS = 1_735_689_600
const YEAR = 365 * 86_400
const BLOCKS_PER_TRANSACTION = 20_000
const ZERO = `0x${'0'.repeat(40)}`
const UNIT = 10n ** 6n
/** On average, with the redemptions. */
const EVENTS_OF_A_BLOCK = 4

/** The n-th account of the busiest vault, the most active first. */
export const accountOf = (n: number): string => address('b', n)

const address = (kind: string, n: number) => `0x${kind}${n.toString(16).padStart(40 - kind.length, '0')}`

/**
 * Vaults by the power law of real ones (the n-th of them has about 1/n of the first's events); accounts likewise, a few
 * thousand in the largest vaults. Each block has a deposit, every third also a redemption of half of the deposit
 * before it, so that no balance goes below zero, and a sample of each vault touched, as the processor takes them.
 */
export async function fillStore(
  pool: pg.Pool,
  options: {
    events: number
    vaults: number
    /** Blocks that first were others with the same events, evenly among all. */
    forks?: number
    onProgress?: (stored: number) => void
  },
): Promise<GeneratedStore> {
  const vaults = Array.from({ length: options.vaults }, (_, n) => address('a', n + 1))
  await registerStream(pool, CHAIN, 'mainnet', 'evm')
  const discovery = discoveryOf(vaults)
  const nextBlock = openGenerator(vaults, options.events)
  const forkEvery = options.forks ? Math.floor(options.events / EVENTS_OF_A_BLOCK / options.forks) : 0
  let stored = 0
  let last = discovery.block
  for (let batch: BlockEvents[] = [discovery]; stored < options.events; batch = []) {
    let position = stored + batch.reduce((sum, { events }) => sum + events.length, 0)
    while (batch.length < BLOCKS_PER_TRANSACTION) {
      const next = nextBlock()
      const isForked = forkEvery > 0 && next.block.number % forkEvery === 0
      const added = isForked ? [...leftBranch(next, position), next] : [next]
      position += added.reduce((sum, { events }) => sum + events.length, 0)
      batch.push(...added)
    }
    last = batch.at(-1)?.block ?? last
    stored = await inTransaction(pool, async tx => {
      const head = await appendEvents(tx, CHAIN, await lockStreamHead(tx, CHAIN), batch)
      await tx.query(
        'UPDATE stream SET head = $2, head_height = $3, final_height = $3, head_time = $4 WHERE id = $1',
        [CHAIN, head, last.number, last.timestamp],
      )
      return head
    })
    options.onProgress?.(stored)
  }
  return {
    events: stored,
    vaults,
    busiest: { vault: vaults[0] ?? '', account: accountOf(0) },
    begins: BEGINS,
    ends: last.timestamp,
  }
}

/** The same events in a block that another one replaced, and their retraction. */
function leftBranch({ block, events }: BlockEvents, position: number): BlockEvents[] {
  const gone = { ...block, hash: `0xd${block.hash.slice(3)}` }
  const orphan = {
    height: gone.number,
    hash: gone.hash,
    from_position: position + 1,
    to_position: position + events.length,
  }
  return [{ block: gone, events }, retraction(orphan)]
}

/** The block in which all vaults are discovered. */
function discoveryOf(vaults: readonly string[]): BlockEvents {
  return {
    block: { number: 0, hash: `0x${'0'.repeat(64)}`, timestamp: BEGINS },
    events: vaults.map((vault, n) => ({
      type: 'VaultDiscovered' as const,
      contract: vault,
      data: {
        vault,
        protocol: 'erc-4626',
        name: `Bench vault ${n + 1}`,
        symbol: `bv${n + 1}`,
        decimals: 6,
        asset: address('c', n % 50),
        assetName: `Bench token ${n % 50}`,
        assetSymbol: `BT${n % 50}`,
        assetDecimals: 6,
        deployedBlock: 0,
        deployedAt: BEGINS,
      },
    })),
  }
}

/** Blocks with the events of a year, `count` in all, one after the other. */
export function openGenerator(vaults: readonly string[], count: number): () => BlockEvents {
  const step = YEAR / (count / EVENTS_OF_A_BLOCK)
  const random = seededRandom(7).next
  const totals = vaults.map(() => ({ assets: 0n, shares: 0n }))
  let previous: { vault: number; account: string; shares: bigint } | undefined
  let number = 0

  return () => {
    number++
    const timestamp = Math.floor(BEGINS + number * step)
    const block = { number, hash: `0x${number.toString(16).padStart(64, '0')}`, timestamp }
    const events: DomainEvent[] = []
    let log = 0
    const add = (
      type: 'Deposited' | 'Redeemed' | 'ShareTransferred',
      vault: number,
      data: DomainEvent['data'],
    ) =>
      events.push({
        type,
        contract: vaults[vault] ?? '',
        transactionHash: `0x${(number * 8).toString(16).padStart(64, '0')}`,
        logIndex: log++,
        data,
      } as DomainEvent)
    const touched = new Set<number>()
    const total = (vault: number) => totals[vault] ?? { assets: 0n, shares: 0n }

    if (number % 3 === 0 && previous) {
      const { vault, account, shares } = previous
      const half = shares / 2n
      const assets = (half * total(vault).assets) / total(vault).shares
      add('ShareTransferred', vault, { from: account, to: ZERO, shares: half })
      add('Redeemed', vault, {
        sender: account,
        receiver: account,
        owner: account,
        assets,
        shares: half,
        ledger: 'transfer',
      })
      total(vault).assets -= assets
      total(vault).shares -= half
      touched.add(vault)
    }
    const vault = skewed(random(), vaults.length)
    const account = address('b', vault * 16 + skewed(random(), 4000))
    const shares = BigInt(1 + Math.floor(random() * 1e9)) * UNIT
    const { assets: held, shares: supply } = total(vault)
    // Every deposit finds that the vault has earned a little.
    const assets = supply === 0n ? shares : (shares * (held + held / 100_000n)) / supply
    total(vault).assets = held + held / 100_000n + assets
    total(vault).shares = supply + shares
    add('ShareTransferred', vault, { from: ZERO, to: account, shares })
    add('Deposited', vault, { sender: account, owner: account, assets, shares, ledger: 'transfer' })
    touched.add(vault)
    previous = { vault, account, shares }

    for (const each of touched) {
      const { assets: totalAssets, shares: totalSupply } = total(each)
      events.push({
        type: 'StateSampled',
        contract: vaults[each] ?? '',
        data: {
          vault: vaults[each] ?? '',
          reason: 'activity',
          totalAssets,
          totalSupply,
          sharePrice: totalSupply === 0n ? UNIT : (totalAssets * UNIT) / totalSupply,
          decimals: 6,
          assetDecimals: 6,
        },
      })
    }
    return { block, events }
  }
}

/** n in [0, count), 0 the most frequent: density 1/n. */
function skewed(random: number, count: number): number {
  return Math.min(count - 1, Math.floor(count ** random) - 1)
}
