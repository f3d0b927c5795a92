import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EventType, vocabulary } from '../../../db/events/vocabulary.ts'
import { loadProtocols } from '../../../processors/load-protocols.ts'
import type { Protocol } from '../../../processors/protocol.ts'
import { arbitraryEvent, arbitraryText } from '../../db/events/arbitrary-events.ts'

const folder = join(import.meta.dirname, '../../../processors')
/** Every word that a processor could compare a text with: what an event must say to teach is found among them. */
const words = [
  ...new Set(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .flatMap(file => [...readFileSync(join(folder, file), 'utf8').matchAll(/'([a-zA-Z0-9:-]{1,30})'/g)])
      .map(([, word = '']) => word),
  ),
]
const types = Object.keys(vocabulary) as EventType[]
const protocols = await loadProtocols()
interface Answer {
  protocol: string
  type: string
  by: 'watches' | 'samples' | 'candidates'
}

const answers = new Map<string, Answer>()
const answered = (...by: Answer['by'][]) => new Map([...answers].filter(([, one]) => by.includes(one.by)))
const asked = new Map<string, { protocol: string; type: string }>()

/** Facts that the reads of an event ask for. */
function factsOf({ wants }: Protocol, event: Parameters<NonNullable<Protocol['wants']>>[0]): string[] {
  const wanted = wants?.(event)
  const facts: string[] = []
  const known = (fact: string) => {
    facts.push(fact)
    return undefined
  }
  const reads = [...(wanted?.lessons ?? []), ...(wanted?.reads ?? [])]
  for (const read of reads) {
    read.isWanted?.(known)
    read.amend?.([event], [`0x${'0'.repeat(63)}1`], known, known)
  }
  return [...facts, ...(wanted?.lessons ?? []).flatMap(({ unless }) => unless ?? [])]
}

function feed(type: EventType, text: fc.Arbitrary<string>, numRuns: number): void {
  fc.assert(
    fc.property(arbitraryEvent(type, text), fc.boolean(), (told, isOwn) => {
      for (const protocol of protocols) {
        const event = isOwn ? { ...told, protocol: protocol.name } : told
        for (const by of ['watches', 'samples', 'candidates'] as const) {
          if ((protocol[by]?.(event).length ?? 0) === 0) continue
          answers.set(`${protocol.name} ${type} ${by}`, { protocol: protocol.name, type, by })
        }
        for (const fact of factsOf(protocol, event)) {
          const [of = ''] = fact.split(' ')
          asked.set(`${protocol.name} ${of}`, { protocol: protocol.name, type: of })
        }
      }
    }),
    { numRuns },
  )
}

for (const type of types) {
  feed(type, arbitraryText(words), 200)
  for (const word of words) feed(type, fc.constant(word), 3)
}

describe.each(protocols)('$name', ({ name, teaches = [], proposes = [], remembers = [] }) => {
  const of = <T extends { protocol: string; type: string }>(all: ReadonlyMap<string, T>) => [
    ...new Set([...all.values()].filter(({ protocol }) => protocol === name).map(({ type }) => type)),
  ]

  test('learns from the types that it declares, and from no others', () => {
    expect(of(answered('watches', 'samples')).sort()).toEqual([...teaches].sort())
  })

  test('finds candidates by the types that it declares, and by no others', () => {
    expect(of(answered('candidates')).sort()).toEqual([...proposes].sort())
  })

  test('asks for the facts that it declares, and for no others', () => {
    expect(of(asked).sort()).toEqual([...remembers].sort())
  })
})
