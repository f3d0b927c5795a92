/**
 * Families of read models. Each is served up to where its own projections stand: none waits for another, and one that is
 * added to a filled store changes no answer of the others.
 */
export const FACES = ['core', 'lending', 'attribution', 'bridge', 'fixed-term', 'amm', 'svm'] as const
export type Face = (typeof FACES)[number]
