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
