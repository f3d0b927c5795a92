import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { decodeEventData } from '../events/event-json.ts'
import {
  appendFacts,
  lockStreamHead,
  REGISTRY_STREAM,
  readEvents,
  registerStream,
} from '../events/event-store.ts'
import type { DomainEvent } from '../events/vocabulary.ts'
import { inTransaction } from '../postgres.ts'
import { ConfigError } from '../process/errors.ts'
import { checkFacts } from './check.ts'
import type { Fact } from './fact.ts'
import { factsOf } from './facts-file.ts'
import { feedFacts } from './feeds.ts'
import { isOfFiles } from './ignored.ts'

/**
 * Facts of every JSON file in a folder, and the feeds of assets as the list of Chainlink's contracts gives them. What
 * a file says of an asset stands before what is derived.
 * @throws ConfigError that names what is malformed, unknown or said twice
 */
export async function readFacts(folder: URL = FACTS): Promise<Fact[]> {
  const facts: Fact[] = []
  for (const file of (await readdir(folder)).filter(name => name.endsWith('.json')).sort())
    facts.push(...factsOf(file, JSON.parse(await readFile(new URL(file, folder), 'utf8'))))
  const stated = new Set(facts.map(({ subject, kind }) => `${subject} ${kind}`))
  for (const fact of feedFacts()) {
    const key = `${fact.subject} ${fact.kind}`
    if (!stated.has(key)) facts.push(fact)
    stated.add(key)
  }
  const problems = checkFacts(facts)
  if (problems.length > 0)
    throw new ConfigError(`The registry of facts is not in order:\n${problems.join('\n')}`)
  return facts
}

export const FACTS = new URL('./facts/', import.meta.url)

/**
 * Makes the registry stream say what `facts` say: what is new or changed is recorded, what is gone removed, each as
 * an event, so history shows what was held true when. What an operator said otherwise (ignored.ts) stays. Gives how many events that took; 0 when nothing changed.
 */
export async function recordFacts(
  pool: pg.Pool,
  facts: readonly Fact[],
  recordedAt: number,
): Promise<number> {
  await registerStream(pool, REGISTRY_STREAM, 'registry', 'registry')
  return inTransaction(pool, async tx => {
    await lockStreamHead(tx, REGISTRY_STREAM)
    const known = new Map<string, { subject: string; kind: string; value: string }>()
    for (const event of await readEvents(tx, REGISTRY_STREAM, { after: 0 })) {
      if (event.type === 'FactRecorded') {
        const fact = decodeEventData('FactRecorded', event.data)
        known.set(`${fact.subject} ${fact.kind}`, fact)
      } else if (event.type === 'FactRemoved') {
        const { subject, kind } = decodeEventData('FactRemoved', event.data)
        known.delete(`${subject} ${kind}`)
      }
    }
    const events: DomainEvent[] = []
    for (const fact of facts) {
      const key = `${fact.subject} ${fact.kind}`
      const value = JSON.stringify(fact.value)
      const held = known.get(key)
      if (held && !isOfFiles(held)) {
        known.delete(key)
        continue
      }
      if (known.get(key)?.value !== value) {
        events.push({
          type: 'FactRecorded',
          contract: '',
          data: { subject: fact.subject, kind: fact.kind, value },
        })
      }
      known.delete(key)
    }
    for (const fact of known.values()) {
      const { subject, kind } = fact
      if (isOfFiles(fact)) events.push({ type: 'FactRemoved', contract: '', data: { subject, kind } })
    }
    if (events.length > 0) await appendFacts(tx, REGISTRY_STREAM, events, recordedAt)
    return events.length
  })
}
