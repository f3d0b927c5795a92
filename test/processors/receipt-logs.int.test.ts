import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { OnLeftOut } from '../../processors/source/receipt-logs.ts'
import { openChainRpc } from '../../processors/source/rpc.ts'

const HEIGHT = 7
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const address = (value: number) => `0x${value.toString(16).padStart(40, '0')}`
const TOPIC = word(0xd)
/** More than is read of one answer. */
const TOO_LONG = 65 * 1024 * 1024

interface Call {
  id: number
  method: string
  params: unknown[]
}

const logOf = (transaction: number) => ({
  address: address(transaction),
  topics: [TOPIC],
  data: '0x',
  logIndex: `0x${transaction.toString(16)}`,
  transactionHash: word(transaction),
  blockNumber: `0x${HEIGHT.toString(16)}`,
  blockHash: word(HEIGHT),
})

/** A node with one block of three transactions, of which it answers some calls by too much. */
async function startNode(isTooLong: (call: Call) => boolean) {
  const asked: string[] = []
  const results: Record<string, (params: unknown[]) => unknown> = {
    eth_getBlockByNumber: () => ({
      number: `0x${HEIGHT.toString(16)}`,
      hash: word(HEIGHT),
      parentHash: word(HEIGHT - 1),
      timestamp: '0x1',
      transactions: [1, 2, 3].map(word),
    }),
    eth_getLogs: () => [1, 2, 3].map(logOf),
    eth_getBlockReceipts: () => [1, 2, 3].map(transaction => ({ logs: [logOf(transaction)] })),
    eth_getTransactionReceipt: ([hash]) => ({ logs: [logOf(Number(hash))] }),
  }
  const answer = async (calls: Call[], response: ServerResponse) => {
    response.setHeader('content-type', 'application/json')
    response.on('error', () => {})
    asked.push(...calls.map(({ method }) => method))
    const answers = calls.map(({ id, method, params }) => ({
      jsonrpc: '2.0',
      id,
      result: results[method]?.(params),
    }))
    if (calls.some(isTooLong)) response.write(' '.repeat(TOO_LONG))
    response.end(JSON.stringify(calls.length === 1 ? answers[0] : answers))
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => void answer([JSON.parse(Buffer.concat(chunks).toString())].flat(), response))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const left: Parameters<OnLeftOut>[0][] = []
  return {
    rpc: openChainRpc([url], { onLeftOut: async one => void left.push(one) }),
    asked,
    left,
    count: (method: string) => asked.filter(one => one === method).length,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const FILTER = { topics: [[TOPIC]], from: HEIGHT, to: HEIGHT }

test('a block whose logs are too much for one answer is read by its receipts', async () => {
  const node = await startNode(({ method }) => method === 'eth_getLogs')
  const [block] = await node.rpc.logs(FILTER)
  expect(block?.logs.map(({ transactionHash }) => transactionHash)).toEqual([1, 2, 3].map(word))
  const [named] = await node.rpc.logs({ ...FILTER, address: [address(2)] })
  expect(named?.logs.map(({ logIndex }) => logIndex)).toEqual([2])
  expect(await node.rpc.logs({ ...FILTER, topics: [[word(0xe)]] })).toEqual([])
  // Once in a batch, once alone: then it is not asked again as it was.
  expect(node.count('eth_getLogs')).toBeLessThanOrEqual(6)
  const before = node.count('eth_getLogs')
  await node.rpc.logs(FILTER)
  expect(node.count('eth_getLogs')).toBe(before)
  node.stop()
})

test('or by those of its transactions; what is more than that even alone is left out, and told', async () => {
  const node = await startNode(
    ({ method, params }) =>
      method === 'eth_getLogs' || method === 'eth_getBlockReceipts' || params[0] === word(2),
  )
  const [block] = await node.rpc.logs(FILTER)
  expect(block?.logs.map(({ transactionHash }) => transactionHash)).toEqual([1, 3].map(word))
  expect(node.left).toHaveLength(1)
  expect(node.left[0]).toMatchObject({ block: HEIGHT, hash: word(HEIGHT), transaction: word(2) })
  expect(node.left[0]?.reason).toContain('an answer of more than 67108864 bytes')
  node.stop()
})
