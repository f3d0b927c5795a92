import type { Key } from '../../abi/svm/programs.ts'
import { fromBase58 } from '../../db/base58.ts'

/** Fields of one writing are encoded one by one, and parted by spaces. */
export const dataOf = (message: string): Buffer =>
  Buffer.concat(message.split(' ').map(field => Buffer.from(field, 'base64')))

/**
 * What instructions wrote to the log as data, by their places in the trace. Programs cannot write lines of the machine's own: what they
 * say comes behind "Program log: " or "Program data: ". Some instructions leave no line, and a log that was cut off ends early.
 * @see solana-log-collector, solana-program-runtime, stable_log.rs
 */
export function loggedBy(
  trace: readonly { program: Key; path: readonly number[] }[],
  lines: readonly string[],
): ReadonlyMap<number, readonly Buffer[]> {
  const found = new Map<number, Buffer[]>()
  const running: number[] = []
  let next = 0
  for (const line of lines) {
    const [, program = '', depth] = /^Program (\w+) invoke \[(\d+)\]$/.exec(line) ?? []
    if (depth !== undefined) {
      const key = fromBase58(program)
      const at = trace.findIndex(
        (each, place) => place >= next && each.program === key && each.path.length === Number(depth),
      )
      if (at === -1) return found
      running.push(at)
      next = at + 1
    } else if (/^Program \w+ (success|failed: .*)$/.test(line)) running.pop()
    else if (line.startsWith('Program data: ')) {
      const at = running.at(-1)
      if (at !== undefined)
        found.set(at, [...(found.get(at) ?? []), dataOf(line.slice('Program data: '.length))])
    }
  }
  return found
}
