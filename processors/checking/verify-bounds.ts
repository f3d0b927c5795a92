import { ConfigError, VaultlogError } from '../../db/process/errors.ts'

/** Nothing was compared, which proves nothing. */
class NothingToCompareError extends VaultlogError {
  readonly code = 'NOTHING_TO_COMPARE'
}

/** An option's whole number. */
export function whole(option: string, value: string, least = 0): number {
  const number = Number(value)
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number) || number < least)
    throw new ConfigError(`--${option} must be a whole number of ${least} or more.`)
  return number
}

/** The blocks that there are to compare, within what is final in the store. */
export function boundsOf(wanted: { from?: string; to?: string }, start: number, final: number, name: string) {
  if (final < 0) throw new NothingToCompareError(`Nothing that is stored of ${name} is final yet.`)
  const from = wanted.from === undefined ? start : whole('from', wanted.from)
  const last = wanted.to === undefined ? final : whole('to', wanted.to)
  if (from > last) {
    throw new NothingToCompareError(
      `There is no block to compare from ${from} to ${last}${wanted.to === undefined ? ', the newest that is final in the store' : ''}.`,
    )
  }
  if (from > final) {
    throw new NothingToCompareError(
      `There is no block to compare from ${from} on: ${final} is the newest that is final in the store.`,
    )
  }
  return { from, to: Math.min(last, final) }
}
