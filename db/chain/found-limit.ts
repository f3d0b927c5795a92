/** Answers in a row after which what was refused is asked for again: limits differ by how full blocks are, and change. */
const ANSWERS_BEFORE_WIDENING = 8

export interface FoundLimit {
  now(): number
  /** So much at once was refused. */
  refused(amount: number): void
  answered(amount: number): void
}

/** How much a node does at once, found by trying: halved where it refuses, doubled while it answers. */
export function openFoundLimit(most: number, least = 1): FoundLimit {
  let limit = most
  let refusedAt = Number.POSITIVE_INFINITY
  let inARow = 0
  return {
    now: () => limit,
    refused(amount) {
      // What was under way when the limit was lowered tells nothing new.
      if (amount > limit) return
      refusedAt = amount
      limit = Math.max(least, Math.floor(amount / 2))
      inARow = 0
    },
    answered(amount) {
      if (amount < limit) return
      inARow++
      if (inARow >= ANSWERS_BEFORE_WIDENING) {
        refusedAt = Number.POSITIVE_INFINITY
        inARow = 0
      }
      if (limit * 2 < refusedAt) limit = Math.min(most, limit * 2)
    },
  }
}
