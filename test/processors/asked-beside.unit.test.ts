import { expect, test } from 'vitest'
import { attributionSuffix, withSuffix } from '../../db/attribution.ts'
import { openWriter } from '../../db/events/event-writer.ts'
import type { DeadLetter } from '../../processors/handling/block.ts'
import { KnownContracts } from '../../processors/knowledge/known-contracts.ts'
import type { Protocol } from '../../processors/protocol.ts'
import type { ChainRpc, TransactionCall } from '../../processors/source/rpc.ts'
import { handlerOf } from './handler.ts'
import { blockOf, deposits } from './samples/plain-protocol.ts'

const VAULT = `0x${'a'.repeat(40)}`
const ref = { number: 5, hash: `0x${'5'.repeat(64)}`, timestamp: 1_700_000_000 }
const block = blockOf(ref, [VAULT])
const [TRANSACTION = ''] = block.logs.map(({ transactionHash }) => transactionHash)
const protocol = { name: 'plain', sources: [deposits] } as unknown as Protocol

/** A block with a deposit, which has been handled while the node was asked for its transaction. */
async function handled(transactions: Promise<Map<string, TransactionCall>>) {
  const letters: DeadLetter[] = []
  const handler = handlerOf({
    protocols: [protocol],
    contracts: new KnownContracts([protocol]),
    rpc: { transactions: () => transactions } as unknown as ChainRpc,
    onDeadLetters: async more => void letters.push(...more),
  })
  const { writer, blocks, complete } = openWriter(new Map(), Number.MAX_SAFE_INTEGER, {
    height: 4,
    hash: `0x${'4'.repeat(64)}`,
  })
  await handler.handle(writer, [block])
  expect(blocks.flatMap(({ events }) => events.map(({ type }) => type))).toEqual(['Deposited'])
  return { letters, complete, data: () => blocks[0]?.events[0]?.data }
}

test('the next blocks are not kept waiting for transactions, but storing these is', async () => {
  let answer = (_: Map<string, TransactionCall>) => {}
  const { data, complete, letters } = await handled(
    new Promise(resolve => {
      answer = resolve
    }),
  )
  expect(data()).not.toHaveProperty('codes')
  answer(
    new Map([[TRANSACTION, { to: VAULT, input: withSuffix('0x6e553f65', attributionSuffix('0a1b2c3d')) }]]),
  )
  await complete()
  expect(data()).toEqual({ codes: ['0a1b2c3d', 'vaultlog'] })
  expect(letters).toEqual([])
})

test('a transaction that is not to be had is told before its deposit is stored', async () => {
  const { data, complete, letters } = await handled(Promise.resolve(new Map()))
  await complete()
  expect(data()).toEqual({})
  expect(letters).toMatchObject([
    { stage: 'inspect', block: ref, reason: expect.stringContaining(TRANSACTION) },
  ])
})

test('a node that fails keeps the batch from being stored', async () => {
  const { complete } = await handled(Promise.reject(new TypeError('the node is gone')))
  await expect(complete()).rejects.toThrow('the node is gone')
})
