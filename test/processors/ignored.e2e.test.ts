import { afterAll, beforeAll, expect, it } from 'vitest'
import { ignoreContract, unignoreContract } from '../../db/registry/ignored.ts'
import { deployVault, deposit, type Vault } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createPipeline, differencesFromChain, type Pipeline } from '../pipeline.ts'

const FINALITY = 5
const HOUR = 3600

let node: Node
/** Knows of nothing that was ignored. */
let plain: Pipeline
let pipeline: Pipeline
beforeAll(async () => {
  node = await startNode()
  plain = await createPipeline()
  pipeline = await createPipeline()
})
afterAll(async () => {
  await plain?.drop()
  await pipeline?.drop()
  await node?.stop()
})

/** Every canonical event, samples too, in words. */
async function events({ postgres }: Pipeline, contract?: string): Promise<string[]> {
  const { rows } = await postgres.pool.query<{ event: string }>(
    `SELECT concat_ws(' ', block_number, log_index, type, encode(contract, 'hex'), data) AS event FROM stored_events(1, 0, 9007199254740991) e
     WHERE type <> 'BlockRetracted' AND ($1::text IS NULL OR contract = decode(substr($1, 3), 'hex')) AND NOT EXISTS (
       SELECT FROM event_log r WHERE r.stream = 1 AND r.type = 'BlockRetracted'
         AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
     ORDER BY event`,
    [contract ?? null],
  )
  return rows.map(({ event }) => event)
}

it('of an ignored contract nothing is stored, and all that was missed is fetched when it is not ignored any more', async () => {
  const liked = await deployVault(node, { symbol: 'LIKED' })
  const odd = await deployVault(node, { symbol: 'ODD' })
  const later = await deployVault(node, { symbol: 'LATER' })
  const user = node.accounts[1] ?? liked.address
  const run = pipeline.follow({ finality: FINALITY, rpcUrl: node.rpcUrl })
  /**
   * A few hours of blocks in which these vaults are used. Each is sampled before the next is mined: asked for the state of its
   * newest block while it mines another, anvil answers with that one's.
   */
  const live = async (...vaults: Vault[]) => {
    for (let round = 0; round < 6; round++) {
      for (const vault of vaults) await deposit(node, { vault, user, assets: 10n ** 18n, mine: false })
      await node.mine((await node.head()).timestamp + HOUR / 2)
      await run.reached((await node.head()).number)
    }
  }
  try {
    await live(liked, odd)
    const known = await events(pipeline, odd.address)
    expect(known.some(event => event.includes('VaultDiscovered'))).toBe(true)

    // LATER is not known yet, and ODD is. The processor takes note while it runs.
    await ignoreContract(pipeline.postgres.pool, 1, odd.address, 'test')
    await ignoreContract(pipeline.postgres.pool, 1, later.address, undefined)
    // It looks once a second, with the next batch, and starts anew; a busy machine takes its time for that.
    for (let more = 0; more < 4; more++) {
      await new Promise(resolve => setTimeout(resolve, 1_500))
      await live(liked)
    }
    const atNotice = await events(pipeline, odd.address)
    await live(liked, odd, later)
    expect(await events(pipeline, odd.address)).toEqual(atNotice)
    expect(await events(pipeline, later.address)).toEqual([])
    const head = (await node.head()).number
    const withoutThem = await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, head)
    expect(withoutThem).toEqual([])

    await unignoreContract(pipeline.postgres.pool, 1, odd.address)
    await unignoreContract(pipeline.postgres.pool, 1, later.address)
    for (let more = 0; more < 6; more++) {
      await new Promise(resolve => setTimeout(resolve, 1_500))
      await live(liked, odd, later)
    }
    const { number } = await node.head()
    await plain.indexTo(number, { finality: FINALITY, rpcUrl: node.rpcUrl })
    const expected = await events(plain, odd.address)
    await expect.poll(() => events(pipeline, odd.address)).toEqual(expected)
    // When it was first looked at is another block, and with it its first sample: the logs are all there.
    const logs = (list: string[]) => list.filter(event => !/StateSampled|VaultDiscovered/.test(event))
    const all = logs(await events(plain, later.address))
    await expect.poll(async () => logs(await events(pipeline, later.address))).toEqual(all)
    expect(await events(pipeline, liked.address)).toEqual(await events(plain, liked.address))
    expect(await differencesFromChain(pipeline.postgres.pool, node.rpcUrl, number)).toEqual([])
  } finally {
    await run.stop()
  }
})
