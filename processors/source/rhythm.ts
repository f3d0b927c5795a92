/** Part of a block's time after which one that is due is looked for again, and its limits in milliseconds. */
const PART = 0.1
const SHORTEST = 100
const LONGEST = 1000
/** Heads by which the time between blocks is known, and how many make it known. */
const REMEMBERED = 16
const ENOUGH = 4
/** Looks without a new block that may be saved up; a block earns one. */
const SAVED = 8

interface Seen {
  at: number
  height: number
}

/**
 * When to look for the next block, so that looks that find none are no more than one for each block in the mean, whatever the
 * chain does: from the moment on at which it is expected by those before, every tenth of their distance. All times are in
 * milliseconds of one clock; those of the chain itself say nothing of when a node has a block.
 */
export class Rhythm {
  private blockTime: number
  private seen: Seen[] = []
  /** When the newest block came, as far as the rhythm says. */
  private phase = 0
  private lookedAt = 0
  private misses = 0
  private spare = SAVED / 2

  constructor(blockTime: number) {
    this.blockTime = blockTime
  }

  /** Between two looks for a block that is due. */
  private get step(): number {
    return Math.max(SHORTEST, Math.min(LONGEST, this.blockTime * PART))
  }

  /** A look, or news, said that this is the newest block. */
  saw({ at, height }: Seen): void {
    const last = this.seen.at(-1)
    this.lookedAt = at
    if (last && height <= last.height) {
      // Replaced by another one, or nothing new.
      this.misses++
      this.spare = Math.max(0, this.spare - 1)
      return
    }
    const blocks = last ? height - last.height : 1
    // Caught up after a pause: that says nothing of the rhythm.
    if (blocks > REMEMBERED) this.seen = []
    this.seen = [...this.seen, { at, height }].slice(-REMEMBERED)
    const expected = this.phase + blocks * this.blockTime
    const late = this.misses === 0 ? -this.step / 8 : at - this.step / 2 - expected
    if (this.seen.length <= ENOUGH) this.phase = at
    else this.phase = Math.min(at, expected + Math.max(-this.step / 8, Math.min(this.step, late / 2)))
    // What is far off is no rhythm.
    if (at - this.phase > this.blockTime) this.phase = at
    this.learn()
    this.misses = 0
    this.spare = Math.min(SAVED, this.spare + blocks)
  }

  private learn(): void {
    const gaps = this.seen.slice(1).map((seen, i) => ({
      time: seen.at - (this.seen[i]?.at ?? 0),
      blocks: seen.height - (this.seen[i]?.height ?? 0),
    }))
    if (gaps.length < ENOUGH) return
    const each = gaps.map(({ time, blocks }) => time / blocks).sort((a, b) => a - b)
    const middle = each[each.length >> 1] ?? this.blockTime
    // A pause between two blocks is none of it.
    const usual = gaps.filter(({ time, blocks }) => time / blocks <= 2 * middle)
    const sum = (of: (gap: { time: number; blocks: number }) => number) =>
      usual.reduce((all, gap) => all + of(gap), 0)
    this.blockTime = sum(({ time }) => time) / sum(({ blocks }) => blocks)
  }

  /** When to look next. `isTold`: the node says by itself when there is a block; then only in case it went quiet. */
  next(isTold = false): number {
    if (isTold && this.misses === 0) return this.lookedAt + Math.max(LONGEST, 3 * this.blockTime)
    if (this.seen.length <= ENOUGH) return this.lookedAt + this.step
    if (this.misses > 0)
      return this.lookedAt + (this.spare > 0 ? this.step : Math.max(this.step, this.blockTime))
    return Math.max(this.lookedAt + Math.min(this.step, SHORTEST), this.phase + this.blockTime)
  }
}
