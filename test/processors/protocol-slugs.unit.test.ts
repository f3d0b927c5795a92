import fc from 'fast-check'
import { type AbiEvent, toEventSelector } from 'viem'
import { expect, test } from 'vitest'
import { contracts } from '../../abi/generate.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { PROTOCOLS } from '../../db/protocols.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { createChainlink } from '../../processors/prices/chainlink.ts'
import type { Protocol, StateRead } from '../../processors/protocol.ts'
import { encodedEvent } from '../abi/arbitraries.ts'

const CONTRACT = `0x${'c'.repeat(40)}`
const feed = { proxy: `0x${'f'.repeat(40)}`, decimals: 8, aggregators: [CONTRACT] }
const protocols = (await loadProtocols()).map(p => (p.name === 'chainlink' ? createChainlink([feed]) : p))
const slugs: readonly string[] = Object.keys(PROTOCOLS)

const abi = new Map(
  contracts()
    .flatMap(({ json }) => (json as AbiEvent[]).filter(({ type }) => type === 'event'))
    .map(entry => [`${toEventSelector(entry)} ${1 + entry.inputs.filter(i => i.indexed).length}`, entry]),
)

/** What each decoder of each protocol gives, and whose it has to be. */
const decoded = protocols.flatMap(({ name, sources }) =>
  sources.flatMap(({ kind, decoders }) =>
    decoders.flatMap(decoder => {
      const event = abi.get(`${decoder.topic0} ${decoder.topicCount}`)
      const logs = event ? fc.sample(encodedEvent(event, 2n ** 50n), { numRuns: 20, seed: 3 }) : []
      const events = logs.flatMap(({ log }) =>
        decoder.decode(
          { ...log, address: CONTRACT, logIndex: 7, transactionHash: `0x${'1'.repeat(64)}` },
          { rewardToken: CONTRACT },
        ),
      )
      return [{ log: `${kind}: ${decoder.signature}`, slug: name, events }]
    }),
  ),
)

test('every event of every decoder bears the slug of its source', () => {
  expect(decoded.length).toBeGreaterThan(100)
  for (const { log, slug, events } of decoded) {
    expect(slugs).toContain(slug)
    expect(new Set(events.map(({ protocol }) => protocol)), log).toEqual(new Set([slug]))
  }
})

/** A word that is an address, a number of decimals and a boolean alike, as often as any call of ours answers with it. */
const WORD = '12'.padStart(64, '0')
const ANSWERS = Array.from({ length: 40 }, () => `0x${WORD.repeat(40)}`)

function readsOf({ samples, wants }: Protocol, event: DomainEvent): StateRead[] {
  const wanted = wants?.(event)
  return [
    ...(samples?.(event) ?? []).map(({ read }) => read),
    ...(wanted?.reads ?? []),
    ...(wanted?.lessons ?? []),
    ...(wanted?.ofHolders ? [wanted.ofHolders.read(CONTRACT)] : []),
  ]
}

test('and so does every event of state that a protocol has read because of it, and because of that', () => {
  const given = new Map<string, DomainEvent[]>()
  let events = decoded.flatMap(of => of.events.slice(0, 2))
  for (let depth = 0; depth < 3; depth++) {
    const next: DomainEvent[] = []
    for (const event of events) {
      for (const protocol of protocols) {
        const answered = readsOf(protocol, event).flatMap(read => read.events(ANSWERS))
        // A token that is described belongs to no protocol that takes it.
        for (const { protocol: slug, type } of answered)
          expect(slug).toBe(type === 'AssetDescribed' ? 'erc-20' : protocol.name)
        given.set(protocol.name, [...(given.get(protocol.name) ?? []), ...answered])
        next.push(...answered)
      }
    }
    events = next
  }
  for (const { name, samples, wants } of protocols)
    if (samples || wants) expect(given.get(name)?.length, name).toBeGreaterThan(0)
  const types = new Set([...given.values()].flat().map(({ type }) => type))
  for (const type of ['CometConfigured', 'PrincipalSampled', 'DebtSampled', 'OraclePriceSampled'] as const)
    expect(types).toContain(type)
})
