import { setTimeout as sleep } from 'node:timers/promises'
import { steadyNow } from '../process/steady.ts'

/** Calls a second that are tried first where it refuses and nothing, or little, was answered. */
const UNKNOWN = 25
/** Milliseconds without an answer after which it is not the pace that is refused. */
const EMPTY = 3_000
/** The lowest rate that is tried, calls a second. */
const LEAST = 0.5
/** Milliseconds without a refusal after which more is asked for. */
const STEADY = 1_000
/** Milliseconds after which a refusal is not held against a faster pace any more: it may have been about something else. */
const REMEMBERED = 5_000

/**
 * How many calls a second a node takes: as many as there are, until it refuses; then what it answered in a second before that,
 * and a little less. What was sent says nothing of it: most of that may have been refused.
 */
export function openRate(most: number) {
  let limit = most
  let nextAt = 0
  let changedAt = 0
  /** What it took of a second when it refused more; not known while nothing was answered. */
  let taken = Number.POSITIVE_INFINITY
  let lastRefusal = 0
  let lastAnswer = 0
  const answers: { at: number; calls: number }[] = []

  const lately = (now: number) => {
    while (answers[0] && answers[0].at < now - 1000) answers.shift()
    return answers.reduce((sum, { calls }) => sum + calls, 0)
  }

  return {
    now: () => limit,
    /** Resolves when it is the turn of so many calls. */
    async turn(calls: number): Promise<void> {
      const now = steadyNow()
      const at = Math.max(now, nextAt)
      nextAt = at + (Number.isFinite(limit) ? (calls * 1000) / limit : 0)
      if (at > now) await sleep(at - now)
    },
    /** What was sent at this time came too soon after the rest. */
    refused(sentAt: number): void {
      if (sentAt < changedAt) return
      const now = steadyNow()
      // The second that was full goes on for a while, and is empty for a while after: what was found lately stands.
      const found = now - lastAnswer < EMPTY && Number.isFinite(taken) ? taken * 0.9 : 0
      const evidence = Math.max(lately(now), found)
      if (evidence > 0) {
        // Where little was asked for, little was answered: that alone is no limit, until it refuses at a moderate pace, too.
        taken = Math.min(limit, limit > UNKNOWN ? Math.max(evidence, UNKNOWN) : evidence)
        limit = Math.max(LEAST, taken * 0.8)
      } else {
        taken = Number.POSITIVE_INFINITY
        limit = Math.max(LEAST, Math.min(limit, UNKNOWN) * 0.6)
      }
      changedAt = now
      lastRefusal = now
      nextAt = Math.max(nextAt, now)
    },
    answered(calls: number): void {
      const now = steadyNow()
      lastAnswer = now
      answers.push({ at: now, calls })
      lately(now)
      if (limit >= most) return
      if (!Number.isFinite(taken)) {
        // It refused whatever came, and does not any more: that was no matter of pace.
        limit = limit * 2 > UNKNOWN * 4 ? most : Math.min(most, limit * 2)
        return
      }
      if (now - changedAt < STEADY) return
      // Close to where it was refused, slowly: each refusal costs a pause.
      const isFar = limit * 1.2 < taken || now - lastRefusal > REMEMBERED
      limit = Math.min(most, limit * (isFar ? 1.2 : 1.02))
      // Far above it, the node seems to have changed its mind.
      if (limit > Math.max(taken, UNKNOWN) * 4) limit = most
      changedAt = now
    },
  }
}
