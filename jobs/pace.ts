import type { Job } from '../db/wake-ups.ts'

/** Milliseconds that a stream rests at most. */
const LONGEST_REST = 1_000

interface Stream {
  isBusy: boolean
  /** When its next batch may begin, by performance.now(). */
  restsUntil: number
  /** Came while it was at work or at rest. */
  waiting?: Job | undefined
  timer?: NodeJS.Timeout
}

/**
 * How often a stream's blocks are brought in: after a batch it rests for as long as the batch took. The more there is to do for
 * all of them, the longer a batch takes, the larger is the next one, and the fewer statements there are for each block.
 */
export class Pace {
  private readonly streams = new Map<number, Stream>()
  private readonly again: (job: Job) => void

  /** @param again gets a job that came too early, when it is due */
  constructor(again: (job: Job) => void) {
    this.again = again
  }

  /** Whether the job may be done now; else it is given again. */
  begin(job: Job): boolean {
    const stream = this.of(job.stream)
    if (!stream.isBusy && performance.now() >= stream.restsUntil) {
      stream.isBusy = true
      return true
    }
    if (!stream.waiting || stream.waiting.to < job.to) stream.waiting = job
    if (!stream.isBusy) this.wakeAfterRest(stream)
    return false
  }

  /**
   * @param ms that it took
   * @param again to be given again after the rest
   */
  end(id: number, ms: number, again?: Job): void {
    const stream = this.of(id)
    stream.isBusy = false
    stream.waiting ??= again
    stream.restsUntil = performance.now() + Math.min(ms, LONGEST_REST)
    if (stream.waiting) this.wakeAfterRest(stream)
  }

  stop(): void {
    for (const { timer } of this.streams.values()) clearTimeout(timer)
  }

  private of(id: number): Stream {
    const known = this.streams.get(id) ?? { isBusy: false, restsUntil: 0 }
    this.streams.set(id, known)
    return known
  }

  private wakeAfterRest(stream: Stream): void {
    if (stream.timer) return
    stream.timer = setTimeout(
      () => {
        const { waiting } = stream
        delete stream.timer
        delete stream.waiting
        if (waiting) this.again(waiting)
      },
      Math.max(0, stream.restsUntil - performance.now()),
    )
  }
}
