import { mapBlock } from '@subsquid/evm-processor/lib/ds-rpc/mapping.js'
import { toMappingRequest } from '@subsquid/evm-processor/lib/ds-rpc/request.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { UnavailableError } from '../../db/process/errors.ts'
import type { Subscription } from '../../processors/handling/decode.ts'
import { openLogReader } from '../../processors/source/rpc-block.ts'

const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const ADDRESSES = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}`)
const TOPICS = ['d', 'e', 'f'].map(digit => `0x${digit.repeat(64)}`)

/** A node may write hex as it likes. */
const written = (hex: string) =>
  fc.boolean().map(isUpper => (isUpper ? `0x${hex.slice(2).toUpperCase()}` : hex))
const oneOf = (of: readonly string[]) => fc.constantFrom(...of).chain(written)

const subscriptions: fc.Arbitrary<Partial<Subscription>[]> = fc.array(
  fc.record(
    {
      address: fc.array(oneOf(ADDRESSES), { maxLength: 3 }),
      topic0: fc.array(oneOf(TOPICS), { maxLength: 3 }),
      transaction: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
  { minLength: 1, maxLength: 4 },
)

const logOf = fc.record({
  address: oneOf(ADDRESSES),
  topics: fc.array(oneOf(TOPICS), { maxLength: 4 }),
  data: fc.integer({ min: 0, max: 99 }).map(hash).chain(written),
})

const rpcBlock = (areWhole: boolean) =>
  fc
    .record({
      height: fc.nat({ max: 2 ** 40 }),
      timestamp: fc.nat(),
      transactions: fc.array(
        fc.record({
          to: fc.option(oneOf(ADDRESSES)),
          input: fc.integer({ min: 0, max: 99 }).map(hash).chain(written),
          logs: fc.array(logOf, { maxLength: 4 }),
        }),
        { maxLength: 5 },
      ),
    })
    .map(({ height, timestamp, transactions }) => {
      const number = `0x${height.toString(16)}`
      let logIndex = 0
      const logs = transactions.flatMap(({ logs }, i) =>
        logs.map(log => ({
          ...log,
          blockNumber: number,
          blockHash: hash(height),
          transactionIndex: `0x${i.toString(16)}`,
          transactionHash: hash(1000 + i),
          logIndex: `0x${(logIndex++).toString(16)}`,
        })),
      )
      const block = {
        number,
        hash: hash(height),
        parentHash: hash(height + 1),
        logsBloom: '0x',
        timestamp: `0x${timestamp.toString(16)}`,
        transactions: transactions.map(({ to, input }, i) =>
          areWhole
            ? {
                blockNumber: number,
                blockHash: hash(height),
                transactionIndex: `0x${i.toString(16)}`,
                hash: hash(1000 + i),
                from: ADDRESSES[0],
                to,
                input,
              }
            : hash(1000 + i),
        ),
      }
      return { height, hash: hash(height), block, logs }
    })

/** What evm-processor itself makes of a block, as far as we use it. */
function mapped(block: unknown, logs: Partial<Subscription>[]) {
  const lower = (some?: string[]) => some?.map(hex => hex.toLowerCase())
  const request = toMappingRequest({
    fields: {
      log: { address: true, topics: true, data: true, transactionHash: true },
      transaction: { hash: true, to: true, input: true },
      block: { timestamp: true },
    },
    logs: logs.map(({ address, topic0, transaction }) => ({
      ...(address ? { address: lower(address) } : {}),
      ...(topic0 ? { topic0: lower(topic0) } : {}),
      ...(transaction === undefined ? {} : { transaction }),
    })),
  } as Parameters<typeof toMappingRequest>[0])
  const items = mapBlock(block as Parameters<typeof mapBlock>[0], request)
  return {
    logs: items.logs.map(({ address, topics, data, logIndex, transactionHash }) => ({
      address,
      topics,
      data,
      logIndex,
      transactionHash,
    })),
    withTransaction: new Set(items.transactions.map(({ hash }) => hash)),
  }
}

describe('a block by RPC', () => {
  test('gives what evm-processor gives, for any subscriptions', () => {
    fc.assert(
      fc.property(
        subscriptions.chain(some =>
          fc.tuple(fc.constant(some), rpcBlock(some.some(({ transaction }) => transaction))),
        ),
        ([some, block]) => {
          expect(openLogReader(some)(block.logs)).toEqual(mapped(block, some))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('is refused where a wanted log is not what it should be', () => {
    const log = {
      address: ADDRESSES[0] ?? '',
      topics: [TOPICS[0] ?? ''],
      data: '0x12',
      logIndex: '0x0',
      transactionHash: hash(1),
    }
    const read = (change: object) => openLogReader([{ topic0: TOPICS }])([{ ...log, ...change }]).logs
    expect(read({})).toHaveLength(1)
    expect(() => read({ data: '0xno' })).toThrow(UnavailableError)
    expect(() => read({ data: null })).toThrow(UnavailableError)
    expect(read({ topics: [hash(9)], data: '0xno' })).toEqual([])
  })
})
