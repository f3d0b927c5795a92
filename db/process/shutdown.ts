import { log } from './log.ts'

interface Hook {
  name: string
  run: () => Promise<void> | void
}

const deadlineMs = 15_000
const hooks: Hook[] = []
let running: Promise<void> | undefined
let isListening = false

/**
 * Registers what has to be closed before this process ends; the last registered is closed first. The first call
 * takes over SIGINT and SIGTERM. Returns a function that withdraws the registration.
 *
 * The process exits with 0 when everything closed, 1 when a hook failed or 15 seconds passed, and at once with 130
 * on a second Ctrl-C, if that is not the first once more.
 */
export function onShutdown(name: string, run: () => Promise<void> | void): () => void {
  listen()
  const hook = { name, run }
  hooks.push(hook)
  return () => {
    const at = hooks.indexOf(hook)
    if (at >= 0) hooks.splice(at, 1)
  }
}

/** Runs the hooks and exits. `exitCode` is what a clean shutdown exits with. */
export function shutdown(reason: string, exitCode = 0): Promise<void> {
  running ??= closeAll(reason, exitCode)
  return running
}

function listen(): void {
  if (isListening) return
  isListening = true
  onInterrupt(signal => void shutdown(signal))
}

/** npm passes a Ctrl-C on to a process that has it from the terminal already: what follows this soon is the same. */
const SAME_MS = 1_000

/** Calls back on the first SIGINT or SIGTERM; a later SIGINT ends the process at once, with 130. */
export function onInterrupt(begin: (signal: NodeJS.Signals) => void): void {
  let begunAt: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (begunAt === undefined) {
        begunAt = performance.now()
        begin(signal)
      } else if (signal === 'SIGINT' && performance.now() - begunAt > SAME_MS) process.exit(130)
    })
  }
}

async function closeAll(reason: string, exitCode: number): Promise<void> {
  log.info({ reason }, 'shutting down')
  const deadline = setTimeout(() => {
    log.error({ waitingFor: hooks.map(h => h.name) }, `not closed after ${deadlineMs / 1000} s, exiting`)
    process.exit(1)
  }, deadlineMs)
  let code = exitCode
  for (let hook = hooks.at(-1); hook; hook = hooks.at(-1)) {
    try {
      await hook.run()
    } catch (error) {
      log.error({ err: error, hook: hook.name }, 'could not be closed')
      code ||= 1
    }
    const at = hooks.indexOf(hook)
    if (at >= 0) hooks.splice(at, 1)
  }
  clearTimeout(deadline)
  process.exit(code)
}
