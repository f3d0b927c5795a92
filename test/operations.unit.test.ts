import { describe, expect, test } from 'vitest'
import { baseName, documentedMetrics, readText } from './metrics.ts'

const documented = documentedMetrics()
const alerts = readText('deploy/prometheus-alerts.yml')

/** Every metric that a file of queries names, as the registry names it. */
const metricsIn = (text: string) => [...new Set(text.match(/\bvaultlog_[a-z_]+\b/g))].map(baseName)

describe('the table of metrics', () => {
  test('names each once, as Prometheus would have them named', () => {
    const names = documented.map(({ name }) => name)
    expect(names.length).toBeGreaterThan(20)
    expect(new Set(names).size).toBe(names.length)
    for (const { name, type } of documented) {
      expect(name).toMatch(/^vaultlog_[a-z]+(_[a-z]+)+$/)
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      if (type === 'histogram') expect(name).toMatch(/_seconds$/)
      // Base units: https://prometheus.io/docs/practices/naming/#base-units
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|hours|days|kb|mb|percent)(_|$)/)
      expect(name).not.toMatch(/_(bucket|sum|count)$/)
    }
  })
})

describe('alert rules', () => {
  test('name only metrics there are', () => {
    const names = new Set(documented.map(({ name }) => name))
    expect(metricsIn(alerts).filter(name => !names.has(name))).toEqual([])
    expect(metricsIn(alerts).length).toBeGreaterThan(6)
  })

  test('each says what to do, there and in the document', () => {
    const rules = alerts.split(/^ {6}- alert: /m).slice(1)
    const inFile = rules.map(rule => rule.split('\n')[0])
    const inDocument = [...readText('docs/operations.md').matchAll(/^\| `(Vaultlog\w+)` \|/gm)].map(
      ([, n]) => n,
    )
    expect(inFile.sort()).toEqual(inDocument.sort())
    for (const rule of rules) {
      expect(rule).toMatch(/^ {8}expr: \S/m)
      expect(rule).toMatch(/^ {10}summary: "/m)
      expect(rule).toMatch(/^ {10}action: "/m)
    }
  })
})
