import { LRUCache } from 'lru-cache'
import { toHex } from 'viem'
import { steadyNow } from '../../db/process/steady.ts'
import type { BlockAnswers, BlockReader } from './block-reader.ts'
import type { BlockMark, RawAnswer, RawCall } from './multicall.ts'

export interface ReadOptions {
  /** 'cached': from a block seen at most one block time ago. 'fresh': from a block at least as new as this request. */
  age?: 'cached' | 'fresh'
  /** This block instead of the newest. */
  block?: bigint
}

/** Calls for a new block that may be under way at once. */
const maxRunning = 4

interface Waiting {
  calls: readonly RawCall[]
  /** Wants the snapshot's block and no other. */
  pinned: boolean
  resolve(result: BlockAnswers): void
  reject(error: unknown): void
}

/** What has been read of one block. */
interface Snapshot {
  block: BlockMark
  /** When the call that found the block was sent. */
  startedAt: number
  answers: Map<string, RawAnswer>
}

/**
 * Callers of one network: what they ask within a few milliseconds goes out together, and what was read of a block is not read again
 * while the block is young.
 */
export class Lane {
  readonly #reader: BlockReader
  /** Milliseconds for which a block is young. */
  readonly #life: number
  readonly #windowMs: number
  #newest: Snapshot | undefined
  /** The last few, by block: for second reads of the same block. */
  readonly #recent = new LRUCache<bigint, Snapshot>({ max: 16 })
  /** Callers of the open window: those who want a new block. Those who complete a known one are in `#completing`. */
  #fresh: Waiting[] = []
  #timer: NodeJS.Timeout | undefined
  /** Calls for a new block that are under way; callers who take a young block wait for the newest of them. */
  readonly #running = new Set<{ startedAt: number; done: Promise<void> }>()
  readonly #completing = new Map<Snapshot, Waiting[]>()

  constructor(reader: BlockReader, { life, windowMs }: { life: number; windowMs: number }) {
    this.#reader = reader
    this.#life = life
    this.#windowMs = windowMs
  }

  read(calls: readonly RawCall[], { age = 'cached', block }: ReadOptions): Promise<BlockAnswers> {
    if (block !== undefined) {
      const known = this.#recent.get(block)
      if (!known) return this.#reader.read(calls, toHex(block))
      return new Promise<BlockAnswers>((resolve, reject) => {
        this.#enqueueOnto(known, { calls, pinned: true, resolve, reject })
      })
    }
    if (age === 'cached' && !this.#isYoung(this.#newest)) {
      const soon = [...this.#running].findLast(run => steadyNow() - run.startedAt < this.#life)
      if (soon) return soon.done.then(() => this.#enqueue(calls, age))
    }
    return this.#enqueue(calls, age)
  }

  #enqueue(calls: readonly RawCall[], age: 'cached' | 'fresh'): Promise<BlockAnswers> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { calls, pinned: false, resolve, reject }
      const newest = this.#newest
      if (age === 'cached' && this.#isYoung(newest)) {
        if (calls.every(call => newest.answers.has(keyOf(call)))) resolve(pick(newest, calls))
        else this.#enqueueOnto(newest, one)
        return
      }
      this.#enqueueFresh(one)
    })
  }

  #isYoung(snapshot: Snapshot | undefined): snapshot is Snapshot {
    return snapshot !== undefined && steadyNow() - snapshot.startedAt < this.#life
  }

  #enqueueFresh(one: Waiting) {
    this.#fresh.push(one)
    this.#openWindow()
  }

  #enqueueOnto(snapshot: Snapshot, one: Waiting) {
    const queue = this.#completing.get(snapshot)
    if (queue) {
      queue.push(one)
      return
    }
    this.#completing.set(snapshot, [one])
    setTimeout(() => {
      const waiting = this.#completing.get(snapshot) ?? []
      this.#completing.delete(snapshot)
      void this.#flush(waiting, snapshot)
    }, this.#windowMs)
  }

  #openWindow() {
    // With so many calls under way, later callers gather until one of them has come back.
    if (this.#running.size >= maxRunning) return
    this.#timer ??= setTimeout(() => {
      const waiting = this.#fresh
      this.#fresh = []
      this.#timer = undefined
      const run = { startedAt: steadyNow(), done: Promise.resolve() }
      run.done = this.#flush(waiting, undefined).finally(() => {
        this.#running.delete(run)
        if (this.#fresh.length > 0) this.#openWindow()
      })
      this.#running.add(run)
    }, this.#windowMs)
  }

  async #flush(waiting: Waiting[], onto: Snapshot | undefined) {
    const startedAt = steadyNow()
    const wanted = new Map<string, RawCall>()
    for (const { calls } of waiting) {
      for (const call of calls) {
        const key = keyOf(call)
        if (!onto?.answers.has(key)) wanted.set(key, call)
      }
    }
    try {
      const keys = [...wanted.keys()]
      const tag = onto ? toHex(onto.block.number) : 'latest'
      const { block, answers } = await this.#reader.read([...wanted.values()], tag)
      const snapshot: Snapshot = onto ?? { block, startedAt, answers: new Map() }
      for (const [n, key] of keys.entries()) {
        const answer = answers[n]
        if (answer) snapshot.answers.set(key, answer)
      }
      if (!onto) this.#recent.set(block.number, snapshot)
      // A node that lags behind may give an older block: never go back to it.
      if (!onto && (!this.#newest || block.number >= this.#newest.block.number)) this.#newest = snapshot
      for (const one of waiting) one.resolve(pick(snapshot, one.calls))
    } catch (error) {
      // A node that does not have the block of a snapshot yet, or any more: begin anew.
      if (onto) {
        if (this.#newest === onto) this.#newest = undefined
        this.#recent.delete(onto.block.number)
        for (const one of waiting) {
          if (one.pinned) one.reject(error)
          else this.#enqueueFresh(one)
        }
      } else {
        for (const one of waiting) one.reject(error)
      }
    }
  }
}

const keyOf = (call: RawCall): string => `${call.to.toLowerCase()}${call.data}`

function pick(snapshot: Snapshot, calls: readonly RawCall[]): BlockAnswers {
  const missing: RawAnswer = { success: false, data: '0x' }
  return {
    block: snapshot.block,
    answers: calls.map(call => snapshot.answers.get(keyOf(call)) ?? missing),
  }
}
