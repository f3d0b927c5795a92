import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployVault, deposit } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { addressOf, misbehaviours, placeStranger } from '../db/chain/strangers.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'

let node: Node
let pipeline: Pipeline
beforeAll(async () => {
  node = await startNode()
  pipeline = await createPipeline()
})
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

it('contracts that misbehave when they are looked at stop nobody, and leave one dead letter each', async () => {
  const honest = await deployVault(node, { symbol: 'HONEST' })
  const [user = honest.address] = node.accounts
  const strangers = Object.entries(misbehaviours).map(([what, body], i) => ({
    what,
    body,
    to: addressOf(0xb000 + i),
  }))
  for (const { to, body } of strangers) {
    await placeStranger(node, to, body)
    await node.send({ from: user, to, data: '0x' })
    await node.mine()
  }
  await deposit(node, { vault: honest, user, assets: 10n ** 18n })
  await pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl })

  const { rows: vaults } = await pipeline.postgres.pool.query(
    `SELECT type, '0x' || encode(contract, 'hex') AS contract, data->>'reason' AS reason
     FROM event_log WHERE type IN ('VaultDiscovered', 'VaultRejected') ORDER BY position`,
  )
  expect(vaults.filter(({ type }) => type === 'VaultDiscovered').map(({ contract }) => contract)).toEqual([
    honest.address,
  ])
  const rejected = new Map(vaults.map(({ contract, reason }) => [contract, reason as string]))
  const { rows: letters } = await pipeline.postgres.pool.query<{ contract: string; n: number }>(
    'SELECT contract, count(*)::int AS n FROM dead_letter GROUP BY 1',
  )
  for (const { what, to } of strangers) {
    const isPlain = what.includes('UTF-8') || what.includes('reverts')
    expect([what, rejected.get(to)]).toEqual([
      what,
      isPlain ? expect.stringMatching(/asset/) : expect.stringMatching(/^unreadable: /),
    ])
    expect([what, letters.find(({ contract }) => contract === to)?.n ?? 0]).toEqual([what, isPlain ? 0 : 1])
  }
  const { rows: sampled } = await pipeline.postgres.pool.query(
    "SELECT 1 FROM stream s, stored_events(s.id, 0, s.head) WHERE type = 'StateSampled' AND data->>'totalAssets' IS NOT NULL",
  )
  expect(sampled.length).toBeGreaterThan(0)
})
