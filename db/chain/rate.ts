import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds without a refusal after which more is asked for. */
const STEADY = 1_000
/** Milliseconds after which a refusal is not held against a faster pace any more: it may have been about something else. */
const REMEMBERED = 5_000

/** How many calls a second a node takes: as many as there are, until it refuses. */
export function openRate(most: number) {
  let limit = most
  let nextAt = 0
  let changedAt = 0
  let refusedAt = Number.POSITIVE_INFINITY
  let lastRefusal = 0
  const sent: { at: number; calls: number }[] = []

  const lately = (now: number) => {
    while (sent[0] && sent[0].at < now - 1000) sent.shift()
    return sent.reduce((sum, { calls }) => sum + calls, 0)
  }

  return {
    now: () => limit,
    /** Resolves when it is the turn of so many calls. */
    async turn(calls: number): Promise<void> {
      const now = Date.now()
      const at = Math.max(now, nextAt)
      nextAt = at + (Number.isFinite(limit) ? (calls * 1000) / limit : 0)
      if (at > now) await sleep(at - now)
      sent.push({ at, calls })
      lately(at)
    },
    /** What was sent at this time came too soon after the rest. */
    refused(sentAt: number): void {
      if (sentAt < changedAt) return
      const now = Date.now()
      refusedAt = Math.min(limit, Math.max(1, lately(now)))
      limit = Math.max(0.5, refusedAt * 0.6)
      changedAt = now
      lastRefusal = now
      nextAt = Math.max(nextAt, now)
    },
    answered(): void {
      const now = Date.now()
      if (limit >= most || now - changedAt < STEADY) return
      // Close to where it was refused, slowly: each refusal costs a pause.
      const isFar = limit * 1.2 < refusedAt || now - lastRefusal > REMEMBERED
      limit = Math.min(most, limit * (isFar ? 1.2 : 1.02))
      // Far above it, the node seems to have changed its mind.
      if (limit > refusedAt * 4) limit = most
      changedAt = now
    },
  }
}
