import type pg from 'pg'
import type { BlockEvents } from './event-store.ts'
import type { DomainEvent } from './vocabulary.ts'

/** A stored block that may still be replaced, and a range of positions that holds events of it. */
export interface HotBlock {
  height: number
  hash: string
  from_position: number
  to_position: number
}

/** Those of a row of `stream`, as JSON, from the lowest up. */
export const HOT_BLOCKS = `(SELECT coalesce(json_agg(json_build_object('height', h.height, 'hash', h.hash, 'from_position', h.from_position,
  'to_position', h.to_position) ORDER BY h.height, h.from_position), '[]') FROM hot_block h WHERE h.stream = stream.id)`

/** Keeps which positions of the events just appended after `base` are of blocks above the final one. */
export async function rememberHotBlocks(
  tx: pg.PoolClient,
  stream: number,
  base: number,
  blocks: readonly BlockEvents[],
  hotBlocks: readonly { height: number; hash: string }[],
  finalHeight: number,
): Promise<void> {
  const ranges: HotBlock[] = []
  let position = base
  for (const { block, events } of blocks) {
    const from_position = position + 1
    position += events.length
    if (block.number > finalHeight)
      ranges.push({ height: block.number, hash: block.hash, from_position, to_position: position })
  }
  const withEvents = new Set(ranges.map(range => range.hash))
  for (const { height, hash } of hotBlocks) {
    if (!withEvents.has(hash))
      ranges.push({ height, hash, from_position: position + 1, to_position: position })
  }
  if (ranges.length === 0) return
  // A block stored without events may get some by a contract discovered later: then it has a range of its own.
  await tx.query(
    'DELETE FROM hot_block WHERE stream = $1 AND height = ANY ($2) AND to_position < from_position',
    [stream, ranges.map(range => range.height)],
  )
  await tx.query(
    `INSERT INTO hot_block (stream, height, hash, from_position, to_position)
     SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[])`,
    [
      stream,
      ranges.map(range => range.height),
      ranges.map(range => range.hash),
      ranges.map(range => range.from_position),
      ranges.map(range => range.to_position),
    ],
  )
}

/** The fact that a block is not canonical, recorded under that block's own identity. */
export function retraction(orphan: HotBlock): BlockEvents {
  const event: DomainEvent<'BlockRetracted'> = {
    type: 'BlockRetracted',
    contract: '',
    data: {
      blockNumber: orphan.height,
      blockHash: orphan.hash,
      fromPosition: orphan.from_position,
      toPosition: orphan.to_position,
    },
  }
  return { block: { number: orphan.height, hash: orphan.hash, timestamp: 0 }, events: [event] }
}
