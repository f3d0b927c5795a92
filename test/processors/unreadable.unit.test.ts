import { expect, test } from 'vitest'
import type { BlockEvents } from '../../db/events/event-store.ts'
import { openWriter } from '../../db/events/event-writer.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { KnownContracts } from '../../processors/knowledge/known-contracts.ts'
import type { Protocol } from '../../processors/protocol.ts'
import type { ChainRpc } from '../../processors/source/rpc.ts'
import { handlerOf } from './handler.ts'
import { blockOf, deposits } from './samples/plain-protocol.ts'

const CONTRACT = `0x${'a'.repeat(40)}`
const HOUR = 3600
const hashOf = (height: number) => `0x${height.toString(16).padStart(64, '0')}`

/** Heights at which the contract is looked at, which logs a deposit every six hours for four days. */
async function looks(reason: string): Promise<number[]> {
  const asked: number[] = []
  const protocol = {
    name: 'plain',
    sources: [deposits],
    proposes: ['Deposited'],
    candidates: (event: DomainEvent) => (event.type === 'Deposited' ? [event.contract] : []),
    inspect: async (vault: string, reader: { blockNumber: number }) => {
      asked.push(reader.blockNumber)
      return [{ type: 'VaultRejected', contract: vault, data: { vault, reason } }]
    },
  } as unknown as Protocol
  const rpc = {
    reader: (block: { number: number }) => ({
      blockNumber: block.number,
      call: async () => undefined,
      deployment: async () => undefined,
      troubles: new Map(),
    }),
    transactions: async () => new Map(),
  } as unknown as ChainRpc
  const contracts = new KnownContracts([protocol])
  const handler = handlerOf({
    protocols: [protocol],
    contracts,
    rpc,
  })
  const stored: BlockEvents[] = []
  for (let number = 1; number <= 16; number++) {
    const { writer, blocks } = openWriter(new Map(), number - 1, {
      height: number - 1,
      hash: hashOf(number - 1),
    })
    const ref = { number, hash: hashOf(number), timestamp: number * 6 * HOUR }
    await handler.handle(writer, [blockOf(ref, [CONTRACT])])
    contracts.commit()
    stored.push(...blocks)
  }
  // The verdict is an event each time, and nothing else is.
  expect(stored.map(({ block, events }) => [block.number, events.map(({ type }) => type)])).toEqual(
    asked.map(number => [number, ['VaultRejected']]),
  )
  return asked
}

test('a contract that did not answer is looked at again after three days of the chain', async () => {
  expect(await looks('unreadable: gas burnt')).toEqual([1, 13])
})

test('one that answered as something else is not', async () => {
  expect(await looks('asset() does not answer an address')).toEqual([1])
})
