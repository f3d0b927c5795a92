import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerStream } from '../../db/events/event-store.ts'
import { vaultlog } from '../faults/command.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'

let pipeline: Pipeline

beforeAll(async () => {
  pipeline = await createPipeline()
  await registerStream(pipeline.postgres.pool, 1, 'mainnet', 'evm')
  await registerStream(pipeline.postgres.pool, 8453, 'base', 'evm')
})
afterAll(() => pipeline?.drop())

test.each([
  [['replay', '--projection', 'nothing'], /No projection nothing\. There are: .*balance, /],
  [['replay', '--chain', 'nowhere'], /Nothing is stored of nowhere\. There are: .*mainnet/],
  [['replay', '--from', '5'], /--from needs --chain/],
  [['replay', '--from', 'soon', '--chain', 'base'], /must be a whole number/],
  [['verify', '--projection', 'nothing'], /No projection nothing/],
  [['deadletters', '--chain', 'nowhere'], /Nothing is stored of nowhere/],
  [['rewind', 'nowhere', '--to', '5'], /There is no network nowhere/],
  [['rewind', 'optimism', '--to', '5'], /Stream 10 is not registered in this event store/],
  [['rewind', 'mainnet'], /required option '--to <block>'/],
  [['keys', 'revoke', 'nobody'], /nobody/],
  [['keys', 'create', 'x', '--plan', 'golden'], /golden/],
  [['nonsense'], /unknown command 'nonsense'/],
] as const)('%j is refused in one line', async (args, message) => {
  const { code, stderr } = await vaultlog(pipeline.env(), ...args)
  expect(stderr).toMatch(message)
  expect(stderr).not.toMatch(/^ {4}at /m)
  expect(code).not.toBe(0)
})
