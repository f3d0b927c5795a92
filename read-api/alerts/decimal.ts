const PLACES = 24

/** A plain decimal as an integer of 10^-24: what is compared is exact. */
function scaled(decimal: string): bigint {
  const [, sign = '', whole = '0', part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  const value = BigInt(whole + part.slice(0, PLACES).padEnd(PLACES, '0'))
  return sign ? -value : value
}

export const isBelow = (value: string, threshold: string): boolean => scaled(value) < scaled(threshold)
export const isAbove = (value: string, threshold: string): boolean => scaled(value) > scaled(threshold)

/** part / whole as a decimal, cut after 18 places; undefined of nothing. */
export function quotientOf(part: bigint, whole: bigint): string | undefined {
  if (whole <= 0n) return undefined
  const digits = String(((part < 0n ? -part : part) * 10n ** 18n) / whole).padStart(19, '0')
  return `${part < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`
}
