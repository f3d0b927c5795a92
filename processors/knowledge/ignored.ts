import type pg from 'pg'
import { type IgnoredContracts, readIgnored } from '../../db/registry/ignored.ts'
import type { ChainRpc } from '../source/rpc.ts'

/** Milliseconds between looks at what the operator says. */
const INTERVAL = 1_000

/** What the operator has left alone, for one run of a processor; the next one takes over what changed. */
export class IgnoredWatch {
  private readonly pool: pg.Pool
  private readonly chainId: number
  private readonly facts: IgnoredContracts
  private lookedAt = performance.now()

  private constructor(pool: pg.Pool, chainId: number, facts: IgnoredContracts) {
    this.pool = pool
    this.chainId = chainId
    this.facts = facts
  }

  static async open(pool: pg.Pool, chainId: number): Promise<IgnoredWatch> {
    return new IgnoredWatch(pool, chainId, await readIgnored(pool, chainId))
  }

  /** In lower case. */
  get contracts(): ReadonlySet<string> {
    return new Set(this.facts.ignored.keys())
  }

  /** Ignored once and not any more. */
  get taken(): readonly string[] {
    return [...this.facts.taken]
  }

  /** Whether another contract is to be left alone, or one is not any more. */
  async hasChanged(): Promise<boolean> {
    if (performance.now() - this.lookedAt < INTERVAL) return false
    this.lookedAt = performance.now()
    return (await readIgnored(this.pool, this.chainId, this.facts)) !== this.facts
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
