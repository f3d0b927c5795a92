import fc from 'fast-check'
import { type AbiEvent, toEventSelector, toEventSignature } from 'viem'
import { describe, expect, test } from 'vitest'
import { contracts } from '../../abi/generate.ts'
import { vocabulary } from '../../db/events/vocabulary.ts'
import { ConfigError, MalformedLogError } from '../../db/process/errors.ts'
import { createDecoder } from '../../processors/handling/decode.ts'
import { loadProtocols, refuseDuplicates } from '../../processors/load-protocols.ts'
import { createChainlink } from '../../processors/prices/chainlink.ts'
import type { Protocol } from '../../processors/protocol.ts'
import { encodedEvent } from '../abi/arbitraries.ts'

const CONTRACT = `0x${'c'.repeat(40)}`
const feed = { proxy: `0x${'f'.repeat(40)}`, decimals: 8, aggregators: [CONTRACT] }
const loaded = await loadProtocols()
// Chainlink's protocol reads nothing before its feeds are resolved.
const protocols = loaded.map(p => (p.name === 'chainlink' ? createChainlink([feed]) : p))

/** Every event of every ABI of the repository, by topic0 and number of topics. */
const abi = new Map<string, AbiEvent>()
for (const { json } of contracts()) {
  for (const entry of json as AbiEvent[]) {
    if (entry.type !== 'event') continue
    abi.set(`${toEventSelector(entry)} ${1 + entry.inputs.filter(i => i.indexed).length}`, entry)
  }
}

const decoders = protocols.flatMap(protocol =>
  protocol.sources.flatMap(source =>
    source.decoders.map(decoder => ({
      name: `${source.kind}: ${decoder.signature}`,
      protocol,
      source,
      decoder,
    })),
  ),
)

describe.each(decoders)('$name', ({ protocol, source, decoder }) => {
  const event = abi.get(`${decoder.topic0} ${decoder.topicCount}`)

  test('is an event of an ABI, gives events of the vocabulary, and the same ones each time', () => {
    if (!event) throw new Error(`no ABI has ${decoder.signature} with ${decoder.topicCount} topics`)
    expect(toEventSignature(event)).toBe(decoder.signature)
    // One log may say nothing worth an event (a mint of no more than interest), all of them may not.
    let given = 0
    const vault = { rewardToken: CONTRACT }
    fc.assert(
      fc.property(encodedEvent(event, 2n ** 50n), ({ log }) => {
        const raw = { ...log, address: CONTRACT, logIndex: 7, transactionHash: `0x${'1'.repeat(64)}` }
        const events = decoder.decode(raw, vault)
        given += events.length
        for (const { type, contract, logIndex, transactionHash, data } of events) {
          expect(decoder.gives).toContain(type)
          expect({ contract, logIndex, transactionHash }).toEqual({
            contract: raw.address,
            logIndex: raw.logIndex,
            transactionHash: raw.transactionHash,
          })
          // Parsing drops what the vocabulary does not know: equality says that there is nothing of the kind.
          expect(vocabulary[type].parse(data)).toEqual(data)
        }
        expect(decoder.decode(structuredClone(raw), vault)).toEqual(events)
      }),
      { numRuns: 25 },
    )
    expect(given).toBeGreaterThan(0)
  })

  test('goes the whole way through the decoder', () => {
    if (!event) throw new Error('no ABI')
    const [sample] = fc.sample(encodedEvent(event, 2n ** 50n), { numRuns: 1, seed: 1 })
    if (!sample) throw new Error('no sample')
    const raw = { ...sample.log, address: CONTRACT, logIndex: 0, transactionHash: `0x${'1'.repeat(64)}` }
    const decoded = createDecoder(protocols, 'mainnet').decodeBlock([raw], {
      isWatched: kind => kind === source.kind,
      isInspected: () => false,
    })
    expect(decoded.rejected).toEqual([])
    const alone = decoder.decode(raw)
    const expected = protocol.reconcile ? protocol.reconcile(alone) : alone
    expect(decoded.events.map(e => e.type)).toEqual(expected.map(e => e.type))
  })
})

test('what there is: protocol, kind, signature, events', () => {
  const table = loaded.map(({ name, sources }) => ({
    name,
    kinds: sources.map(({ kind, at, decoders: list }) => ({
      kind,
      at: typeof at === 'string' ? at : Object.keys(at).join(' '),
      decoders: list.map(d => `${d.signature} → ${d.gives.join(', ')}`),
    })),
  }))
  expect(table).toMatchSnapshot()
})

describe('the loader refuses', () => {
  const erc4626 = loaded.find(p => p.name === 'erc-4626') as Protocol
  test('a second protocol of the same name', () => {
    expect(() => refuseDuplicates([erc4626, { name: 'erc-4626', sources: [] }])).toThrow(ConfigError)
  })
  test('a kind that two protocols claim', () => {
    expect(() => refuseDuplicates([erc4626, { ...erc4626, name: 'other' }])).toThrow(
      /both claim the kind erc-4626/,
    )
  })
  test('the same log twice on one kind', () => {
    const [source] = erc4626.sources
    if (!source) throw new Error('no source')
    const twice = { ...source, decoders: [...source.decoders, ...source.decoders] }
    expect(() => refuseDuplicates([{ name: 'x', sources: [twice] }])).toThrow(
      /Deposit\(address,address,uint256,uint256\)/,
    )
  })
})

test('a price of an aggregator that no feed is known to have is refused, not guessed', () => {
  const decoder = createChainlink([]).sources[0]?.decoders[0]
  const event = abi.get(`${decoder?.topic0} ${decoder?.topicCount}`)
  if (!event || !decoder) throw new Error('no AnswerUpdated')
  const [sample] = fc.sample(encodedEvent(event, 2n ** 50n), { numRuns: 1, seed: 1 })
  if (!sample) throw new Error('no sample')
  const raw = { ...sample.log, address: CONTRACT, logIndex: 0, transactionHash: '0x' }
  expect(() => decoder.decode(raw)).toThrow(MalformedLogError)
})
