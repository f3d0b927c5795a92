import type { StreamStatus } from './status.ts'

/** Blocks behind the head, a few rounds of a processor, up to which a chain counts as following it. */
export const NEAR = 20
/** Seconds without a block, where the chain has some, after which nobody waits any more. */
const PATIENCE = 120

/** What a chain is at. */
export function stateOf(stream: StreamStatus, head: number | undefined): string {
  if (stream.kind === 'registry') return ''
  if (stream.retired) return 'retired'
  if (!stream.isFollowed) return 'no processor'
  const behind = head === undefined ? undefined : head - stream.headBlock
  const isQuiet = stream.quiet > PATIENCE
  if (isQuiet && (behind === undefined ? (stream.age ?? 0) > PATIENCE : behind > 0))
    return `STUCK ${spoken(stream.quiet)}`
  if (stream.headBlock < 0 || (behind ?? 0) > NEAR) return 'indexing'
  if ((behind ?? 0) < -NEAR) return 'node behind'
  return behind === undefined ? 'node silent' : 'live'
}

/** @example spoken(7_320) === '2h' */
export function spoken(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? ([1, 's'] as const)
  return `${Math.floor(seconds / size)}${unit}`
}
const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const
