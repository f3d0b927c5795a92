import type { ClickHouseClient } from '@clickhouse/client'
import { LRUCache } from 'lru-cache'
import { findNetwork } from '../../db/networks.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { Turns } from '../../db/process/turns.ts'
import { within } from '../../db/process/within.ts'
import type { RuleState, StoredRule } from '../../db/webhooks/rules.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { standOfChains } from '../http/entity-tags.ts'
import type { ChainMoment } from '../moment/snapshot.ts'
import { type Kind, kindOf } from './kinds.ts'
import { observeFigure } from './metrics.ts'

/** Figures that are read at the same time: requests come first. */
const AT_ONCE = 2
/** How long reading a figure may take: others wait for their turn. */
const READ_MS = 5_000
/** Milliseconds after which a caller goes on without a figure, whose reading may still wait for its turn. */
const PATIENCE_MS = 60_000
/** One that could not be read is left alone for so long, whoever asks. */
const REST_MS = 30_000
/** The newest of each figure is kept, for all rules that watch it. */
const MOST_FIGURES = 50_000

/** Where what a rule watches stands. */
export interface Standpoint {
  kind: Kind
  chainId: number
  /** Of the rule's own chain. */
  chain: ChainMoment
  /** Of each chain that the figure is made of, or that fired the open alert. */
  positions: ReadonlyMap<number, number>
  /** While it is the same, the figure is: positions, blocks, the registry, and which tables are whole. */
  stand: string
}

/** Undefined where its chain is not served. */
export function standpointOf(
  { rule, fired }: Pick<RuleState, 'rule' | 'fired'>,
  catalogue: Catalogue,
): Standpoint | undefined {
  const kind = kindOf(rule.kind)
  const chainId = findNetwork(rule.network)?.chainId ?? 0
  const chain = catalogue.chain(chainId, kind?.face)
  if (!kind || !chain) return undefined
  const positions = new Map([[chainId, chain.position]])
  for (const other of [...(kind.alsoOn?.(rule, catalogue, chainId) ?? []), ...(fired?.keys() ?? [])]) {
    const position = catalogue.chain(other)?.position
    if (position !== undefined && !positions.has(other)) positions.set(other, position)
  }
  return {
    kind,
    chainId,
    chain,
    positions,
    stand: standOfChains(catalogue, [...positions.keys()], kind.face),
  }
}

interface Reading {
  stand: string
  value: Promise<string | undefined>
  isOver: boolean
  /** The last reading failed: it is not tried again before then. */
  restsUntil?: number
}

/** What rules watch, read once for each moment however many of them watch it. */
export class Figures {
  private readonly clickhouse: ClickHouseClient
  private readonly readMs: number
  private readonly restMs: number
  private readonly known = new LRUCache<string, Reading>({ max: MOST_FIGURES })
  private readonly reading = new Turns(AT_ONCE)

  constructor(clickhouse: ClickHouseClient, { readMs = READ_MS, restMs = REST_MS } = {}) {
    this.clickhouse = clickhouse
    this.readMs = readMs
    this.restMs = restMs
  }

  /** A decimal, or NOTHING; undefined: not known. @throws UnavailableError it could not be read in time */
  async of(
    rule: StoredRule,
    at: Standpoint,
    catalogue: Catalogue,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (at.kind.find) return at.kind.find(rule, catalogue, at.chainId)
    return within(
      { ms: PATIENCE_MS, signal },
      signal => this.latest(rule, at, catalogue, signal),
      () => {
        throw new UnavailableError('It was waited for in vain.')
      },
    )
  }

  private async latest(
    rule: StoredRule,
    at: Standpoint,
    catalogue: Catalogue,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { threshold, ...figure } = rule
    const key = JSON.stringify(Object.entries(figure).sort(([a], [b]) => (a < b ? -1 : 1)))
    for (let known = this.known.get(key); known; known = this.known.get(key)) {
      const { restsUntil, stand } = known
      if (restsUntil === undefined ? stand === at.stand : performance.now() < restsUntil) return known.value
      if (known.isOver) break
      // That of another moment is under way: no figure waits for more than one turn.
      await known.value.catch(() => {})
      if (signal.aborted) return undefined
    }
    const reading: Reading = { stand: at.stand, value: this.read(rule, at, catalogue), isOver: false }
    this.known.set(key, reading)
    const end = (outcome: 'read' | 'failed') => {
      reading.isOver = true
      observeFigure(outcome)
    }
    reading.value.then(
      () => end('read'),
      () => {
        reading.restsUntil = performance.now() + this.restMs
        end('failed')
      },
    )
    return reading.value
  }

  private read(
    rule: StoredRule,
    { kind, chainId }: Standpoint,
    catalogue: Catalogue,
  ): Promise<string | undefined> {
    const deps = { clickhouse: this.clickhouse }
    return this.reading.turn(() =>
      within(
        { ms: this.readMs },
        async signal => kind.read?.(rule, { catalogue, deps, signal, touch() {} }, chainId),
        () => {
          throw new UnavailableError(`It took more than ${this.readMs / 1000} s to read.`)
        },
      ),
    )
  }
}
