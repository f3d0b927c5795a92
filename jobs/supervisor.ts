import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { FOLLOW_PARENT } from '../db/process/follow-parent.ts'
import { log } from '../db/process/log.ts'
import { LOADER } from '../db/process/script.ts'
import { steadyNow } from '../db/process/steady.ts'

export interface ProcessSpec {
  name: string
  /** Arguments of node, the script first. */
  args: string[]
  env?: Record<string, string>
}

export interface Supervised {
  name: string
  readonly pid: number | undefined
  /** For fault tests: the process is started again afterwards like after any crash. */
  kill(signal: NodeJS.Signals): void
}

export interface Supervisor {
  processes: Supervised[]
  stop(): Promise<void>
}

/** Below the time that a shutdown has altogether: the databases are closed after the processes. */
const STOP_DEADLINE = 12_000
const runtime = [...LOADER, ...FOLLOW_PARENT]

/**
 * Runs processes side by side and starts each again when it dies, with growing pauses. Their output goes through with
 * the name in front. `stop` ends them with SIGTERM, and with SIGKILL those that do not listen; they end, too, when this
 * process is killed.
 */
export function supervise(specs: readonly ProcessSpec[], write: (line: string) => void): Supervisor {
  let stopping = false
  const units = specs.map(spec => {
    let child: ChildProcess | undefined
    let crashes = 0
    let timer: NodeJS.Timeout | undefined
    const start = () => {
      const startedAt = steadyNow()
      child = spawn(process.execPath, [...runtime, ...spec.args], {
        env: { ...process.env, ...spec.env },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      })
      for (const stream of [child.stdout, child.stderr]) {
        if (stream) createInterface({ input: stream }).on('line', line => write(`${spec.name} | ${line}`))
      }
      child.once('exit', (code, signal) => {
        child = undefined
        if (stopping) return
        if (code === 0) {
          log.info({ process: spec.name }, 'process ended by itself')
          return
        }
        crashes = steadyNow() - startedAt > 60_000 ? 1 : crashes + 1
        const pause = Math.min(30_000, 250 * 2 ** crashes)
        log.warn({ process: spec.name, code, signal, pause }, 'process ended, starting it again')
        timer = setTimeout(start, pause)
      })
    }
    start()
    return {
      name: spec.name,
      get pid() {
        return child?.pid
      },
      kill: (signal: NodeJS.Signals) => void child?.kill(signal),
      async stop() {
        clearTimeout(timer)
        const running = child
        if (!running) return
        await new Promise<void>(resolve => {
          running.once('exit', () => resolve())
          running.kill('SIGTERM')
          setTimeout(() => running.kill('SIGKILL'), STOP_DEADLINE).unref()
        })
      },
    }
  })
  return {
    processes: units,
    async stop() {
      stopping = true
      await Promise.all(units.map(unit => unit.stop()))
    },
  }
}
