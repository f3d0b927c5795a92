import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { DirectoryLock } from '../../../db/embedded/directory-lock.ts'

/**
 * Takes the lock at `path` `times` times, leaves it every second time as a killed process does, and prints how often
 * another process had it too: who holds the lock makes a file, and finds there is none.
 */
const [path = '', times = '0'] = process.argv.slice(2)
const inside = `${path}.inside`
const left = `${path}.left.${process.pid}`
let others = 0
for (let had = 0; had < Number(times); ) {
  const lock = new DirectoryLock(path)
  if (lock.acquire({ port: 1 })) {
    await new Promise(resolve => setImmediate(resolve))
    continue
  }
  had++
  try {
    closeSync(openSync(inside, 'wx'))
    rmSync(inside)
  } catch {
    others++
  }
  if (had % 2 === 0) {
    writeFileSync(left, JSON.stringify({ pid: process.pid, startedAt: 'of another process', port: 1 }))
    renameSync(left, path)
  } else lock.release()
}
console.log(others)
