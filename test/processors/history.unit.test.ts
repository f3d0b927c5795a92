import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openWriter } from '../../db/events/event-writer.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { createDecoder } from '../../processors/handling/decode.ts'
import { History } from '../../processors/knowledge/history.ts'
import { KnownContracts } from '../../processors/knowledge/known-contracts.ts'
import type { Protocol } from '../../processors/protocol.ts'
import type { ChainRpc } from '../../processors/source/rpc.ts'
import type { BlockLogs } from '../../processors/source/rpc-logs.ts'
import { openToldTimes } from '../../processors/source/told-times.ts'
import { handlerOf } from './handler.ts'

const DEPOSIT = `0x${'d'.repeat(64)}`
const TRANSFER = `0x${'e'.repeat(64)}`
const VAULT = `0x${'a'.repeat(40)}`
const FINALITY = 50
const hashOf = (height: number, branch = 0) => `0x${branch}${height.toString(16).padStart(63, '0')}`

/** A node with one vault: deposits, which bring it up, and transfers of its shares, which only its own history has. */
interface Node {
  deposits: number[]
  transfers: number[]
  fails?: (ask: { logsOf?: string; from?: number; header?: number }) => boolean
  /** Blocks above this one are of another branch now. */
  fork?: number
}

function rpcOf({
  deposits,
  transfers,
  fails = () => false,
  fork = Number.POSITIVE_INFINITY,
}: Node): ChainRpc {
  const hash = (height: number) => hashOf(height, height > fork ? 1 : 0)
  const logs = [
    ...deposits.map(number => ({ number, logIndex: 0, topic: DEPOSIT })),
    ...transfers.map(number => ({ number, logIndex: 1, topic: TRANSFER })),
  ].sort((a, b) => a.number - b.number)
  const reader = () => ({
    blockNumber: 0,
    troubles: new Map(),
    call: async () => undefined,
    deployment: async () => ({ block: 1, timestamp: 1 }),
  })
  return {
    chainId: async () => 1,
    times: openToldTimes(),
    head: async () => ({ number: 0, hash: hash(0), timestamp: 0 }),
    async header(number) {
      if (fails({ header: number })) throw new Error('the node is gone')
      return { number, hash: hash(number), parentHash: hash(number - 1), timestamp: number }
    },
    async logs({ address, topics, from, to }) {
      if (fails({ logsOf: address?.[0] ?? '', from })) throw new Error('the node is gone')
      return logs
        .filter(
          ({ number, topic }) => number >= from && number <= to && (topics?.[0]?.includes(topic) ?? true),
        )
        .map(({ number, logIndex, topic }): BlockLogs => {
          const log = { address: VAULT, topics: [topic], data: '0x', logIndex, transactionHash: hash(1) }
          return { number, hash: hash(number), logs: [log] }
        })
    },
    bloom: async () => undefined,
    codeAt: async () => [],
    calls: async () => [],
    haveCode: async () => new Set(),
    transactions: async () => new Map(),
    reader,
  }
}

const decoder = (topic0: string, type: 'Deposited' | 'ShareTransferred') => ({
  signature: type,
  topic0,
  topicCount: 1,
  dataLength: 0,
  gives: [type],
  decode: ({
    address,
    logIndex,
    transactionHash,
  }: {
    address: string
    logIndex: number
    transactionHash: string
  }) => [{ type, contract: address, logIndex, transactionHash, data: {} }],
})

const protocol = {
  name: 'plain',
  sources: [
    { kind: 'any', at: 'anywhere', decoders: [decoder(DEPOSIT, 'Deposited')] },
    { kind: 'vault', at: 'discovered', decoders: [decoder(TRANSFER, 'ShareTransferred')] },
  ],
  teaches: ['VaultDiscovered'],
  proposes: ['Deposited'],
  candidates: (event: DomainEvent) => (event.type === 'Deposited' ? [event.contract] : []),
  inspect: async (contract: string) => [
    {
      type: 'VaultDiscovered',
      contract,
      data: { vault: contract, asset: VAULT, protocol: 'plain', decimals: 18, assetDecimals: 18 },
    },
  ],
  watches: (event: DomainEvent) =>
    event.type === 'VaultDiscovered' ? [{ kind: 'vault', contract: event.contract }] : [],
} as unknown as Protocol

/** Everything that is stored of the past while batches of one block each come, from a height on, until it has joined. */
async function stored(node: Node, { cursor, begins }: { cursor: number; begins: number }) {
  const protocols = [protocol]
  const rpc = rpcOf(node)
  const [late, contracts] = [new KnownContracts(protocols), new KnownContracts(protocols)]
  contracts.knowBeside(late)
  const events: string[] = []
  const cursors = new Map<string, number | null>()
  let highest = cursor
  const take = (
    blocks: { block: { number: number }; events: readonly DomainEvent[] }[],
    sources: readonly { kind: string; cursor: number | null }[],
  ) => {
    events.push(
      ...blocks.flatMap(({ block, events: own }) => own.map(({ type }) => `${block.number} ${type}`)),
    )
    for (const source of sources) cursors.set(source.kind, source.cursor)
  }
  const known = createDecoder(protocols, 'mainnet')
  const history = new History({
    rpc,
    pending: [{ kind: 'any', contract: '', cursor, learned: false }],
    late,
    contracts,
    handler: handlerOf({
      protocols,
      rpc,
      contracts: late,
    }),
    topics: kind => known.topicsOf(kind),
    finality: FINALITY,
    blockTime: 1,
    async store(blocks, sources, from) {
      expect(from).toBe(highest)
      highest = Math.max(...sources.map(source => source.cursor ?? 0))
      take([...blocks], sources)
      return true
    },
  })
  for (let last = begins; last < begins + 100; last++) {
    const { writer, blocks, sources } = openWriter(new Map(), last - 1, {
      height: last - 1,
      hash: hashOf(last - 1),
    })
    const joined = await history.take(writer, last)
    if (joined) {
      take(blocks, sources)
      history.stop()
      return { events: events.sort(), cursors: Object.fromEntries(cursors) }
    }
    history.commit()
    await sleep(200)
    expect(highest).toBeLessThanOrEqual(last - FINALITY)
  }
  history.stop()
  return expect.fail(`the history at ${highest} has not joined a hundred batches`)
}

const deposits = [500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 510, 600]
const transfers = [100, 505, 700]

function once(is: boolean, failure: { isOver: boolean }): boolean {
  if (!is || failure.isOver) return false
  failure.isOver = true
  return true
}

test('a request that fails once changes nothing of what is stored of the past', async () => {
  const whole = await stored({ deposits, transfers }, { cursor: 400, begins: 800 })
  expect(whole.events).toHaveLength(deposits.length + transfers.length + 1)
  expect(whole.cursors).toEqual({ any: null, vault: null })
  const failure = { isOver: false }
  // The logs of a vault that the first slice brought up, above that slice. Tried again after a pause of five seconds.
  const fails = ({ logsOf = '', from = 0 }) => once(logsOf !== '' && from > 505, failure)
  const { events } = await stored({ deposits, transfers, fails }, { cursor: 400, begins: 2_000 })
  expect(failure.isOver).toBe(true)
  expect(events).toEqual(whole.events)
}, 60_000)

test('what is not final is never stored before the batch that it joins', async () => {
  const many = Array.from({ length: 60 }, (_, i) => 940 + i)
  const failure = { isOver: false }
  const fails = ({ header = 0 }) => once(header > 975, failure)
  await expect(
    stored({ deposits: many, transfers: [], fails }, { cursor: 945, begins: 1_000 }),
  ).rejects.toThrow('the node is gone')
  expect(failure.isOver).toBe(true)
})

test('history of another branch does not join', async () => {
  const node = { deposits: [990], transfers: [], fork: 980 }
  await expect(stored(node, { cursor: 945, begins: 1_000 })).rejects.toThrow('another branch')
})
