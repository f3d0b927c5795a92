import type { Catalogue } from './catalogue.ts'

/** Makes a read of a chain that is done once for each moment of the catalogue, however many requests ask; a failed one again. */
export function perMoment<C extends { catalogue: Catalogue }, T>(
  read: (context: C, chain: number) => Promise<T>,
): (context: C, chain: number) => Promise<T> {
  const known = new WeakMap<Catalogue, Map<number, Promise<T>>>()
  return (context, chain) => {
    const byChain = known.get(context.catalogue) ?? new Map<number, Promise<T>>()
    known.set(context.catalogue, byChain)
    const before = byChain.get(chain)
    if (before) return before
    const reading = read(context, chain)
    byChain.set(chain, reading)
    reading.catch(() => byChain.delete(chain))
    return reading
  }
}
