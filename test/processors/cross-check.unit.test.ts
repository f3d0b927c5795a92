import { expect, test } from 'vitest'
import { registry } from '../../db/process/metrics.ts'
import { CrossCheck } from '../../processors/source/cross-check.ts'
import type { ChainRpc } from '../../processors/source/rpc.ts'

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
/** So many that some of them are drawn. */
const calls = Array.from({ length: 1_000 }, (_, i) => ({
  to: `0x${i.toString(16).padStart(40, '0')}`,
  data: '0x18160ddd',
}))
const block = { number: 1, hash: word(77), timestamp: 1 }

/** A node that says of every contract the same. */
const node = (says: string) => ({ calls: async (asked: readonly unknown[]) => asked.map(() => says) })
const dead = {
  calls: async (): Promise<string[]> => {
    throw new Error('nobody is there')
  },
}

async function resultsOf(chain: string): Promise<Record<string, number>> {
  const found = await registry.getSingleMetric('vaultlog_cross_checks_total')?.get()
  const own = (found?.values ?? []).filter(({ labels }) => labels['chain'] === chain)
  return Object.fromEntries(own.map(({ labels, value }) => [String(labels['result']), value]))
}

test('a difference that cannot be stored at once is stored later, and counted as one', async () => {
  const letters: string[] = []
  let failures = 2
  const check = new CrossCheck({
    chain: 'busy',
    first: node(word(1)),
    second: node(word(2)),
    patienceMs: 5,
    onDifference: async some => {
      if (failures-- > 0) throw new Error('the store is out of reach')
      letters.push(...some.map(({ contract }) => contract))
    },
  })
  await check.wrap(node(word(1)) as unknown as ChainRpc).calls(calls, block)
  const counted = async () => {
    const results = await resultsOf('busy')
    return results['different'] === letters.length ? results : undefined
  }
  await expect.poll(async () => (await counted())?.['different'] ?? 0).toBeGreaterThan(3)
  expect(Object.keys(await resultsOf('busy'))).toEqual(['different'])
  check.stop()
})

test('an endpoint that answered instead of the preferred one is not compared with itself', async () => {
  const second = node(word(1))
  const check = new CrossCheck({
    chain: 'failing',
    first: dead,
    second,
    patienceMs: 5,
    onDifference: async () => {},
  })
  await check.wrap(second as unknown as ChainRpc).calls(calls, block)
  await expect.poll(async () => (await resultsOf('failing'))['unanswered'] ?? 0).toBeGreaterThan(3)
  expect(Object.keys(await resultsOf('failing'))).toEqual(['unanswered'])
  check.stop()
})
