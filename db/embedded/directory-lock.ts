import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { z } from 'zod'

const ownerShape = z.object({ pid: z.number().int(), startedAt: z.string(), port: z.number().int() })
export type LockOwner = z.infer<typeof ownerShape>

/**
 * A file that says which live process owns a directory. The start time of the process is kept beside its id, so that
 * the file of a killed process is seen to be stale even when its id is in use again (Linux; elsewhere the id alone).
 */
export class DirectoryLock {
  readonly #path: string
  #isHeld = false

  constructor(path: string) {
    this.#path = path
  }

  /** Takes the lock, or gives the live process that has it. */
  acquire(mine: { port: number }): LockOwner | undefined {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        const file = openSync(this.#path, 'wx')
        writeSync(file, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid), ...mine }))
        closeSync(file)
        this.#isHeld = true
        return undefined
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
        const owner = this.owner()
        if (owner) return owner
        // Between the other's two calls the file is empty; one that stays so is a killed process's.
        if (this.#isEmpty() && attempt < 3) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
        else rmSync(this.#path, { force: true })
      }
    }
    return this.owner()
  }

  /** The live process that has the lock. */
  owner(): LockOwner | undefined {
    try {
      const owner = ownerShape.parse(JSON.parse(readFileSync(this.#path, 'utf8')))
      return isAlive(owner.pid) && startOf(owner.pid) === owner.startedAt ? owner : undefined
    } catch {
      // No file, or one that a killed process left half written.
      return undefined
    }
  }

  #isEmpty(): boolean {
    try {
      return readFileSync(this.#path).length === 0
    } catch {
      return false
    }
  }

  release(): void {
    if (this.#isHeld) rmSync(this.#path, { force: true })
    this.#isHeld = false
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Field 22 of /proc/<pid>/stat, clock ticks since boot; empty where there is no /proc or the process is a zombie. */
export function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? '')
  } catch {
    return ''
  }
}
