import { randomUUID } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
    const draft = `${this.#path}.${process.pid}.${randomUUID()}`
    writeFileSync(draft, JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid), ...mine }))
    try {
      for (;;) {
        try {
          // Whole or not at all: nobody reads a file that is still being written.
          linkSync(draft, this.#path)
          this.#isHeld = true
          return undefined
        } catch (error) {
          if (codeOf(error) !== 'EEXIST') throw error
        }
        const owner = this.owner() ?? this.#removeStale(mine)
        if (owner) return owner
      }
    } finally {
      rmSync(draft)
    }
  }

  /**
   * Under a lock of its own: of two that found the file of a killed process, the second would remove the first one's.
   * Gives the live process that is at it.
   */
  #removeStale(mine: { port: number }): LockOwner | undefined {
    const succession = new DirectoryLock(`${this.#path}.succession`)
    const other = succession.acquire(mine)
    if (other) return other
    try {
      if (this.#read() === 'stale') rmSync(this.#path)
    } finally {
      succession.release()
    }
    return undefined
  }

  /** The live process that has the lock. */
  owner(): LockOwner | undefined {
    const found = this.#read()
    return typeof found === 'string' ? undefined : found
  }

  #read(): LockOwner | 'absent' | 'stale' {
    let text: string
    try {
      text = readFileSync(this.#path, 'utf8')
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      return 'absent'
    }
    try {
      const owner = ownerShape.parse(JSON.parse(text))
      return isAlive(owner.pid) && startOf(owner.pid) === owner.startedAt ? owner : 'stale'
    } catch {
      // Of a machine that went down before the file was on its disk.
      return 'stale'
    }
  }

  release(): void {
    if (this.#isHeld) rmSync(this.#path, { force: true })
    this.#isHeld = false
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

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
