/** Names travel in the URL of a query: a hundred at a time. */
export function inHundreds<T>(names: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(names.length / 100) }, (_, i) => names.slice(100 * i, 100 * (i + 1)))
}

/** Reads of many names what is read of a hundred at a time. */
export async function inChunks<T>(
  names: readonly string[],
  read: (some: string[]) => Promise<T[]>,
): Promise<T[]> {
  return (await Promise.all(inHundreds(names).map(read))).flat()
}

/** As Map.groupBy of later Node versions. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
