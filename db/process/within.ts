/** How long something may take. */
export interface Patience {
  ms: number
  /** Aborted: nobody waits any more, and it counts as late at once. */
  signal?: AbortSignal
}

/**
 * What `work` gives; what `late` gives, or throws, where it takes longer than that. Then `work` hears of it by its signal,
 * and what it still does or fails at concerns nobody.
 */
export async function within<T, L>(
  { ms, signal }: Patience,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => L,
): Promise<T | L> {
  const abort = new AbortController()
  let end = () => {}
  const over = new Promise<void>(resolve => {
    end = () => resolve()
  })
  const timer = setTimeout(end, ms)
  signal?.addEventListener('abort', end, { once: true })
  if (signal?.aborted) end()
  try {
    const doing = work(abort.signal)
    const done = await Promise.race([doing.then(value => ({ value })), over])
    if (done) return done.value
    doing.catch(() => {})
    abort.abort()
    return late()
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
