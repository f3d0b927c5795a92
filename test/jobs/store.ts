import { encodeEventData } from '../../db/events/event-json.ts'
import type { EventType } from '../../db/events/vocabulary.ts'
import type { Engine } from './engine.ts'
import type { Positioned } from './streams.ts'

/** Fills `event` and `retracted` as the mirror does. */
export async function store(engine: Engine, stream: number, log: readonly Positioned[]): Promise<void> {
  const values = log.map(({ position, block, event }) => ({
    stream,
    position,
    type: event.type satisfies EventType,
    protocol: event.protocol ?? '',
    block_number: block.number,
    block_hash: block.hash,
    timestamp: block.timestamp,
    tx_hash: event.transactionHash ?? '',
    log_index: event.logIndex ?? 4294967295,
    contract: event.contract,
    data: encodeEventData(event.data),
  }))
  if (values.length > 0) await engine.client.insert({ table: 'event', values, format: 'JSONEachRow' })
  await engine.client.command({
    query: `INSERT INTO retracted
      SELECT stream, arrayJoin(range(JSONExtractUInt(data, 'fromPosition'), JSONExtractUInt(data, 'toPosition') + 1)), position
      FROM event WHERE stream = ${stream} AND type = 'BlockRetracted'`,
  })
}
