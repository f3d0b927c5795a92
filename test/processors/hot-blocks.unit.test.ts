import { expect, test } from 'vitest'
import type { Subscription } from '../../processors/handling/decode.ts'
import { evenPace, followHead, type Head, type HeadClient } from '../../processors/source/head.ts'
import { HotBlocks } from '../../processors/source/hot-blocks.ts'
import type { SqdBlock } from '../../processors/source/rpc-block.ts'

const TOPIC = `0x${'d'.repeat(64)}`
const [FIRST, SECOND] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
const NO_LOGS = `0x${'0'.repeat(512)}`
const FINALITY = 10
const hash = (height: number, branch = 0) =>
  `0x${(branch * 1_000_000 + height).toString(16).padStart(64, '0')}`
const hex = (height: number) => `0x${height.toString(16)}`

interface Block {
  hash: string
  parentHash: string
  /** Contracts with a log in it. */
  by: string[]
}

/** A node in memory: `blocks[height]`; it answers as nodes do. */
function openNode(blocks: Block[]) {
  const asked: string[] = []
  /** Blocks of which it has the header and not the logs, as often as it is asked so many times. */
  const lacks = new Map<number, number>()
  const headerOf = (block: Block) => ({
    number: hex(blocks.indexOf(block)),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: hex(blocks.indexOf(block)),
    logsBloom: block.by.length > 0 ? NO_LOGS.replace('0x0', '0x1') : NO_LOGS,
  })
  const logsOf = (from: number, to: number) =>
    blocks.flatMap((block, height) => {
      if (height < from || height > to) return []
      const left = lacks.get(height) ?? 0
      if (left > 0) {
        lacks.set(height, left - 1)
        return []
      }
      return block.by.map((address, i) => ({
        address,
        topics: [TOPIC],
        data: '0x',
        logIndex: hex(i),
        transactionHash: hash(1),
        blockHash: block.hash,
      }))
    })
  const client: HeadClient = {
    async call(method, params = []) {
      asked.push(method)
      const [what] = params as [string & { fromBlock: string; toBlock: string }]
      if (method === 'eth_getLogs') return logsOf(Number(what.fromBlock), Number(what.toBlock))
      const block =
        method === 'eth_getBlockByHash'
          ? blocks.find(one => one.hash === what)
          : (blocks[what === 'latest' ? blocks.length - 1 : Number(what)] ?? null)
      return block ? headerOf(block) : null
    },
    supportsNotifications: () => false,
    subscribe: () => ({ close() {} }),
  }
  const mine = (by: string[] = [], branch = 0) => {
    const parentHash = blocks.at(-1)?.hash ?? hash(0, 9)
    blocks.push({ hash: hash(blocks.length, branch), parentHash, by })
  }
  return { blocks, client, asked, lacks, mine, headerOf }
}

/** Follows until block `to` is final; the blocks as they were handed out. */
async function follow(
  { client, blocks }: ReturnType<typeof openNode>,
  subscriptions: () => Partial<Subscription>[],
  to: number,
  handled: (block: SqdBlock) => void,
) {
  const hot = new HotBlocks({
    client,
    rpc: { logs: async () => [], header: async () => undefined },
    subscriptions,
    finality: FINALITY,
    pace: evenPace(1),
  })
  const start = { height: 0, hash: blocks[0]?.hash ?? '', top: [] }
  await hot.follow(start, to, async update => {
    for (const block of update.blocks) handled(block)
  })
}

test('a contract that is met after a fork took another one back has its logs from the next block on', async () => {
  const node = openNode([])
  node.mine()
  node.mine([FIRST])
  let watched = [] as string[]
  const logs: [number, string][] = []
  await follow(
    node,
    () => [{ topic0: [TOPIC], address: watched }],
    5,
    ({ header, logs: found }) => {
      logs.push(...found.map(({ address }): [number, string] => [header.height, address]))
      if (header.hash === hash(1)) {
        watched = [FIRST]
        node.mine([FIRST])
      } else if (header.hash === hash(2)) {
        node.blocks.length = 1
        for (let height = 1; height <= 3; height++) node.mine([], 7)
      } else if (header.hash === hash(3, 7)) {
        // The first one was met in a block that is gone.
        watched = [SECOND]
        for (let height = 4; height <= 5 + FINALITY; height++) node.mine([SECOND], 7)
      }
    },
  )
  expect(logs.slice(0, 3)).toEqual([
    [2, FIRST],
    [4, SECOND],
    [5, SECOND],
  ])
})

test('a head that is told of without its logs’ bloom is not taken for one without logs', async () => {
  const node = openNode([])
  node.mine()
  node.mine([FIRST])
  node.lacks.set(1, 2)
  const { client } = node
  let tell: (head: unknown) => void = () => {}
  const told: HeadClient = {
    ...client,
    supportsNotifications: () => true,
    // Before anything was told it has no head to look at.
    call: (method, params = []) =>
      params[0] === 'latest' ? Promise.resolve(null) : client.call(method, params),
    subscribe({ onMessage }) {
      tell = () => {
        const head = node.blocks.at(-1)
        if (!head) return
        const { logsBloom: _, ...rest } = node.headerOf(head)
        onMessage(rest)
      }
      return { close: () => clearInterval(telling) }
    },
  }
  const telling = setInterval(() => tell(undefined), 5)
  const found = new Map<number, number>()
  await follow(
    { ...node, client: told },
    () => [{ topic0: [TOPIC], address: [FIRST] }],
    1,
    ({ header, logs }) => {
      found.set(header.height, logs.length)
      if (header.height === 1) for (let i = 0; i < FINALITY; i++) node.mine()
    },
  )
  expect(found.get(1)).toBe(1)
})

const head = (height: number) => ({
  number: hex(height),
  hash: hash(height),
  parentHash: hash(height - 1),
  timestamp: '0x1',
})

/** As evm-processor says of a block that is not to be had. */
const unreachable = () =>
  Object.assign(new Error('Failed to fetch block 7'), { __sqd_data_consistency_error: true })

function following(goTo: (head: Head) => Promise<void>, isEnd: () => boolean, height: () => number) {
  let looks = 0
  const client = { supportsNotifications: () => false, call: async () => head(10 + looks++) }
  return followHead(client as unknown as HeadClient, evenPace(1), goTo, isEnd, height, 400)
}

test('a node whose head cannot be reached is given up, and not asked in a hurry until then', async () => {
  let tries = 0
  const stuck = following(
    async () => {
      tries++
      throw unreachable()
    },
    () => false,
    () => 6,
  )
  await expect(stuck).rejects.toThrow('block 6 is the last one that can be had')
  expect(tries).toBeLessThanOrEqual(4)
})

test('one whose head is reached step by step is not', async () => {
  let reached = 0
  await following(
    async () => {
      reached++
      throw unreachable()
    },
    () => reached === 8,
    () => reached,
  )
})
