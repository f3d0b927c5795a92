import { expect, test } from 'vitest'
import type { BlockEvents } from '../../../db/events/event-store.ts'
import { openWriter } from '../../../db/events/event-writer.ts'
import type { OlderSource } from '../../../db/events/older-logs.ts'
import { KnownContracts } from '../../../processors/knowledge/known-contracts.ts'
import { OlderLogs } from '../../../processors/knowledge/older-logs.ts'
import type { BlockLogs, ChainRpc } from '../../../processors/source/rpc.ts'

const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const RANGE = 10_000
const RANGES = 20
const HONEST = address(9_999)

test('nobody waits behind strangers: all that wait are fetched in one sweep, what is taken anywhere among it', async () => {
  const stored = new Map<string, OlderSource>(
    Array.from({ length: 300 }, (_, n): [string, OlderSource] => [
      address(n),
      { kind: 'vault', contract: address(n), cursor: -1 + (n % 3) * 500, to: RANGE * RANGES },
    ]),
  )
  stored.set(HONEST, { kind: 'vault', contract: HONEST, cursor: RANGE * 15, to: RANGE * 17 })
  const asked: { address?: string[]; topics?: string[][]; from: number; to: number }[] = []
  const rpc = {
    async logs(filter: (typeof asked)[number]): Promise<BlockLogs[]> {
      asked.push(filter)
      const number = RANGE * 16
      if (!filter.address?.includes(HONEST) || filter.from > number || filter.to < number) return []
      const topics = [filter.topics?.[0]?.includes('deposit') ? 'deposit' : 'transfer']
      const log = { address: HONEST, topics, data: '0x', logIndex: 0, transactionHash: '0x1' }
      return [{ number, hash: '0xaa', logs: [log] }]
    },
  } as unknown as ChainRpc
  const contracts = new KnownContracts([])
  contracts.watchSources([...stored.values()])
  const older = new OlderLogs({
    rpc,
    contracts,
    finality: 5,
    perDay: 1_000,
    topics: kind => (kind === 'any' ? ['deposit'] : ['transfer']),
    withBesides: sources => [...sources, ...sources.map(({ contract }) => ({ kind: 'any', contract }))],
    handle: async found =>
      found.map(({ number, hash, logs }): BlockEvents => {
        const [log] = logs
        const data = { topic: log?.topics[0] } as never
        return {
          block: { number, hash, timestamp: number },
          events: [{ type: 'Deposited', contract: log?.address ?? '', data }],
        }
      }),
    read: async () => [...stored.values()],
  })
  older.start()
  const events: BlockEvents[] = []
  // Batches come on and on, until nobody waits.
  await expect
    .poll(
      () => {
        const { writer, blocks, olderSources } = openWriter(new Map(), 0, { height: 0, hash: '0x' })
        older.take(writer, 0)
        events.push(...blocks)
        for (const source of olderSources()) {
          if (source.cursor >= source.to) stored.delete(source.contract)
          else stored.set(source.contract, source)
        }
        older.commit()
        return stored.size
      },
      { interval: 5 },
    )
    .toBe(0)
  older.stop()
  expect(events.map(({ block, events: own }) => [block.number, own[0]?.contract, own[0]?.data])).toEqual([
    [RANGE * 16, HONEST, { topic: 'deposit' }],
  ])
  // One sweep: the ranges, and a few more where some begin or end amid one.
  expect(asked.length).toBeLessThan(RANGES + 10)
})
