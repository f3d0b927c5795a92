import { readdir, readFile } from 'node:fs/promises'

/** Of the kernel's accounting; Linux counts in hundredths of a second. */
const TICK = 0.01

interface Process {
  pid: number
  parent: number
  command: string
  /** Seconds of this process, and of its children that have ended. */
  own: number
  ended: number
}

async function processes(): Promise<Process[]> {
  const found: Process[] = []
  for (const name of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields.length < 15) continue
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    const seconds = (i: number) => Number(fields[i]) * TICK
    found.push({
      pid: Number(name),
      parent: Number(fields[1]),
      command,
      own: seconds(11) + seconds(12),
      ended: seconds(13) + seconds(14),
    })
  }
  return found
}

/** CPU seconds of each part up to now, with all that it started; `pids` are the parts' first processes. */
export async function cpuOf(
  pids: Readonly<Record<string, readonly number[]>>,
): Promise<Record<string, number>> {
  const all = await processes()
  const secondsOf = (pid: number): number => {
    const self = all.find(one => one.pid === pid)
    if (!self) return 0
    const children = all.filter(({ parent }) => parent === pid)
    return self.own + self.ended + children.reduce((sum, child) => sum + secondsOf(child.pid), 0)
  }
  return Object.fromEntries(
    Object.entries(pids).map(([part, list]) => [part, list.reduce((sum, pid) => sum + secondsOf(pid), 0)]),
  )
}

/** Those of this process's own children whose command line has these words. */
export async function childrenLike(words: RegExp): Promise<number[]> {
  const all = await processes()
  return all
    .filter(({ parent, command }) => parent === process.pid && words.test(command))
    .map(({ pid }) => pid)
}

/** MiB that processes hold, what they share with others in parts (PSS). */
export async function memoryOf(pids: readonly number[]): Promise<number> {
  let sum = 0
  for (const pid of pids) {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    sum += Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024
  }
  return sum
}
