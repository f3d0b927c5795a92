import { Counter } from 'prom-client'
import { registry } from '../../db/process/metrics.ts'

const registers = [registry]
const figures = new Counter({
  name: 'vaultlog_alert_figures_total',
  help: 'Figures that alert rules watch and that the catalogue does not have: read, or failed',
  labelNames: ['outcome'] as const,
  registers,
})
const dropped = new Counter({
  name: 'vaultlog_alerts_dropped_total',
  help: 'Messages of alert rules that waited too long, or were too many of one webhook, and are never sent',
  registers,
})
for (const outcome of ['read', 'failed']) figures.inc({ outcome }, 0)

export const observeFigure = (outcome: 'read' | 'failed'): void => figures.inc({ outcome })
export const observeDropped = (count: number): void => dropped.inc(count)
