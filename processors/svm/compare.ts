import { createHash } from 'node:crypto'
import type pg from 'pg'
import { encodeEventData } from '../../db/events/event-json.ts'
import { readRetractions } from '../../db/events/teaching.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { readPendingKinds } from '../../db/events/watched-sources.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { SOLANA } from '../../db/streams.ts'
import { handleBlocks } from './handle.ts'
import type { SvmProgram } from './program.ts'
import { type SvmSource, wantedOf } from './source.ts'
import { readVaults } from './vaults.ts'

/** What is compared: all that blocks tell. Samples are what a node once said of a moment, and cannot be asked for again. */
const COMPARED = [
  'SvmDeposited',
  'SvmWithdrawn',
  'SvmPriceUpdated',
  'SvmShareAccountChanged',
  'SvmStakeChanged',
]
/** Facts of a mint, known from the slot on in which its vault was first met. */
const OF_SHARES = ['SvmShareAccountChanged', 'SvmStakeChanged']
/** Differences that are told one by one. */
const MOST_TOLD = 20

interface Side {
  events: number
  checksum: string
}

interface SlotComparison {
  from: number
  to: number
  chain: Side
  store: Side
  equal: boolean
  differences: string[]
}

/** First slot of which something is stored; 0: nothing is. */
export async function firstSlot(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ slot: string | null }>(
    'SELECT min(block_number) AS slot FROM event_log WHERE stream = $1',
    [SOLANA.id],
  )
  return Number(rows[0]?.slot ?? 0)
}

/**
 * The store's events of slots from..to beside what another source says of them, decoded anew: of a store that was filled by a Portal
 * this is a Portal against a node. Holders of a share are compared from the slot in which its vault was first met, and protocols of
 * which history is being fetched not at all.
 * @throws UnavailableError where the source has not come as far: what it does not have yet is no difference
 */
export async function compareSlots(
  { pool, source, programs }: { pool: pg.Pool; source: SvmSource; programs: readonly SvmProgram[] },
  from: number,
  to: number,
): Promise<SlotComparison> {
  const head = await source.head()
  if (head < to)
    throw new UnavailableError(`The node has slots up to ${head}, and ${to} is asked for: it is behind.`)
  const isRetracted = await readRetractions(pool, SOLANA.id)
  const late = await readPendingKinds(pool, SOLANA.id)
  const whole = programs.filter(({ name }) => !late.includes(name))
  const since = await mintsSince(pool, isRetracted)
  const isCompared = (type: string, slot: number, contract: string | null, data: object) =>
    COMPARED.includes(type) &&
    // A stake that is given away is noticed from when a node said of which shares the farm is.
    !('change' in data && String(data.change) === '0') &&
    (!OF_SHARES.includes(type) || slot >= (since.get(contract ?? '') ?? Number.POSITIVE_INFINITY))
  const [chain, store] = [await told(), await stored()]
  const [inChain, inStore] = [new Set(chain), new Set(store)]
  const differences = [
    ...chain.filter(line => !inStore.has(line)).map(line => `only on the chain: ${line}`),
    ...store.filter(line => !inChain.has(line)).map(line => `only in the store: ${line}`),
  ]
  return {
    from,
    to,
    chain: sideOf(chain),
    store: sideOf(store),
    equal: differences.length === 0 && chain.length === store.length,
    differences: differences.slice(0, MOST_TOLD),
  }

  async function told(): Promise<string[]> {
    const ids = new Set(whole.flatMap(each => each.programs))
    const vaults = await readVaults(pool, id => ids.has(id))
    const wanted = wantedOf(whole, vaults.shareMints())
    const lines: string[] = []
    for (let at = from; at <= to; ) {
      const slice = await source.read(at, to, wanted)
      // No slot of what is left has a block.
      if (!slice) break
      for (const { block, events } of handleBlocks(slice.blocks, whole, vaults).blocks)
        for (const event of events)
          if (isCompared(event.type, block.number, event.contract, event.data))
            lines.push(lineOf(block.number, event))
      at = slice.end.slot + 1
    }
    return lines
  }

  async function stored(): Promise<string[]> {
    const { rows } = await pool.query<Stored>(
      `SELECT position, type, block_number, log_index, '0x' || encode(tx_hash, 'hex') AS tx_hash, '0x' || encode(contract, 'hex') AS contract, data
       FROM event_log WHERE stream = $1 AND block_number >= $2 AND block_number <= $3 AND type = ANY ($4)
         AND NOT protocol = ANY ($5) ORDER BY position`,
      [SOLANA.id, from, to, COMPARED, late],
    )
    return rows
      .filter(({ position }) => !isRetracted(position))
      .filter(({ type, block_number, contract, data }) =>
        isCompared(type, Number(block_number), contract, data),
      )
      .map(row =>
        textOf(Number(row.block_number), row.log_index, row.tx_hash, row.type, row.contract, row.data),
      )
  }
}

interface Stored {
  position: number
  type: string
  block_number: string | number
  log_index: number | null
  tx_hash: string | null
  contract: string | null
  data: Record<string, unknown>
}

const lineOf = (slot: number, event: DomainEvent): string =>
  textOf(
    slot,
    event.logIndex ?? null,
    event.transactionHash ?? null,
    event.type,
    event.contract,
    JSON.parse(encodeEventData(event.data)) as Record<string, unknown>,
  )

function textOf(
  slot: number,
  place: number | null,
  signature: string | null,
  type: string,
  contract: string | null,
  data: Record<string, unknown>,
): string {
  const fields = Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1))
  return `slot ${slot} ${place} ${signature} ${type} ${contract} ${JSON.stringify(fields)}`
}

function sideOf(lines: readonly string[]): Side {
  const hash = createHash('sha256')
  for (const line of [...lines].sort()) hash.update(`${line}\n`)
  return { events: lines.length, checksum: hash.digest('hex').slice(0, 32) }
}

async function mintsSince(
  pool: pg.Pool,
  isRetracted: (position: number) => boolean,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ position: number; mint: string; slot: string }>(
    `SELECT position, data->>'shareMint' AS mint, block_number AS slot FROM event_log
     WHERE stream = $1 AND type = 'SvmVaultIdentified' ORDER BY block_number DESC`,
    [SOLANA.id],
  )
  return new Map(
    rows.filter(({ position }) => !isRetracted(position)).map(({ mint, slot }) => [mint, Number(slot)]),
  )
}
