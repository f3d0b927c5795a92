import { afterAll, beforeAll, expect, it } from 'vitest'
import { calls, deployVault } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createPipeline } from '../pipeline.ts'
import { startRpcProxy } from '../read-api/chain/rpc-proxy.ts'

const DEPOSITS = 900

let node: Node
/** Each has one deposit. */
let first: number
let last: number
/** The time of one of the later ones. */
let middle: number

beforeAll(async () => {
  node = await startNode()
  const vault = await deployVault(node, { symbol: 'TOLD' })
  const [deployer, user] = node.accounts
  if (!deployer || !user) throw new TypeError('the node has no accounts')
  await node.send(calls.mintToken(deployer, vault.asset.address, user, 10n ** 24n))
  await node.send(calls.approve(user, vault.asset.address, vault.address, 10n ** 24n))
  first = (await node.mine()).number + 1
  for (let i = 0; i < DEPOSITS; i++) {
    await node.send(calls.deposit(user, vault.address, 10n ** 18n, user))
    await node.mine()
  }
  last = (await node.head()).number
  middle = await timeOf(first + 750)
})
afterAll(() => node?.stop())

const timeOf = async (number: number) =>
  Number((await node.client.getBlock({ blockNumber: BigInt(number) })).timestamp)

/** The times of stored blocks, and of how many blocks with a deposit the header was asked for. */
async function indexThrough(rewrites?: (answer: string) => string) {
  const proxy = await startRpcProxy(node.rpcUrl, 0, undefined, rewrites)
  const pipeline = await createPipeline({ only: [] })
  try {
    await pipeline.indexTo(last, { rpcUrl: proxy.url, samples: false, finality: 5 })
    const { rows } = await pipeline.postgres.pool.query<{ number: number; time: number }>(
      'SELECT DISTINCT block_number AS number, block_time AS time FROM event_log WHERE stream = 1 AND block_number >= $1 ORDER BY 1',
      [first],
    )
    const headers = proxy.calls.filter(({ method }) => method === 'eth_getBlockByNumber')
    const asked = new Set(headers.map(({ params }) => Number((params as string[])[0])))
    return { rows, asked: [...asked].filter(height => height >= first && height <= last).length }
  } finally {
    await pipeline.drop()
    await proxy.stop()
  }
}

const TOLD = /"blockTimestamp":"(0x[0-9a-f]+)"/g

it.each([
  ['says the times of blocks with their logs', undefined, { least: 500, most: 700 }],
  [
    'does not',
    (answer: string) => answer.replace(TOLD, '"blockTimestamp":null'),
    { least: DEPOSITS, most: DEPOSITS },
  ],
  [
    'says later ones by a day from some block on',
    (answer: string) =>
      answer.replace(TOLD, (said, time: string) =>
        Number(time) > middle ? `"blockTimestamp":"0x${(Number(time) + 86_400).toString(16)}"` : said,
      ),
    { least: 700, most: DEPOSITS },
  ],
])(
  'of a node that %s every block is stored with the time of its header',
  async (_, rewrites, { least, most }) => {
    const { rows, asked } = await indexThrough(rewrites)
    expect(rows.map(({ number }) => Number(number))).toEqual(
      Array.from({ length: DEPOSITS }, (_, i) => first + i),
    )
    const times = await Promise.all(rows.map(({ number }) => timeOf(Number(number))))
    expect(rows.map(({ time }) => Number(time))).toEqual(times)
    expect(asked).toBeGreaterThanOrEqual(least)
    expect(asked).toBeLessThanOrEqual(most)
  },
)
