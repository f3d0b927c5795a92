/**
 * Families of read models. Each is served up to where its own projections stand: none waits for another, and one that is
 * added to a filled store changes no answer of the others.
 */
export const FACES = ['core', 'lending', 'attribution', 'bridge', 'fixed-term', 'amm', 'svm'] as const
export type Face = (typeof FACES)[number]

/** One of them, or several that an answer is made of. */
export type Faces = Face | readonly Face[]
