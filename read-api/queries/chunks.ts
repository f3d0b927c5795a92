/** Names travel in the URL of a query: a hundred at a time. */
export function inHundreds<T>(names: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(names.length / 100) }, (_, i) => names.slice(100 * i, 100 * (i + 1)))
}
