const PLACES = 24

/** A plain decimal as an integer of 10^-24: what is compared is exact. @throws RangeError it is no decimal */
export function exactly(decimal: string): bigint {
  const found = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal)
  if (!found) throw new RangeError(`${decimal} is no decimal`)
  const [, sign = '', whole = '', part = ''] = found
  const value = BigInt(whole + part.slice(0, PLACES).padEnd(PLACES, '0'))
  return sign ? -value : value
}

export const isBelow = (value: string, threshold: string): boolean => exactly(value) < exactly(threshold)
export const isAbove = (value: string, threshold: string): boolean => exactly(value) > exactly(threshold)

/** part / whole as a decimal, cut after 18 places; undefined of nothing. */
export function quotientOf(part: bigint, whole: bigint): string | undefined {
  if (whole <= 0n) return undefined
  const digits = String(((part < 0n ? -part : part) * 10n ** 18n) / whole).padStart(19, '0')
  return `${part < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`
}

/** The decimal of so many 10^-24, without noughts at its end. */
export function decimalOf(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(PLACES + 1, '0')
  const part = digits.slice(-PLACES).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -PLACES)}${part && `.${part}`}`
}
