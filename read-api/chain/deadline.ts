import { ChainUnavailableError } from './errors.ts'

/** A moment by which chains have to have answered; the end of `signal` ends it at once. `cancel` when done. */
export function deadline(ms: number, signal: AbortSignal) {
  let timer: NodeJS.Timeout | undefined
  let end = () => {}
  const over = new Promise<void>(resolve => {
    end = resolve
    timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', end, { once: true })
  })
  return {
    passed: (network: string): Promise<never> =>
      over.then(() => {
        throw new ChainUnavailableError(network)
      }),
    cancel() {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    },
  }
}
