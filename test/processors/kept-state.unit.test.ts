import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { StateMissingError } from '../../db/chain/errors.ts'
import { openChainRpc } from '../../processors/source/rpc.ts'

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`
const CONTRACT = `0x${'c'.repeat(40)}`
const LATER = `0x${'d'.repeat(40)}`
const SENDER = `0x${'5'.repeat(40)}`
const IDENTITY = '0x0000000000000000000000000000000000000004'
const HEAD = 100
const BORN: Record<string, number> = { [CONTRACT]: 10, [LATER]: 95 }

interface Question {
  id: number
  method: string
  params: [string | { to?: string; data: string }, (string | { blockHash: string })?]
}

let stop = () => {}
afterEach(() => stop())

/**
 * A chain of 100 blocks, with a transaction in each. Of blocks below `keptFrom` the node answers as older Erigon does: as if
 * there were no accounts. `sends` says in which blocks an account sends, the others have a rollup's own transaction.
 */
async function startNode(keptFrom: number, sends: (height: number) => boolean = () => true) {
  const methods: string[] = []
  const heightOf = (at: unknown) => {
    if (at === 'latest') return HEAD
    const hash = (at as { blockHash?: string } | undefined)?.blockHash
    return Number(hash ?? at)
  }
  function answer({ method, params: [what, at] }: Question): unknown {
    methods.push(method)
    const height = heightOf(at)
    const exists = (contract: string) => height >= keptFrom && height >= (BORN[contract] ?? Infinity)
    switch (method) {
      case 'eth_blockNumber':
        return `0x${HEAD.toString(16)}`
      case 'eth_getBlockByNumber': {
        const number = heightOf(what)
        return number > HEAD
          ? null
          : { number: what, hash: word(number), parentHash: word(number - 1), timestamp: '0x1' }
      }
      case 'eth_getTransactionByBlockNumberAndIndex': {
        const number = heightOf(what)
        if (number > HEAD || Number(at) > 0) return null
        return sends(number)
          ? { from: SENDER, nonce: `0x${number.toString(16)}`, type: '0x2' }
          : { from: IDENTITY, nonce: '0x7', type: '0x6a' }
      }
      case 'eth_getTransactionCount':
        return what === SENDER && height >= keptFrom ? `0x${(height + 1).toString(16)}` : '0x0'
      case 'eth_getCode':
        return exists(String(what)) ? '0x6000' : '0x'
      case 'eth_call': {
        const { to, data } = what as { to: string; data: string }
        return to === IDENTITY ? data : exists(to) ? word(42) : '0x'
      }
      default:
        return null
    }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const parsed = JSON.parse(Buffer.concat(chunks).toString()) as Question | Question[]
      const answers = [parsed].flat().map(asked => ({ jsonrpc: '2.0', id: asked.id, result: answer(asked) }))
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  stop = () => server.close()
  const { port } = server.address() as AddressInfo
  return { rpc: openChainRpc([`http://127.0.0.1:${port}`]), methods }
}

const block = (number: number) => ({ number, hash: word(number), timestamp: 1 })
const CALLS = [{ to: CONTRACT, data: '0x06fdde03' }]

test('a node that answers of dropped state as of an empty chain has no state there', async () => {
  const { rpc } = await startNode(60)
  expect(await rpc.calls(CALLS, block(60))).toEqual([word(42)])
  await expect(rpc.calls(CALLS, block(59))).rejects.toBeInstanceOf(StateMissingError)
})

test('what is asked of code there is unknown, not absent', async () => {
  const { rpc } = await startNode(60)
  await expect(rpc.codeAt([CONTRACT], 30)).rejects.toBeInstanceOf(StateMissingError)
  expect(await rpc.codeAt([CONTRACT, LATER], 70)).toEqual([CONTRACT])
  expect(await rpc.haveCode([CONTRACT, LATER], block(70))).toEqual(new Set([CONTRACT]))
})

test('a contract was made where the node says so, not where its memory begins', async () => {
  const { rpc } = await startNode(60)
  const deployment = (contract: string) => rpc.reader(block(HEAD)).deployment(contract)
  expect(await deployment(LATER)).toEqual({ block: 95, timestamp: 1 })
  expect(await deployment(CONTRACT)).toBeUndefined()
  stop()
  const archive = await startNode(0)
  expect(await archive.rpc.reader(block(HEAD)).deployment(CONTRACT)).toEqual({ block: 10, timestamp: 1 })
})

test('an archive is believed that there is nothing yet, and is not asked again each time', async () => {
  const { rpc, methods } = await startNode(0)
  for (const height of [5, 6, 7, 8]) expect(await rpc.calls(CALLS, block(height))).toEqual([undefined])
  expect(methods.filter(method => method === 'eth_getTransactionCount')).toHaveLength(2)
})

test('the witness is somebody who sent, in that block or soon after', async () => {
  const { rpc } = await startNode(60, height => height % 4 === 0)
  await expect(rpc.calls(CALLS, block(49))).rejects.toBeInstanceOf(StateMissingError)
  stop()
  // Nobody to ask: it is taken as it is said.
  const quiet = await startNode(60, () => false)
  expect(await quiet.rpc.calls(CALLS, block(49))).toEqual([undefined])
})

test('how far up a node dropped state is found out once, and blocks that have it are read', async () => {
  const { rpc, methods } = await startNode(60)
  await expect(rpc.calls(CALLS, block(3))).rejects.toBeInstanceOf(StateMissingError)
  const asked = methods.length
  for (let height = 4; height < 60; height++)
    await expect(rpc.calls(CALLS, block(height))).rejects.toBeInstanceOf(StateMissingError)
  expect(methods).toHaveLength(asked)
  expect(await rpc.calls(CALLS, block(60))).toEqual([word(42)])
})
