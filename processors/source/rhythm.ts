/** Part of a block's time after which one that is due is looked for again where no look is to spare, and its limits in milliseconds. */
const PART = 0.1
const SHORTEST = 100
const LONGEST = 1000
/** Heads by which the time between blocks is known, and how many make it known. */
const REMEMBERED = 48
const ENOUGH = 4
/** Heads by which it is known well. */
const LEARNED = 16
/** Heads after which a chain that was caught up with says nothing of its rhythm. */
const CAUGHT_UP = 16
/** Looks for each block in the mean, unless it is set: the one that finds it, and one in vain. */
const LOOKS = 2
/** So many times more closely is looked, and one, where as many looks are to spare as may be saved up. */
const CLOSER = 3
/** Part of the time for which a block has been due that is added to the pause before the next look. */
const GROWTH = 0.35
/** Looks in vain that may be saved up. */
const SAVED = 8
/** Looks in vain beyond what is allowed: after so many the next one waits as long as a block takes, after fewer a part of that. */
const OWED = 6
/** So many are remembered. */
const MOST_OWED = 32

interface Seen {
  at: number
  height: number
}

/**
 * When to look for the next block, so that looks that find none are no more than so many for each block in the mean, whatever
 * the chain does: from the moment on at which it is expected by those before, every tenth of their distance, or more closely
 * where more looks are allowed. With less than one look a block several blocks are found at once. All times are in milliseconds
 * of one clock; those of the chain itself say nothing of when a node has a block.
 */
export class Rhythm {
  private blockTime: number
  private seen: Seen[] = []
  /** When the newest block came, as far as the rhythm says. */
  private phase = 0
  private lookedAt = 0
  private misses = 0
  /** Blocks in a row that were there at the first look: how long they had been is not known. */
  private hits = 0
  private readonly looks: number
  private spare = SAVED / 2

  /** @param looks for each block, in the mean */
  constructor(blockTime: number, looks = LOOKS) {
    this.blockTime = blockTime
    this.looks = looks
  }

  /** Between two looks for a block that is due: the closer, the more of them there are to spare. */
  private get step(): number {
    return Math.min(this.widest, Math.max(SHORTEST, this.widest / (1 + CLOSER * this.plenty)))
  }

  /** The same where none is to spare. */
  private get widest(): number {
    return this.measure / Math.max(1, this.looks - 1)
  }

  /** By which expectations are mended. */
  private get measure(): number {
    return Math.max(SHORTEST, Math.min(LONGEST, this.blockTime * PART))
  }

  /** From 0 to 1: how many looks there are to spare, beyond half of what may be saved up. */
  private get plenty(): number {
    return Math.min(1, Math.max(0, (2 * this.spare) / SAVED - 1))
  }

  /** A look, or news, said that this is the newest block. */
  saw({ at, height }: Seen): void {
    const last = this.seen.at(-1)
    this.lookedAt = at
    if (last && height <= last.height) {
      // Replaced by another one, or nothing new.
      this.misses++
      // Until the rhythm is known well it is looked for closely, unless the chain stands still.
      const isCounted = this.seen.length > LEARNED || (this.seen.length > ENOUGH && this.misses > LEARNED)
      if (isCounted) this.spare = Math.max(-MOST_OWED, this.spare - 1)
      return
    }
    const blocks = last ? height - last.height : 1
    if (blocks > CAUGHT_UP) this.seen = []
    this.follow(at, blocks)
    this.seen = [...this.seen, { at: this.phase, height }].slice(-REMEMBERED)
    this.learn()
    this.misses = 0
    this.spare = Math.min(
      SAVED * Math.max(1, this.looks - 1),
      this.spare + blocks * Math.max(0, this.looks - 1),
    )
  }

  private follow(at: number, blocks: number): void {
    const expected = this.phase + blocks * this.blockTime
    if (this.seen.length < ENOUGH) this.phase = at
    else if (this.misses === 0) {
      // The more of them, and the more looks there are to spare, the earlier is the next one looked for.
      this.hits++
      const earlier = this.measure * Math.min(1, 2 ** this.hits / 16) * Math.max(1 / 8, this.plenty)
      this.phase = Math.min(at, expected) - earlier
    } else {
      this.hits = 0
      const late = at - this.step / 2 - expected
      // Chains of slots pass over one now and then, and go on in the next.
      const skipped = Math.max(0, Math.round(late / this.blockTime)) * this.blockTime
      const off = late - skipped
      const mended = skipped + Math.max(-this.measure / 8, Math.min(this.measure, off / 2))
      this.phase = Math.min(at, expected + (skipped > 0 && Math.abs(off) > this.measure ? late : mended))
    }
    // What is far off is no rhythm.
    if (at - this.phase > this.blockTime) this.phase = at
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
    const usual = gaps.filter(({ time, blocks }) => time / blocks < 1.5 * middle)
    const sum = (of: (gap: { time: number; blocks: number }) => number) =>
      usual.reduce((all, gap) => all + of(gap), 0)
    this.blockTime = sum(({ time }) => time) / sum(({ blocks }) => blocks)
  }

  /** When to look next. `isTold`: the node says by itself when there is a block; then only in case it went quiet. */
  next(isTold = false): number {
    if (isTold && this.misses === 0) return this.lookedAt + Math.max(LONGEST, 3 * this.blockTime)
    if (this.looks < 1) return this.lookedAt + Math.max(SHORTEST, this.blockTime / this.looks)
    if (this.seen.length <= ENOUGH) return this.lookedAt + this.widest
    if (this.misses > 0) {
      const due = this.phase + this.blockTime
      // Where a slot was passed over the next block is most likely in the next.
      const slot = due + Math.max(0, Math.floor((this.lookedAt - due) / this.blockTime)) * this.blockTime
      const wait =
        this.spare >= 1
          ? this.step + Math.max(0, this.lookedAt - slot) * GROWTH * (this.plenty > 0 ? 1 : 2)
          : (this.blockTime * (1 - this.spare)) / OWED
      const most = this.spare >= 1 ? slot - this.lookedAt + this.blockTime : this.blockTime
      return this.lookedAt + Math.max(this.step, Math.min(wait, most))
    }
    return Math.max(this.lookedAt + Math.min(this.step, SHORTEST), this.phase + this.blockTime)
  }
}
