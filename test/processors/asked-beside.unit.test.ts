import { expect, test } from 'vitest'
import { attributionSuffix, withSuffix } from '../../db/attribution.ts'
import { openWriter } from '../../db/events/event-writer.ts'
import type { DeadLetter } from '../../processors/handling/block.ts'
import { KnownContracts } from '../../processors/knowledge/known-contracts.ts'
import type { Protocol } from '../../processors/protocol.ts'
import type { ChainRpc, TransactionCall } from '../../processors/source/rpc.ts'
import { handlerOf } from './handler.ts'

const DEPOSIT = `0x${'d'.repeat(64)}`
const VAULT = `0x${'a'.repeat(40)}`
const TRANSACTION = `0x${'7'.repeat(64)}`
const ref = { number: 5, hash: `0x${'5'.repeat(64)}`, timestamp: 1_700_000_000 }

const protocol = {
  name: 'plain',
  sources: [
    {
      kind: 'any',
      at: 'anywhere',
      decoders: [
        {
          signature: 'Deposited',
          topic0: DEPOSIT,
          topicCount: 1,
          dataLength: 0,
          gives: ['Deposited'],
          decode: () => [
            {
              type: 'Deposited',
              contract: VAULT,
              logIndex: 0,
              transactionHash: TRANSACTION,
              data: { sender: VAULT, owner: VAULT, assets: 5n, shares: 5n, ledger: 'transfer' },
            },
          ],
        },
      ],
    },
  ],
} as unknown as Protocol

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
  const log = { address: VAULT, topics: [DEPOSIT], data: '0x', logIndex: 0, transactionHash: TRANSACTION }
  await handler.handle(writer, [{ ref, logs: [log] }])
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
  expect(data()).toMatchObject({ assets: 5n, codes: ['0a1b2c3d', 'vaultlog'] })
  expect(letters).toEqual([])
})

test('a transaction that is not to be had is told before its deposit is stored', async () => {
  const { data, complete, letters } = await handled(Promise.resolve(new Map()))
  await complete()
  expect(data()).toMatchObject({ assets: 5n })
  expect(letters).toMatchObject([
    { stage: 'inspect', block: ref, reason: expect.stringContaining(TRANSACTION) },
  ])
})

test('a node that fails keeps the batch from being stored', async () => {
  const { complete } = await handled(Promise.reject(new TypeError('the node is gone')))
  await expect(complete()).rejects.toThrow('the node is gone')
})
