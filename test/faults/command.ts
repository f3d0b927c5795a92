import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../built.ts'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  /** What it has said so far, both outputs together. */
  said(): string
  ended: Promise<Finished>
  /** Resolves when it has said something that matches; rejects when it ends before. */
  until(pattern: RegExp): Promise<void>
}

/** A process of the product as an operator starts it, in the root of the repository or of another build. */
export function start(args: string[], env: Record<string, string>, build = root): Running {
  const child = spawn(process.execPath, build === root ? argumentsOf(args) : ['--import', 'tsx', ...args], {
    cwd: build,
    env: { ...process.env, NO_COLOR: '1', SQD_WARN: '*', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const listeners = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
    for (const listener of listeners) listener()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
    for (const listener of listeners) listener()
  })
  const ended = new Promise<Finished>(resolve => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return {
    child,
    said: () => stdout + stderr,
    ended,
    until: pattern =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(stdout + stderr)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        look()
        void ended.then(({ code, signal }) =>
          reject(new TypeError(`ended (${signal ?? code}) without ${pattern}: ${stderr.slice(-2000)}`)),
        )
      }),
  }
}

/** `vaultlog …` to its end. */
export function vaultlog(env: Record<string, string>, ...args: string[]): Promise<Finished> {
  return start(['jobs/cli.ts', ...args], { LOG_LEVEL: 'warn', ...env }).ended
}
