import { z } from 'zod'
import { log } from '../../db/process/log.ts'
import { type Facts, kindSchema, type RewardFact } from '../../db/registry/kinds.ts'

/** How an asset's price was made from a moment on (unix seconds). */
export interface Quote extends Pick<Facts<'asset'>, 'feed' | 'peg'> {
  readonly since: number
}

interface Rewarded {
  readonly since: number
  readonly rewards: readonly RewardFact[]
}

/**
 * All curated facts in force, by subject: `vault:<chainId>:<address>`, `asset:<chainId>:<address>`,
 * `contract:<chainId>:<address>`, `market:<chainId>:<marketId>`, `protocol:<name>`, `curator:<name>`. db/registry/kinds.ts says what a fact's value is. Immutable: with() gives another.
 */
export class FactBook {
  private readonly subjects: ReadonlyMap<string, Readonly<Record<string, unknown>>>
  /** What was said of an asset's price over time, oldest first, by subject. */
  private readonly quotes: ReadonlyMap<string, readonly Quote[]>
  /** What was said of a vault's rewards over time, likewise. */
  private readonly rewards: ReadonlyMap<string, readonly Rewarded[]>
  private readonly named = new Map<number, string[]>()

  constructor(
    subjects: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map(),
    quotes: ReadonlyMap<string, readonly Quote[]> = new Map(),
    rewards: ReadonlyMap<string, readonly Rewarded[]> = new Map(),
  ) {
    this.subjects = subjects
    this.quotes = quotes
    this.rewards = rewards
  }

  vault(chainId: number, vault: string): Facts<'vault'> {
    return (this.subjects.get(`vault:${chainId}:${vault}`) ?? NONE) as Facts<'vault'>
  }

  /** Whether an operator has left a contract alone: as a vault it is not served. */
  isIgnored(chainId: number, contract: string): boolean {
    return this.contract(chainId, contract).ignored !== undefined
  }

  /** What is said of a lending market, by its id in lower case. */
  market(chainId: number, id: string): Facts<'market'> {
    return (this.subjects.get(`market:${chainId}:${id}`) ?? NONE) as Facts<'market'>
  }

  contract(chainId: number, contract: string): Facts<'contract'> {
    return (this.subjects.get(`contract:${chainId}:${contract}`) ?? NONE) as Facts<'contract'>
  }

  asset(chainId: number, asset: string): Facts<'asset'> {
    return (this.subjects.get(`asset:${chainId}:${asset}`) ?? NONE) as Facts<'asset'>
  }

  /** Assets of a chain of which anything is said. */
  assetsOf(chainId: number): string[] {
    const known = this.named.get(chainId)
    if (known) return known
    const prefix = `asset:${chainId}:`
    const found = [...this.subjects.keys()].flatMap(subject =>
      subject.startsWith(prefix) ? [subject.slice(prefix.length)] : [],
    )
    this.named.set(chainId, found)
    return found
  }

  /**
   * What made an asset's price at a moment (unix seconds), and when that was next changed. The first statement holds for
   * the time before it as well: a feed was the asset's feed before anybody wrote it down.
   */
  quoteAt(
    chainId: number,
    asset: string,
    at: number,
  ): { quote: Quote | undefined; until: number | undefined } {
    const quotes = this.quotes.get(`asset:${chainId}:${asset}`) ?? []
    return { quote: inForce(quotes, at), until: quotes.find(({ since }) => since > at)?.since }
  }

  /** The rewards of a vault as they were written down at a moment (unix seconds); undefined where none ever were. */
  rewardsAt(chainId: number, vault: string, at: number): readonly RewardFact[] | undefined {
    return inForce(this.rewards.get(`vault:${chainId}:${vault}`) ?? [], at)?.rewards
  }

  protocol(name: string): Facts<'protocol'> {
    return (this.subjects.get(`protocol:${name}`) ?? NONE) as Facts<'protocol'>
  }

  curator(name: string): Facts<'curator'> {
    return (this.subjects.get(`curator:${name}`) ?? NONE) as Facts<'curator'>
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
    const quotes = new Map(this.quotes)
    const rewards = new Map(this.rewards)
    for (const { subject: raw, kind, value, removed, recorded_at } of changes) {
      const subject = raw.replaceAll(/0x[0-9a-fA-F]{40,64}/g, match => match.toLowerCase())
      const schema = kindSchema(subject, kind)
      if (!schema) continue
      const facts: Record<string, unknown> = { ...subjects.get(subject) }
      delete facts[kind]
      subjects.set(subject, facts)
      const remember = () => {
        if (subject.startsWith('asset:') && (kind === 'feed' || kind === 'peg')) {
          const { feed, peg } = facts as Facts<'asset'>
          quotes.set(subject, [...(quotes.get(subject) ?? []), { since: recorded_at, feed, peg }])
        } else if (subject.startsWith('vault:') && kind === 'rewards') {
          const listed = (facts as Facts<'vault'>).rewards ?? []
          rewards.set(subject, [...(rewards.get(subject) ?? []), { since: recorded_at, rewards: listed }])
        }
      }
      if (removed) remember()
      else {
        const parsed = schema.safeParse(parseJson(value))
        if (!parsed.success) {
          log.warn({ subject, kind, problem: z.prettifyError(parsed.error) }, 'a curated fact is malformed')
          continue
        }
        facts[kind] = parsed.data
        remember()
      }
    }
    return new FactBook(subjects, quotes, rewards)
  }
}

const NONE = Object.freeze({})

/** The statement that held at a moment, of several, oldest first; the first holds for the time before it as well. */
function inForce<T extends { since: number }>(statements: readonly T[], at: number): T | undefined {
  return statements.findLast(({ since }) => since <= at) ?? statements[0]
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A plain word is a string fact.
    return text
  }
}
