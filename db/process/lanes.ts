/**
 * Runs `work` on the items, at most `lanes` at the same time, and gives the results in the order of the items. After a failure
 * no further item is begun; it is thrown when those under way have ended.
 */
export async function inLanes<T, R>(
  lanes: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const left = items.entries()
  const done: R[] = []
  const failures: unknown[] = []
  const lane = async () => {
    for (const [i, item] of left) {
      if (failures.length > 0) return
      try {
        done[i] = await work(item)
      } catch (error) {
        failures.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  if (failures.length > 0) throw failures[0]
  return done
}
