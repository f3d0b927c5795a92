import { expect, test } from 'vitest'
import { openWriter } from '../../db/events/event-writer.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { KnownContracts } from '../../processors/knowledge/known-contracts.ts'
import { LogBudget } from '../../processors/knowledge/log-budget.ts'
import { OlderLogs } from '../../processors/knowledge/older-logs.ts'
import type { Protocol, RawLog } from '../../processors/protocol.ts'
import type { ChainRpc } from '../../processors/source/rpc.ts'
import { type BlockLogs, type LogRange, TooManyLogsError } from '../../processors/source/rpc-logs.ts'
import { handlerOf } from './handler.ts'

const DEPOSIT = `0x${'d'.repeat(64)}`
const TRANSFER = `0x${'e'.repeat(64)}`
const LOUD = `0x${'a'.repeat(40)}`
const ref = (number: number) => ({
  number,
  hash: `0x${number.toString(16).padStart(64, '0')}`,
  timestamp: number * 12,
})

const decoder = (topic0: string, type: 'Deposited' | 'Paused') => ({
  signature: type,
  topic0,
  topicCount: 1,
  dataLength: 0,
  gives: [type],
  decode: ({ address: contract, logIndex, transactionHash }: RawLog) => [
    { type, contract, logIndex, transactionHash, data: {} },
  ],
})
const protocol = {
  name: 'plain',
  sources: [
    { kind: 'any', at: 'anywhere', decoders: [decoder(DEPOSIT, 'Deposited')] },
    { kind: 'vault', at: 'discovered', decoders: [decoder(TRANSFER, 'Paused')] },
  ],
  teaches: ['VaultDiscovered'],
  proposes: ['Deposited'],
  watches: (event: DomainEvent) =>
    event.type === 'VaultDiscovered' ? [{ kind: 'vault', contract: event.contract }] : [],
  candidates: (event: DomainEvent) => (event.type === 'Deposited' ? [event.contract] : []),
  inspect: async (vault: string) => [
    {
      type: 'VaultDiscovered',
      contract: vault,
      data: { vault, deployedBlock: 5, protocol: 'plain', asset: LOUD, decimals: 18, assetDecimals: 18 },
    },
  ],
} as unknown as Protocol

test('a contract that logs more with its discovery than is held at once is stored up to there, and the rest is left for later, once', async () => {
  const log = (topic: string, logIndex: number): RawLog => ({
    address: LOUD,
    topics: [topic],
    data: '0x',
    logIndex,
    transactionHash: '0x1',
  })
  // A deposit and nine thousand transfers in each block.
  const blockOf = (number: number): BlockLogs => ({
    number,
    hash: ref(number).hash,
    logs: [log(DEPOSIT, 0), ...Array.from({ length: 9_000 }, (_, i) => log(TRANSFER, i + 1))],
  })
  const rpc = {
    header: async (number: number) => ref(number),
    logs: async (filter: LogRange) => {
      const { from, to, most = 0 } = filter
      const fits = Math.floor(most / 9_001)
      if (to - from + 1 > fits && from < to) throw new TooManyLogsError(filter, from + fits - 1)
      return Array.from({ length: to - from + 1 }, (_, i) => blockOf(from + i))
    },
    transactions: async () => new Map(),
    calls: async () => [],
    reader: () => ({ troubles: new Map() }),
  } as unknown as ChainRpc
  const contracts = new KnownContracts([protocol])
  const older = new OlderLogs({
    rpc,
    contracts,
    finality: 5,
    perDay: 100_000,
    topics: () => [],
    withBesides: sources => [...sources],
    handle: async () => [],
    read: async () => [],
  })
  const logBudget = new LogBudget({
    contracts,
    perDay: 100_000,
    finality: 5,
    days: [],
    protocols: [protocol],
    listed: new Set(),
  })
  const handler = handlerOf({ protocols: [protocol], contracts, rpc, older, logBudget })
  const { writer, blocks, olderSources } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, {
    height: 4,
    hash: ref(4).hash,
  })
  // As the source has them: deposits are asked for wherever they are.
  await handler.handle(
    writer,
    Array.from({ length: 10 }, (_, i) => ({ ref: ref(5 + i), logs: [log(DEPOSIT, 0)] })),
  )
  const counts = (type: DomainEvent['type']) =>
    blocks.flatMap(({ block, events }) => {
      const count = events.filter(event => event.type === type).length
      return count > 0 ? [[block.number, count]] : []
    })
  expect(counts('Deposited')).toEqual([
    [5, 1],
    [6, 1],
  ])
  expect(counts('Paused')).toEqual([
    [5, 9_000],
    [6, 9_000],
  ])
  expect(olderSources()).toEqual([{ kind: 'vault', contract: LOUD, cursor: 6, to: 14 }])
})
