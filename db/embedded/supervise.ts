import { log } from '../process/log.ts'
import { steadyNow } from '../process/steady.ts'

/** One run of a child process. */
export interface Run {
  pid: number
  /** Resolves with the reason when the process has ended. */
  exited: Promise<string>
  /** Asks the process to end and waits until it has. */
  stop(): Promise<void>
}

export interface Supervised {
  /** Of the present run; undefined while there is none. */
  pid(): number | undefined
  /** Idempotent; the process is gone afterwards. */
  stop(): Promise<void>
}

const firstDelayMs = 200
const longestDelayMs = 5_000
const steadyAfterMs = 30_000

/** Starts a process and starts it again whenever it ends unasked, with growing pauses. The first start may throw. */
export async function supervise(name: string, start: () => Promise<Run>): Promise<Supervised> {
  let current: Run | undefined = await start()
  let stopping: Promise<void> | undefined
  let wake: () => void = () => {}

  const keepUp = async () => {
    let delay = firstDelayMs
    while (!stopping) {
      const startedAt = steadyNow()
      const reason = current ? await current.exited : 'it did not start'
      current = undefined
      if (stopping) return
      if (steadyNow() - startedAt > steadyAfterMs) delay = firstDelayMs
      log.error({ reason, againInMs: delay }, `${name} ended unasked`)
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, delay)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      delay = Math.min(delay * 2, longestDelayMs)
      if (stopping) return
      try {
        current = await start()
        log.info({ pid: current.pid }, `${name} is up again`)
      } catch (error) {
        log.error({ err: error }, `${name} could not be started again`)
      }
    }
  }
  const keeping = keepUp()

  return {
    pid: () => current?.pid,
    stop() {
      stopping ??= (async () => {
        wake()
        await current?.stop()
        await keeping
        // A start that was under way when stop came.
        await current?.stop()
      })()
      return stopping
    },
  }
}

/** Ends a process: the signal first, SIGKILL when it has not obeyed after `patienceMs`. */
export async function end(
  kill: (signal: NodeJS.Signals) => void,
  exited: Promise<unknown>,
  signal: NodeJS.Signals,
  patienceMs: number,
): Promise<void> {
  kill(signal)
  const timer = setTimeout(() => kill('SIGKILL'), patienceMs)
  await exited
  clearTimeout(timer)
}
