import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployFeed } from '../../chain/deploy.ts'
import { type Node, startNode } from '../../chain/node.ts'
import { createPipeline, type Pipeline } from '../../pipeline.ts'

const proxyAbi = parseAbi(['function setAggregator(address aggregator)'])
const aggregatorAbi = parseAbi(['function report(int256 answer)'])

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

it('a feed whose aggregator is exchanged while its chain is followed goes on with the new one', async () => {
  const feed = await deployFeed(node, { description: 'ETH / USD', price: 3_000 })
  const next = await deployFeed(node, { description: 'ETH / USD', price: 3_001 })
  const [from = '0x'] = node.accounts
  const report = (aggregator: `0x${string}`, answer: bigint) =>
    node.send({
      from,
      to: aggregator,
      data: encodeFunctionData({ abi: aggregatorAbi, functionName: 'report', args: [answer] }),
    })
  const answers = async () => {
    const { rows } = await pipeline.postgres.pool.query<{ answer: string }>(
      `SELECT data->>'answer' AS answer FROM event_log WHERE type = 'PriceReported' ORDER BY block_number, log_index`,
    )
    return rows.map(({ answer }) => answer)
  }
  const run = pipeline.follow({
    rpcUrl: node.rpcUrl,
    contracts: { 'chainlink-feed': [feed.proxy] },
    feedInterval: 50,
  })
  await report(feed.aggregator, 3_100n)
  await run.reached((await node.mine()).number)
  await node.send({
    from,
    to: feed.proxy,
    data: encodeFunctionData({ abi: proxyAbi, functionName: 'setAggregator', args: [next.aggregator] }),
  })
  await node.mine()
  await report(next.aggregator, 3_200n)
  // What the new one said before it was known comes with its history.
  await expect
    .poll(
      async () => {
        await node.mine()
        return answers()
      },
      { interval: 300 },
    )
    .toContain('3200')
  await run.stop()
  expect(await answers()).toContain('3100')
})
