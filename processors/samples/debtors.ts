import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import type { StateRead } from '../protocol.ts'

type Principals = ReadonlyMap<string, bigint>
const keyOf = (contract: string, account: string) => `${contract} ${account}`

/**
 * Debts that no log tells of: of Compound v3 one that moves from borrower to borrower, and what rounding takes. Who owes in
 * a market by what is stored is asked with its hourly sample, and what differs from that is kept.
 */
export class Debtors {
  private readonly load: (contract: string) => Promise<Principals>
  private readonly stored = new Map<string, Map<string, bigint>>()
  /** Those of the batch under way, by contract and account. */
  private told = new Map<string, { contract: string; account: string; principal: bigint }>()
  private readonly asked = new WeakSet<DomainEvent>()

  constructor(load: (contract: string) => Promise<Principals>) {
    this.load = load
  }

  /** What is known is of another branch, or of a batch that was not stored. */
  forget(): void {
    this.stored.clear()
    this.told.clear()
  }

  /** The batch is stored. */
  commit(): void {
    for (const { contract, account, principal } of this.told.values())
      this.stored.get(contract)?.set(account, principal)
    this.told.clear()
  }

  /** Reads of all that owe in a contract before the batch. */
  async reads(contract: string, read: (account: string) => StateRead): Promise<StateRead[]> {
    const known = this.stored.get(contract) ?? new Map(await this.load(contract))
    this.stored.set(contract, known)
    return [...known]
      .filter(([, principal]) => principal < 0n)
      .map(([account]) => {
        const asked = read(account)
        return {
          ...asked,
          key: `hourly ${asked.key}`,
          events: answers => {
            const events = asked.events(answers)
            for (const event of events) this.asked.add(event)
            return events
          },
        }
      })
  }

  /** Leaves out of a batch what was asked and is no other than what was known. */
  leaveOutKnown(output: BlockEvents[]): void {
    this.told.clear()
    const known = ({ contract, data }: DomainEvent<'PrincipalSampled'>) =>
      this.told.get(keyOf(contract, data.account))?.principal ?? this.stored.get(contract)?.get(data.account)
    const note = ({ contract, data: { account, principal } }: DomainEvent<'PrincipalSampled'>) =>
      this.told.set(keyOf(contract, account), { contract, account, principal })
    for (const entry of [...output].sort((a, b) => a.block.number - b.block.number)) {
      for (const event of entry.events)
        if (event.type === 'PrincipalSampled' && !this.asked.has(event)) note(event)
      entry.events = entry.events.filter(event => {
        if (event.type !== 'PrincipalSampled' || !this.asked.has(event)) return true
        if (known(event) === event.data.principal) return false
        note(event)
        return true
      })
    }
  }
}
