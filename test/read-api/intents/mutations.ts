/** Every value within `given` changed by itself, and every list with one more element and with one less: where, and the whole. */
export function mutationsOf<T>(given: T): { where: string; changed: T }[] {
  const found: { where: string; changed: T }[] = []
  const put = (path: readonly PropertyKey[], how: string, value: unknown) => {
    const changed = structuredClone(given)
    let at = changed as Record<PropertyKey, unknown>
    for (const key of path.slice(0, -1)) at = at[key] as Record<PropertyKey, unknown>
    at[path.at(-1) as PropertyKey] = value
    found.push({ where: `${path.map(String).join('.')} ${how}`, changed })
  }
  const walk = (value: unknown, path: readonly PropertyKey[]): void => {
    if (Array.isArray(value)) {
      put(path, 'longer', [...value, structuredClone(value[0] ?? value)])
      if (value.length > 0) put(path, 'shorter', value.slice(0, -1))
      for (const [n, item] of value.entries()) walk(item, [...path, n])
      return
    }
    if (typeof value === 'object' && value !== null) {
      if (path.length > 0) put([...path, 'another'], 'added', '0x00')
      for (const [key, item] of Object.entries(value)) walk(item, [...path, key])
      return
    }
    for (const [how, other] of others(value)) if (other !== value) put(path, how, other)
  }
  walk(given, [])
  return found
}

const MAX = 2n ** 256n - 1n

function others(value: unknown): [how: string, other: unknown][] {
  if (typeof value === 'boolean') return [['negated', !value]]
  if (typeof value === 'number')
    return [
      ['more', value + 1],
      ['far more', value + 10_000_000],
      ['none', 0],
    ]
  if (typeof value !== 'string') return [['text', 'other']]
  if (/^0x[0-9a-fA-F]{40}$/.test(value)) return [['another address', `0x${'66'.repeat(20)}`]]
  if (/^0x[0-9a-fA-F]{64}$/.test(value)) return [['another word', `0x${'77'.repeat(32)}`]]
  if (/^0x[0-9a-fA-F]*$/.test(value))
    return [
      ['longer data', `${value}00`],
      ['other data', value === '0x' ? '0x01' : `${value.slice(0, -2)}${value.endsWith('77') ? '78' : '77'}`],
    ]
  if (/^\d+$/.test(value))
    return [
      ['more', String(BigInt(value) + 1n)],
      ['endless', String(MAX)],
      ['none', '0'],
    ]
  return [['another text', `${value}x`]]
}
