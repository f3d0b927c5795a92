import { collectDefaultMetrics, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { baseName, documentedMetrics, readText } from './metrics.ts'

const documented = documentedMetrics()
const alerts = readText('deploy/prometheus-alerts.yml')
const dashboard = z
  .object({
    panels: z.array(
      z.object({
        id: z.number(),
        title: z.string(),
        gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
        targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
      }),
    ),
  })
  .parse(JSON.parse(readText('deploy/grafana/vaultlog.json')))
const targets = dashboard.panels.flatMap(panel => panel.targets)

/** Every metric that a file of queries names, as the registry names it. */
const metricsIn = (text: string) => [...new Set(text.match(/\bvaultlog_[a-z_]+\b/g))].map(baseName)

/** Labels that a query groups by, selects by or shows. */
const labelsIn = (text: string) => [
  ...[...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/)),
  ...[...text.matchAll(/\{(\w+)(?:=|!)/g)].map(([, label = '']) => label),
  ...[...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label = '']) => label),
]
/** What Prometheus itself puts on every sample, and le of histograms. */
const EVERYWHERE = ['instance', 'job', 'le']
/** Labels of a query that none of its metrics has. */
const strangeLabels = (expr: string, shown = '') => {
  const known = documented
    .filter(({ name }) => metricsIn(expr).includes(name))
    .flatMap(({ labels }) => labels)
  return labelsIn(expr + shown).filter(label => ![...known, ...EVERYWHERE].includes(label))
}

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
      const [, expr = ''] = /^ {8}expr: (.*)$/m.exec(rule) ?? []
      expect(metricsIn(expr)).not.toEqual([])
      expect(strangeLabels(expr), expr).toEqual([])
      expect(rule).toMatch(/^ {10}summary: "/m)
      expect(rule).toMatch(/^ {10}action: "/m)
    }
  })
})

describe('alerts without a worker, or a verification', () => {
  const exprOf = (alert: string) =>
    new RegExp(`- alert: ${alert}\\n(?: {8}#.*\\n)* {8}expr: (.*)\\n`).exec(alerts)?.[1] ?? ''
  const processOf = (expr: string) =>
    documented.filter(({ name }) => metricsIn(expr).includes(name)).map(({ process }) => process)

  test('something fires where no worker tells anything', () => {
    expect(exprOf('VaultlogNoWorker')).toMatch(/^absent\(\w+\)$/)
    expect(processOf(exprOf('VaultlogNoWorker'))).toEqual(['worker'])
    expect(processOf(exprOf('VaultlogOldAnswers'))).toEqual(['api'])
  })

  test('a store that was never verified is one that was not verified lately', () => {
    const [, metric] = /max by \([^)]*\) \((\w+)\)/.exec(exprOf('VaultlogVerifyOld')) ?? []
    expect(exprOf('VaultlogVerifyOld')).toContain(`or on() absent(${metric})`)
  })

  test('none reaches back over a range in a gauge: a series that has just begun would fill it', () => {
    expect(alerts).not.toMatch(/_over_time\(/)
  })
})

describe('the Grafana dashboard', () => {
  test('shows every metric there is, and no other', () => {
    const shown = new Set(targets.flatMap(({ expr }) => metricsIn(expr)))
    expect([...shown].sort()).toEqual(documented.map(({ name }) => name).sort())
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    const ofNode = registry.getMetricsAsArray().map(({ name }) => name)
    const others = targets.flatMap(({ expr }) => expr.match(/\b(process|nodejs)_\w+/g) ?? [])
    expect(others.filter(name => !ofNode.includes(name))).toEqual([])
  })

  test('queries by labels that its metrics have, counters and histograms as such', () => {
    for (const { expr, legendFormat } of targets) {
      expect(strangeLabels(expr, legendFormat), expr).toEqual([])
      for (const { name, type } of documented) {
        if (type === 'counter') {
          const bare = new RegExp(`(?<!(rate|increase)\\()\\b${name}\\b`)
          expect(bare.test(expr), expr).toBe(false)
        }
        if (type === 'histogram') expect(expr).not.toMatch(new RegExp(`\\b${name}\\b`))
      }
    }
  })

  test('has panels that do not lie on each other', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const overlaps = panels.filter(({ id, gridPos: a }) =>
      panels.some(
        ({ id: other, gridPos: b }) =>
          id < other && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      ),
    )
    expect(overlaps.map(({ title }) => title)).toEqual([])
  })
})
