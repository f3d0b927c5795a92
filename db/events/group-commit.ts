/** What waits beside the transaction under way: events, and batches. */
const EVENTS = 10_000
const BATCHES = 16

/** Batches that are stored together, as soon as those before them are. */
interface Group<Batch> {
  batches: Batch[]
  events: number
  /** Rejected where those before could not be stored. */
  begun: Promise<unknown>
}

/**
 * Stores batches in their order, by transactions one after the other, of which each takes along all that was handled during the one
 * before. After a failure nothing more is stored.
 */
export class GroupCommit<Batch> {
  /** Of all that was added since it was settled. */
  newest: Batch | undefined
  private readonly store: (batches: readonly Batch[]) => Promise<unknown>
  private waiting: Group<Batch> | undefined
  private last: Promise<unknown> | undefined
  private failed: Promise<unknown> | undefined

  constructor(store: (batches: readonly Batch[]) => Promise<unknown>) {
    this.store = store
  }

  /** Until another batch may be handled. @throws what went wrong with those before, as far as it is known */
  async add(batch: Batch, events: number): Promise<void> {
    await this.failed
    this.newest = batch
    const group = this.waiting ?? this.open()
    group.batches.push(batch)
    group.events += events
    if (group.events >= EVENTS || group.batches.length >= BATCHES) await group.begun
  }

  private open(): Group<Batch> {
    const begun = this.last ?? Promise.resolve()
    const group: Group<Batch> = { batches: [], events: 0, begun }
    this.waiting = group
    const last = begun.then(() => {
      this.waiting = undefined
      return this.store(group.batches)
    })
    // Whoever comes next is told.
    last.catch(() => {
      this.failed = last
    })
    this.last = last
    return group
  }

  /** Until nothing is being stored. @throws what went wrong with it */
  async settled(): Promise<void> {
    for (let { last } = this; last; { last } = this) {
      await last
      if (this.last === last) {
        this.last = undefined
        this.newest = undefined
      }
    }
  }
}
