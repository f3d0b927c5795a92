/** Of what is ascending by time, the last at or before a moment. */
export function lastBy<T extends { at: number }>(items: readonly T[], moment: number): T | undefined {
  return items[lastIndexBy(items, moment)]
}

/** Index of that item; -1 where there is none. */
export function lastIndexBy(items: readonly { at: number }[], moment: number): number {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((items[middle]?.at ?? 0) <= moment) low = middle + 1
    else high = middle
  }
  return low - 1
}
