import { setTimeout as pause } from 'node:timers/promises'
import { openApi } from '../api.ts'
import type { Check } from '../check.ts'
import { must, type System } from '../system.ts'

const percentile = (values: number[], part: number) =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ??
  Number.NaN

interface Freshness {
  p50: number
  p99: number
  /** Longest time, seconds, during which answers were more than five blocks behind. */
  behindFor: number
}

/** Blocks every two seconds; how long each takes to be what the API answers of. */
async function measure(system: System, seconds: number): Promise<Freshness> {
  const ask = await openApi(system)
  const { chain } = system
  const [vault] = chain.vaults
  if (!vault) throw new TypeError('a chain without vaults')
  await system.until('an answer', 120, async () => (await ask(vault.address)).status === 200)
  const mined = new Map<number, number>()
  const delays: number[] = []
  let behindSince: number | undefined
  let behindFor = 0
  const end = Date.now() + seconds * 1000
  let next = Date.now()
  while (Date.now() < end || mined.size > 0) {
    const now = Date.now()
    if (now >= next && now < end) {
      chain.live(1, 2)
      mined.set(chain.head.number, now)
      next += 2000
    }
    const { block } = await ask(vault.address)
    const answered = Date.now()
    for (const [height, at] of mined) {
      if (height > block) continue
      delays.push(answered - at)
      mined.delete(height)
    }
    if (chain.head.number - block > 5) {
      behindSince ??= answered
      behindFor = Math.max(behindFor, (answered - behindSince) / 1000)
    } else behindSince = undefined
    must(answered < end + 30_000, `${mined.size} blocks never came to the API`)
    await pause(10)
  }
  return { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99), behindFor }
}

const words = ({ p50, p99 }: Freshness) => `p50 ${p50} ms, p99 ${p99} ms`

const atHead: Pick<Check, 'group' | 'phase' | 'options' | 'parts'> = {
  group: 'head',
  phase: 'head',
  options: { blockSeconds: 2 },
  parts: ['processor', 'worker', 'api'],
}

const checks: Check[] = [
  {
    ...atHead,
    name: '2 s blocks for 5 minutes: p50 under 500 ms and p99 under 2 s from block to API response',
    async inject(system, { seconds }) {
      const found = await measure(system, seconds(300))
      must(found.p50 < 500 && found.p99 < 2000, words(found))
      return words(found)
    },
  },
  {
    ...atHead,
    name: 'never more than 5 blocks behind for 15 s, with a block every 500 ms and forks',
    async inject(system, { seconds }) {
      const forks = setInterval(() => system.chain.reorg(2, 3), 5000)
      const blocks = setInterval(() => system.chain.live(1, 1), 500)
      try {
        const found = await measure(system, seconds(60))
        must(found.behindFor < 15, `more than 5 blocks behind for ${found.behindFor} s`)
        return `longest ${found.behindFor.toFixed(1)} s; ${words(found)}`
      } finally {
        clearInterval(forks)
        clearInterval(blocks)
      }
    },
  },
  {
    ...atHead,
    name: 'as fresh as ever within 30 s after a reorg of 10 blocks',
    async inject(system, { seconds }) {
      const before = await measure(system, seconds(30))
      system.chain.reorg(10, 11)
      await pause(seconds(30) * 1000)
      const after = await measure(system, seconds(30))
      must(after.p50 < Math.max(500, before.p50 * 2), `before: ${words(before)}, after: ${words(after)}`)
      return `before: ${words(before)}, after: ${words(after)}`
    },
  },
]

export default checks
