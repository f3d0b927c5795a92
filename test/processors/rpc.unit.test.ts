import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HttpRequestError, RpcRequestError, TimeoutError, UnknownRpcError } from 'viem'
import { describe, expect, test } from 'vitest'
import { openChainRpc, RpcRefusedError } from '../../processors/rpc.ts'

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

interface Ask {
  id: number
  method: string
  params: [{ fromBlock: string; toBlock: string }] | [string, boolean]
}

/** A node with a log in each block, which has the block 100 from the n-th request on. */
async function startNode(hasHeadFrom: number) {
  let requests = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const head = ++requests < hasHeadFrom ? 99 : 100
      const asked = [JSON.parse(Buffer.concat(chunks).toString())].flat() as Ask[]
      const answers = asked.map(({ id, params: [what] }) => {
        if (typeof what === 'string') {
          const height = Number(what)
          const block = { number: what, hash: word(height), timestamp: '0x1' }
          return { jsonrpc: '2.0', id, result: height <= head ? block : null }
        }
        const [from, to] = [Number(what.fromBlock), Math.min(head, Number(what.toBlock))]
        const result = Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => ({
          address: word(1),
          topics: [],
          data: '0x',
          logIndex: '0x0',
          transactionHash: word(2),
          blockNumber: `0x${(from + i).toString(16)}`,
          blockHash: word(from + i),
        }))
        return { jsonrpc: '2.0', id, result }
      })
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { rpc: openChainRpc([`http://127.0.0.1:${port}`], word(0)), stop: () => server.close() }
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

describe('what a refusal means', () => {
  const body = { method: 'eth_call' }
  /** As viem gives it for a node whose address has the words that are looked for. */
  const url = 'https://archive-execution.reverted-stack.example/state-is-pruned'
  const said = (message: string, code = -32_000) =>
    new RpcRefusedError(
      'eth_call',
      new UnknownRpcError(new RpcRequestError({ body, error: { code, message }, url })),
    )

  test.each([
    ['execution reverted: too low', 'revert'],
    ['VM execution error.', 'revert'],
    ['invalid opcode: opcode 0xfe not defined', 'revert'],
    ['EVM error StackUnderflow', 'revert'],
    ['stack underflow (0 <=> 2)', 'revert'],
    ['missing trie node 12 (path ) state 0x12 is not available', 'missing state'],
    ['this block is pruned', 'missing state'],
    ['execution aborted (timeout = 5s)', 'neither'],
    ['too many requests', 'neither'],
  ])('%s: %s', (message, meaning) => {
    const error = said(message)
    expect(error.isRevert ? 'revert' : error.isMissingState ? 'missing state' : 'neither').toBe(meaning)
    expect(error.isAnswered).toBe(true)
  })

  test.each([
    ['rate limit', new HttpRequestError({ url, body, status: 429, details: 'execution reverted' })],
    ['gateway', new HttpRequestError({ url, body, status: 502, details: 'Bad Gateway' })],
    ['silence', new TimeoutError({ url, body })],
  ])('%s says nothing of the contract, whatever the address is called', (_, cause) => {
    const error = new RpcRefusedError('eth_call', cause)
    expect([error.isRevert, error.isMissingState, error.isAnswered]).toEqual([false, false, false])
  })
})
