import type pg from 'pg'
import { type IgnoredContracts, readIgnored } from '../../db/registry/ignored.ts'
import { type Listed, readListed } from '../../db/registry/listed.ts'
import type { ChainRpc } from '../source/rpc.ts'

/** Milliseconds between looks at what the operator says. */
const INTERVAL = 1_000

/** What the registry leaves alone and what it lists, for one run of a processor; the next one takes over what changed. */
export class RegistryWatch {
  private readonly pool: pg.Pool
  private readonly chainId: number
  private readonly facts: IgnoredContracts
  readonly listed: Listed
  private lookedAt = performance.now()

  private constructor(pool: pg.Pool, chainId: number, facts: IgnoredContracts, listed: Listed) {
    this.pool = pool
    this.chainId = chainId
    this.facts = facts
    this.listed = listed
  }

  static async open(pool: pg.Pool, chainId: number): Promise<RegistryWatch> {
    const [ignored, listed] = await Promise.all([readIgnored(pool, chainId), readListed(pool, chainId)])
    return new RegistryWatch(pool, chainId, ignored, listed)
  }

  /** In lower case. */
  get ignored(): ReadonlySet<string> {
    return new Set(this.facts.ignored.keys())
  }

  /** Ignored once and not any more. */
  get taken(): readonly string[] {
    return [...this.facts.taken]
  }

  /** Whether another contract is to be left alone or is listed, or one is not any more. */
  async hasChanged(): Promise<boolean> {
    if (performance.now() - this.lookedAt < INTERVAL) return false
    this.lookedAt = performance.now()
    const [ignored, listed] = await Promise.all([
      readIgnored(this.pool, this.chainId, this.facts),
      readListed(this.pool, this.chainId, this.listed),
    ])
    return ignored !== this.facts || listed !== this.listed
  }
}

/** A node that is asked nothing of some contracts: as if they did not answer. */
export function withoutContracts(rpc: ChainRpc, ignored: ReadonlySet<string>): ChainRpc {
  if (ignored.size === 0) return rpc
  const isIgnored = (contract: string) => ignored.has(contract.toLowerCase())
  return {
    ...rpc,
    async calls(calls, block, onTrouble) {
      const asked = calls.filter(({ to }) => !isIgnored(to))
      const answers = await rpc.calls(asked, block, onTrouble)
      let next = 0
      return calls.map(({ to }) => (isIgnored(to) ? undefined : answers[next++]))
    },
    reader(block) {
      const reader = rpc.reader(block)
      return {
        ...reader,
        call: async (contract, data) => (isIgnored(contract) ? undefined : reader.call(contract, data)),
      }
    },
  }
}
