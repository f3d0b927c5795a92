/** Numbers that follow from a seed alone. Only + - * / on doubles, which are the same on every machine. */
export interface Random {
  /** In [0, 1). */
  next(): number
  /** Integer in [0, n). */
  below(n: number): number
  between(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T | undefined
}

/** mulberry32 (public domain, Tommy Ettinger). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (n: number) => Math.floor(next() * n)
  return {
    next,
    below,
    between: (low, high) => low + next() * (high - low),
    chance: probability => next() < probability,
    pick: values => values[below(values.length)],
  }
}
