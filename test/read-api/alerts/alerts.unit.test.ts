import { expect, it } from 'vitest'
import type { RuleState } from '../../../db/webhooks/rules.ts'
import { nextOf } from '../../../read-api/alerts/alerts.ts'
import { decimalOf, exactly, isAbove, isBelow, quotientOf } from '../../../read-api/alerts/decimal.ts'
import { Rule } from '../../../read-api/alerts/schemas.ts'
import { areTakenBack } from '../../../read-api/feed/feed.ts'

const fresh: RuleState = {
  number: 1,
  rule: { kind: 'paused', network: 'mainnet' },
  state: 'unknown',
  value: null,
  alertId: null,
  fired: null,
  seen: new Map(),
}

/**
 * What is told over a run of sightings: `!` crossed, `h` back over the threshold and not as far as it clears, `.` clear, `?` unknown;
 * with the open alert taken back: `x` still crossed, `k` back and not as far, `o` clear.
 */
function told(run: string): string[] {
  let state = fresh
  let to = 0
  return [...run].flatMap(sign => {
    const value = sign === '?' ? undefined : '1'
    const isCrossed = sign === '!' || sign === 'x'
    const isHeld = isCrossed || sign === 'h' || sign === 'k'
    const newId = `al_${++to}`
    const fired = new Map([[1, [to - 1, to] as const]])
    const next = nextOf(
      state,
      { value, isCrossed, isHeld },
      { isTakenBack: 'xko'.includes(sign), fired, newId },
    )
    state = next.after
    expect(state.alertId === null).toBe(state.fired === null)
    return next.told.map(({ type, alertId }) => `${type.replace('alert.', '')} ${alertId}`)
  })
}

it.each([
  ['....', []],
  ['.!!!', ['fired al_2']],
  ['!', ['fired al_1']],
  ['.!!..!', ['fired al_2', 'cleared al_2', 'fired al_6']],
  // What is not known fires nothing and clears nothing.
  ['??', []],
  ['.?.?', []],
  ['.!??!', ['fired al_2']],
  ['.!??.', ['fired al_2', 'cleared al_2']],
  ['.!o.', ['fired al_2', 'retracted al_2']],
  ['.!x!', ['fired al_2', 'retracted al_2', 'fired al_3']],
  ['.o', []],
  // What wavers between the two thresholds neither fires nor clears.
  ['h.hh', []],
  ['.!h!h!', ['fired al_2']],
  ['.!hh.h', ['fired al_2', 'cleared al_2']],
  ['!h?h.', ['fired al_1', 'cleared al_1']],
  ['!k.', ['fired al_1', 'retracted al_1']],
])('%s', (run, expected) => {
  expect(told(run)).toEqual(expected)
})

it.each([
  [{ kind: 'health-factor-below', threshold: '1.1', clearThreshold: '1.2' }, undefined],
  [{ kind: 'health-factor-below', threshold: '1.1', clearThreshold: '1.1' }, undefined],
  [
    { kind: 'health-factor-below', threshold: '1.1', clearThreshold: '1.05' },
    'must be a value that does not fire',
  ],
  [{ kind: 'utilization-above', threshold: '0.9', clearThreshold: '0.8' }, undefined],
  [
    { kind: 'utilization-above', threshold: '0.9', clearThreshold: '0.95' },
    'must be a value that does not fire',
  ],
  [{ kind: 'paused', clearThreshold: '0' }, 'must be left out of a rule of kind paused'],
  [{ kind: 'depeg', threshold: '0.02', clearThreshold: 'x' }, 'must be a decimal'],
])('the threshold of clearing lies where the rule does not fire: %o', (given, refused) => {
  const found = Rule.safeParse({ network: 'mainnet', ...fieldsOf(given.kind), ...given })
  expect(found.error?.issues.map(({ message }) => message).join() ?? '').toContain(refused ?? '')
  expect(found.success).toBe(refused === undefined)
})

const address = `0x${'11'.repeat(20)}`
const fieldsOf = (kind: string) =>
  ({
    'health-factor-below': { marketId: 'm', wallet: address },
    'utilization-above': { marketId: 'm', assetId: 'a' },
    paused: { vaultId: address },
    depeg: { assetAddress: address },
  })[kind]

it('compares decimals exactly', () => {
  expect(isBelow('0.1', '0.10')).toBe(false)
  expect(isAbove('0.1', '0.10')).toBe(false)
  expect(isAbove('0.100000000000000000000001', '0.1')).toBe(true)
  expect(isBelow('-0.01', '0')).toBe(true)
  expect(isAbove('123456789012345678.000000000000000001', '123456789012345678')).toBe(true)
  expect(quotientOf(1n, 3n)).toBe('0.333333333333333333')
  expect(quotientOf(-1n, 8n)).toBe('-0.125000000000000000')
  expect(quotientOf(2n ** 255n, 2n ** 254n)).toBe('2.000000000000000000')
  expect(quotientOf(1n, 0n)).toBeUndefined()
  expect(decimalOf(exactly('0.9991') - exactly('1'))).toBe('-0.0009')
  expect(decimalOf(exactly('0.0501') - exactly('0.05'))).toBe('0.0001')
  expect(decimalOf(0n)).toBe('0')
  for (const none of ['Infinity', 'NaN', '1e-7', '']) expect(() => exactly(none)).toThrow(/no decimal/)
})

it.each([
  // Of retractions at 30 (of 11 to 20) and 60 (of 40 to 50).
  [[10, 12], [25, 35], true],
  [[15, 25], [25, 30], true],
  [[20, 25], [25, 35], false],
  [[5, 10], [25, 35], false],
  [[10, 12], [30, 35], false],
  [[10, 12], [25, 29], false],
  [[10, 45], [25, 35], true],
  [[10, 45], [35, 60], true],
  [[10, 45], [30, 59], false],
  [[50, 70], [25, 80], false],
] as const)('what is in %j is taken back by a retraction in %j: %s', (positions, within, expected) => {
  const ranges = [
    { from: 11, to: 20, by: 30 },
    { from: 40, to: 50, by: 60 },
  ]
  expect(areTakenBack(ranges, positions, within)).toBe(expected)
})
