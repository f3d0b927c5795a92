import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Only who may mount can give a server a disk of its own: root, and not in every container. */
export const canMount = spawnSync('unshare', ['--mount', 'true']).status === 0

export interface SmallDisk {
  /** Leaves so many bytes free, and no more. To be repeated while it has to stay so: what is on it may shrink. */
  fill(spare: number): void
  free(): void
  unmount(): void
}

/** A file system of its own, in memory, at `folder`. */
export function mountSmallDisk(folder: string, mebibytes: number): SmallDisk {
  mkdirSync(folder, { recursive: true })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755`, 'vaultlog-faults', folder])
  const ballast = join(folder, 'ballast')
  return {
    fill(spare) {
      const file = openSync(ballast, 'a')
      for (const size of [1 << 20, 1 << 12]) {
        const chunk = Buffer.alloc(size)
        try {
          while (writeSync(file, chunk) === size);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
      }
      ftruncateSync(file, Math.max(0, fstatSync(file).size - spare))
      closeSync(file)
    },
    free: () => rmSync(ballast, { force: true }),
    // Lazily: a server that is still ending holds files open.
    unmount: () => execFileSync('umount', ['--lazy', folder]),
  }
}
