// Figures as people read them. Amounts are whole numbers of base units and stay exact: they are cut, never rounded up.

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })
const grouped = new Intl.NumberFormat('en')
const NOT_KNOWN = 'not known'

/** @param {string | number | undefined | null} value in dollars */
export function usd(value) {
  if (value === undefined || value === null) return NOT_KNOWN
  const number = Number(value)
  if (number !== 0 && Math.abs(number) < 0.01) return `${number < 0 ? '−' : ''}< $0.01`
  return `${number < 0 ? '−' : ''}$${Math.abs(number) < 1000 ? Math.abs(number).toFixed(2) : compact.format(Math.abs(number))}`
}

/** @param {number | undefined | null} fraction */
export function percent(fraction) {
  if (fraction === undefined || fraction === null) return NOT_KNOWN
  const shown = (fraction * 100).toFixed(2)
  return `${shown === '-0.00' ? '0.00' : shown} %`
}

/**
 * Every digit of an amount.
 * @param {string} native base units @param {number} decimals
 */
export function exact(native, decimals) {
  const isNegative = native.startsWith('-')
  const digits = native.replace('-', '').padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const rest = decimals > 0 ? digits.slice(-decimals).replace(/0+$/, '') : ''
  return `${isNegative ? '−' : ''}${grouped.format(BigInt(whole))}${rest ? `.${rest}` : ''}`
}

/**
 * The first digits of an amount: six behind the point at most, fewer where many stand before it.
 * @param {string | undefined} native base units @param {number} decimals
 */
export function amount(native, decimals) {
  if (native === undefined) return NOT_KNOWN
  const [whole = '0', rest = ''] = exact(native, decimals).split('.')
  const places = whole.replaceAll(/\D/g, '').length > 3 ? 2 : 6
  const shown = rest.slice(0, places).replace(/0+$/, '')
  if (!shown && rest && whole.replace('−', '') === '0') return `< 0.${'0'.repeat(places - 1)}1`
  return shown ? `${whole}.${shown}` : whole
}

/** @param {string} address */
export const short = address =>
  address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address

/** @param {number} seconds unix seconds; the moment in UTC, to the minute */
export const moment = seconds =>
  `${new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** @param {number} seconds unix seconds */
export const day = seconds => new Date(seconds * 1000).toISOString().slice(0, 10)

/** @param {number} seconds a length of time */
export function lasting(seconds) {
  const units = /** @type {const} */ ([
    ['day', 86_400],
    ['hour', 3_600],
    ['minute', 60],
    ['second', 1],
  ])
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? ['second', 1]
  const count = Math.floor(seconds / size)
  return `${grouped.format(count)} ${unit}${count === 1 ? '' : 's'}`
}

/** @param {number} count */
export const whole = count => grouped.format(count)
