import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { openChainRpc } from '../../processors/source/rpc.ts'
import { openRpcFinal } from '../../processors/source/rpc-final.ts'
import { TooManyLogsError } from '../../processors/source/rpc-logs.ts'

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

interface Ask {
  id: number
  method: string
  params: [{ fromBlock: string; toBlock: string }] | [string, boolean]
}

/** A node with a log in each block, which has the block 100 from the n-th request on. */
async function startNode(
  hasHeadFrom: number,
  logsOf: (height: number) => number = () => 1,
  data: `0x${string}` = '0x',
  spoilt: Record<string, unknown> = {},
) {
  let requests = 0
  const widths: number[] = []
  const headers: number[] = []
  /** Calls of each request. */
  const batches: string[][] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const head = ++requests < hasHeadFrom ? 99 : 100
      const asked = [JSON.parse(Buffer.concat(chunks).toString())].flat() as Ask[]
      batches.push(asked.map(({ method }) => method))
      const answers = asked.map(({ id, params: [what] }) => {
        if (typeof what === 'string') {
          const height = Number(what)
          headers.push(height)
          const block = { number: what, hash: word(height), parentHash: word(height - 1), timestamp: '0x1' }
          return { jsonrpc: '2.0', id, result: height <= head ? block : null }
        }
        const [from, to] = [Number(what.fromBlock), Math.min(head, Number(what.toBlock))]
        widths.push(Number(what.toBlock) - from + 1)
        const heights = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
        const result = heights.flatMap(height =>
          Array.from({ length: logsOf(height) }, (_, i) => ({
            address: word(1),
            topics: [],
            data,
            logIndex: `0x${i.toString(16)}`,
            transactionHash: word(2),
            blockNumber: `0x${height.toString(16)}`,
            blockHash: word(height),
            ...spoilt,
          })),
        )
        return { jsonrpc: '2.0', id, result }
      })
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    rpc: openChainRpc([`http://127.0.0.1:${port}`]),
    widths,
    headers,
    batches,
    stop: () => server.close(),
  }
}

test('logs of a block that the node does not have yet are not taken for none', async () => {
  const node = await startNode(3)
  const found = await node.rpc.logs({ from: 98, to: 100 })
  expect(found.map(({ number }) => number)).toEqual([98, 99, 100])
  node.stop()
})

test('nor are they where the node never gets it', async () => {
  const node = await startNode(Number.POSITIVE_INFINITY)
  await expect(node.rpc.logs({ from: 98, to: 100 })).rejects.toThrow('does not have it')
  node.stop()
})

test('the header that comes with the logs of final blocks is not asked for again', async () => {
  const node = await startNode(0)
  const source = openRpcFinal({ rpc: node.rpc, finality: 10, span: () => 100 })
  const blocks = await source.read([{}], 1, 40)
  expect(blocks.map(({ header }) => header.height)).toContain(40)
  expect([1, 40].map(end => node.headers.filter(height => height === end).length)).toEqual([1, 1])
  node.stop()
})

test('long answers share no request with others, but the header that proves that the node has the blocks', async () => {
  const node = await startNode(1, height => (height < 50 ? 1 : 100))
  const source = openRpcFinal({ rpc: node.rpc, finality: 10, span: () => 100 })
  const read = async (from: number, to: number) => {
    const before = node.batches.length
    await Promise.all([source.read([{}], from, to), source.read([{}], from, to)])
    return node.batches.slice(before).filter(methods => methods.includes('eth_getLogs'))
  }
  const [logs, header] = ['eth_getLogs', 'eth_getBlockByNumber']
  expect(await read(1, 40)).toEqual([[logs, header, logs, header]])
  expect(await read(50, 60)).toEqual([[logs, header, logs, header]])
  expect(await read(61, 70)).toEqual([
    [logs, header],
    [logs, header],
  ])
  expect(await read(71, 71)).toEqual([[logs, header, logs, header]])
  node.stop()
})

test('more logs than are to be held are said to be too many, with how far they are not, and fewer blocks are asked for', async () => {
  // Five in a block from block 50 on.
  const node = await startNode(1, height => (height < 50 ? 0 : 5))
  const tooMany = await node.rpc.logs({ from: 1, to: 100, most: 100 }).catch(error => error)
  expect(tooMany).toBeInstanceOf(TooManyLogsError)
  // Blocks 50 to 69 have a hundred.
  expect(tooMany.reached).toBe(69)
  const some = await node.rpc.logs({ from: 1, to: 69, most: 100 })
  expect(some.flatMap(({ logs }) => logs)).toHaveLength(100)
  expect(node.widths).toEqual([100, 50, 19])
  // One block has what it has.
  expect((await node.rpc.logs({ from: 70, to: 70, most: 2 }))[0]?.logs).toHaveLength(5)
  expect(await node.rpc.logs({ from: 70, to: 71, most: 2 }).catch(error => error.reached)).toBe(70)
  node.stop()
})

test('a log counts once more for each 256 bytes of its data', async () => {
  const node = await startNode(1, () => 1, `0x${'00'.repeat(9 * 256)}`)
  // Ten each.
  const tooMany = await node.rpc.logs({ from: 1, to: 100, most: 100 }).catch(error => error)
  expect(tooMany.reached).toBe(10)
  expect(await node.rpc.logs({ from: 1, to: 10, most: 100 })).toHaveLength(10)
  node.stop()
})

test('of the data of a log no more is held than any event has', async () => {
  const node = await startNode(1, () => 1, `0x${'AB'.repeat(100_000)}`)
  const [found] = await node.rpc.logs({ from: 1, to: 1 })
  expect(found?.logs[0]?.data).toBe(`0x${'ab'.repeat(16_384)}`)
  node.stop()
})

test.each([
  { address: null },
  { topics: 'none' },
  { topics: [word(1), 2] },
  { data: 'ab' },
  { logIndex: 0 },
  { transactionHash: undefined },
  { blockNumber: '0xg' },
  { blockHash: {} },
])('a log with %o is refused, and so are those beside it', async spoilt => {
  const node = await startNode(1, () => 1, '0x', spoilt)
  await expect(node.rpc.logs({ from: 1, to: 2 })).rejects.toThrow(Object.keys(spoilt)[0])
  node.stop()
})

test.each([
  ['says it', { blockTimestamp: '0x67bf0000' }, 0x67bf0000],
  ['says nothing', {}, undefined],
  ['says 0', { blockTimestamp: '0x0' }, undefined],
  ['says what is no number', { blockTimestamp: 'soon' }, undefined],
  ['says more than a number holds', { blockTimestamp: `0x${'f'.repeat(20)}` }, undefined],
])('logs come with the time of their block where the node %s', async (_, said, time) => {
  const node = await startNode(1, () => 2, '0x', said)
  const found = await node.rpc.logs({ from: 1, to: 2 })
  expect(found.map(({ toldTime, logs }) => [toldTime, logs.length])).toEqual([
    [time, 2],
    [time, 2],
  ])
  node.stop()
})

test('nothing instead of logs is not asked for again without end', async () => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const asked = [JSON.parse(Buffer.concat(chunks).toString())].flat() as Ask[]
      const block = (number: string) => ({ number, hash: word(1), parentHash: word(2), timestamp: '0x1' })
      const answers = asked.map(({ id, method, params: [what] }) => ({
        jsonrpc: '2.0',
        id,
        result: method === 'eth_getLogs' ? null : block(String(what)),
      }))
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const rpc = openChainRpc([`http://127.0.0.1:${port}`])
  await expect(rpc.logs({ from: 1, to: 10 })).rejects.toThrow('answers nothing')
  await expect(rpc.logs({ from: 1, to: 1 })).rejects.toThrow('answers nothing')
  server.close()
})

test.each([
  [20_000_000 - 10, 8],
  [20_000_000 - 3_000, 16],
  [3, 28],
])(
  'the block %i in which a contract was made is found in at most %i questions that wait for one another',
  async (made, most) => {
    let requests = 0
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', chunk => chunks.push(chunk))
      request.on('end', () => {
        requests++
        const asked = [JSON.parse(Buffer.concat(chunks).toString())].flat() as {
          id: number
          method: string
          params: [string, string]
        }[]
        const answers = asked.map(({ id, method, params: [what, at] }) => {
          if (method === 'eth_getCode')
            return { jsonrpc: '2.0', id, result: Number(at) >= made ? '0x60' : '0x' }
          if (method === 'eth_getBlockByNumber')
            return {
              jsonrpc: '2.0',
              id,
              result: { number: what, hash: word(1), parentHash: word(2), timestamp: '0x7' },
            }
          // Somebody who had sent transactions by then: the node has the state of those blocks.
          if (method === 'eth_getTransactionByBlockNumberAndIndex')
            return { jsonrpc: '2.0', id, result: { from: `0x${'1'.repeat(40)}`, nonce: '0x5', type: '0x2' } }
          return { jsonrpc: '2.0', id, result: '0x6' }
        })
        response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const rpc = openChainRpc([`http://127.0.0.1:${port}`])
    const block = { number: 20_000_000, hash: word(20_000_000), timestamp: 9 }
    expect(await rpc.reader(block).deployment(word(1).slice(0, 42))).toEqual({ block: made, timestamp: 7 })
    expect(requests).toBeLessThanOrEqual(most)
    server.close()
  },
)
