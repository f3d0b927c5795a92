import { Counter, Gauge } from 'prom-client'
import { registry } from '../../db/process/metrics.ts'

const registers = [registry]
const attempts = new Counter({
  name: 'vaultlog_webhook_attempts_total',
  help: 'Messages sent to receivers of webhooks: delivered (2xx) or failed',
  labelNames: ['outcome'] as const,
  registers,
})
const subscriptions = new Gauge({
  name: 'vaultlog_webhook_subscriptions',
  help: 'Webhooks that this process delivers: well, or failing at the moment',
  labelNames: ['state'] as const,
  registers,
})
const behind = new Gauge({
  name: 'vaultlog_webhook_behind_events',
  help: 'Events that the webhook of this process that is furthest behind has not come to yet',
  registers,
})
for (const outcome of ['delivered', 'failed']) attempts.inc({ outcome }, 0)

export function observeAttempt(isDelivered: boolean): void {
  attempts.inc({ outcome: isDelivered ? 'delivered' : 'failed' })
}

export function observeSubscriptions({
  well,
  failing,
  most,
}: {
  well: number
  failing: number
  most: number
}): void {
  behind.set(most)
  subscriptions.set({ state: 'well' }, well)
  subscriptions.set({ state: 'failing' }, failing)
}
