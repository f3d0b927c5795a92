import { z } from 'zod'
import { log } from '../../db/process/log.ts'
import { type Facts, kindSchema } from '../../db/registry/kinds.ts'

/**
 * All curated facts in force, by subject: `vault:<chainId>:<address>`, `asset:<chainId>:<address>`, `protocol:<name>`,
 * `curator:<name>`. db/registry/kinds.ts says what a fact's value is. Immutable: with() gives another.
 */
export class FactBook {
  private readonly subjects: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** Unix seconds at which each `subject kind` was last recorded. */
  private readonly times: ReadonlyMap<string, number>

  constructor(
    subjects: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map(),
    times: ReadonlyMap<string, number> = new Map(),
  ) {
    this.subjects = subjects
    this.times = times
  }

  vault(chainId: number, vault: string): Facts<'vault'> {
    return (this.subjects.get(`vault:${chainId}:${vault}`) ?? NONE) as Facts<'vault'>
  }

  asset(chainId: number, asset: string): Facts<'asset'> {
    return (this.subjects.get(`asset:${chainId}:${asset}`) ?? NONE) as Facts<'asset'>
  }

  protocol(name: string): Facts<'protocol'> {
    return (this.subjects.get(`protocol:${name}`) ?? NONE) as Facts<'protocol'>
  }

  curator(name: string): Facts<'curator'> {
    return (this.subjects.get(`curator:${name}`) ?? NONE) as Facts<'curator'>
  }

  recordedAt(subject: string, kind: string): number | undefined {
    return this.times.get(`${subject} ${kind}`)
  }

  /** Applies changes. A fact of a kind that is not known here is another reader's; a malformed one is reported and left out. */
  with(
    changes: readonly {
      subject: string
      kind: string
      value: string
      removed: number
      recorded_at: number
    }[],
  ): FactBook {
    if (changes.length === 0) return this
    const subjects = new Map(this.subjects)
    const times = new Map(this.times)
    for (const { subject: raw, kind, value, removed, recorded_at } of changes) {
      const subject = raw.replace(/0x[0-9a-fA-F]{40}/, match => match.toLowerCase())
      const schema = kindSchema(subject, kind)
      if (!schema) continue
      const facts: Record<string, unknown> = { ...subjects.get(subject) }
      delete facts[kind]
      times.delete(`${subject} ${kind}`)
      subjects.set(subject, facts)
      if (!removed) {
        const parsed = schema.safeParse(parseJson(value))
        if (!parsed.success) {
          log.warn({ subject, kind, problem: z.prettifyError(parsed.error) }, 'a curated fact is malformed')
          continue
        }
        facts[kind] = parsed.data
        times.set(`${subject} ${kind}`, recorded_at)
      }
    }
    return new FactBook(subjects, times)
  }
}

const NONE = Object.freeze({})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A plain word is a string fact.
    return text
  }
}
