import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EvmBatchProcessor } from '@subsquid/evm-processor'
import type { FinalDatabase } from '@subsquid/util-internal-processor-tools'
import { afterEach, describe, expect, test } from 'vitest'
import type { SourceBlock } from '../../../processors/handling/block.ts'
import type { Subscription } from '../../../processors/handling/decode.ts'
import type { RawLog } from '../../../processors/protocol.ts'
import { evenPace } from '../../../processors/source/head.ts'
import { runSource } from '../../../processors/source/source.ts'
import { type GatewayBlock, generatedBlocks, memoryBlocks, recordedBlocks } from '../../gateway/blocks.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../gateway/server.ts'
import { describeRecorded, RECORDINGS, recordedBlockLogs, WHOLE_BLOCKS } from '../../recordings.ts'

const open: Gateway[] = []
async function gateway(options: GatewayOptions): Promise<string> {
  const started = await startGateway(options)
  open.push(started)
  return started.url
}
afterEach(async () => {
  await Promise.all(open.splice(0).map(g => g.close()))
})

/** A database that keeps what it is given, as far as the runner needs one. */
function memoryDatabase(): FinalDatabase<undefined> & { batches: number } {
  const database = {
    batches: 0,
    connect: async () => ({ height: -1, hash: '0x' }),
    transact: async (_: unknown, work: (store: undefined) => Promise<void>) => {
      await work(undefined)
      database.batches++
    },
  }
  return database
}

/** Everything that the real processor hands over from a gateway up to block `to`. */
async function processAll(url: string, to: number, subscriptions: Partial<Subscription>[] = [{}]) {
  const blocks: SourceBlock[] = []
  const database = memoryDatabase()
  const options = {
    gateway: url,
    finality: 0,
    pollInterval: 100,
    pace: evenPace(100),
    from: 0,
    to,
    subscriptions: () => subscriptions,
  }
  await runSource(options, database, async (_, batch) => void blocks.push(...batch.blocks))
  return { blocks, batches: database.batches }
}

const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}`
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`

/** Block n: three transactions, each with two logs of contract 0xa or 0xb. */
function block(number: number): GatewayBlock {
  const transactions = [0, 1, 2].map(transactionIndex => ({
    transactionIndex,
    hash: word(number * 10 + transactionIndex),
    from: address(1),
    to: address(2 + transactionIndex),
    sighash: '0x12345678',
    status: 1,
  }))
  const logs = transactions.flatMap(t =>
    [0, 1].map(i => ({
      logIndex: t.transactionIndex * 2 + i,
      transactionIndex: t.transactionIndex,
      transactionHash: t.hash,
      address: address(i === 0 ? 0xa : 0xb),
      topics: [word(i), word(number)],
      data: word(t.transactionIndex),
    })),
  )
  return {
    header: {
      number,
      hash: word(number + 1),
      parentHash: word(number),
      timestamp: 1_600_000_000 + number,
      gasUsed: '0x5',
    },
    transactions,
    logs,
  }
}

interface Answered {
  header: Record<string, unknown>
  logs?: Record<string, unknown>[]
  transactions?: Record<string, unknown>[]
}
async function ask(url: string, query: object): Promise<Answered[]> {
  const worker = await (await fetch(`${url}/0/worker`)).text()
  const response = await fetch(worker, { method: 'POST', body: JSON.stringify(query) })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Answered[]
}

describe('the protocol', () => {
  const blocks = generatedBlocks(20, block)
  const fields = {
    block: { timestamp: true },
    log: { address: true, topics: true },
    transaction: { hash: true },
  }

  test('height, worker, and what is not there', async () => {
    const url = await gateway({ blocks })
    expect(await (await fetch(`${url}/height`)).text()).toBe('20')
    expect(await (await fetch(`${url}/7/worker`)).text()).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/worker$/)
    expect((await fetch(`${url}/21/worker`)).status).toBe(503)
    expect((await fetch(`${url}/nowhere`)).status).toBe(404)
    const refused = await fetch(`${url}/worker`, { method: 'POST', body: '{"fromBlock":"x"}' })
    expect(refused.status).toBe(400)
    const traces = await fetch(`${url}/worker`, { method: 'POST', body: '{"fromBlock":0,"traces":[{}]}' })
    expect(await traces.text()).toContain('no traces')
  })

  test('only the fields asked for, and those that always come', async () => {
    const [first] = await ask(await gateway({ blocks }), {
      fromBlock: 3,
      toBlock: 3,
      fields,
      logs: [{ transaction: true }],
    })
    expect(first?.header).toEqual({ number: 3, hash: word(4), parentHash: word(3), timestamp: 1_600_000_003 })
    expect(first?.logs?.[0]).toEqual({
      logIndex: 0,
      transactionIndex: 0,
      address: address(0xa),
      topics: [word(0), word(3)],
    })
    expect(first?.transactions?.[0]).toEqual({ transactionIndex: 0, hash: word(30) })
  })

  test.each<[string, object, number[]]>([
    ['no filter', {}, [0, 1, 2, 3, 4, 5]],
    ['an address', { address: [address(0xb)] }, [1, 3, 5]],
    ['an address in upper case', { address: [address(0xb).toUpperCase().replace('0X', '0x')] }, [1, 3, 5]],
    ['topic0', { topic0: [word(0)] }, [0, 2, 4]],
    ['topic0 and address that exclude each other', { topic0: [word(0)], address: [address(0xb)] }, []],
    ['topic1', { topic1: [word(5), word(6)] }, [0, 1, 2, 3, 4, 5]],
    ['another topic1', { topic1: [word(6)] }, []],
    ['a topic that no log has', { topic3: [word(0)] }, []],
    ['an empty list', { address: [] }, []],
  ])('logs by %s', async (_, request, expected) => {
    const answer = await ask(await gateway({ blocks }), { fromBlock: 5, toBlock: 5, logs: [request] })
    expect((answer[0]?.logs ?? []).map(l => l.logIndex)).toEqual(expected)
  })

  test('two requests are one answer, and relations bring the rest of a transaction', async () => {
    const url = await gateway({ blocks })
    const either = [{ address: [address(0xb)] }, { topic0: [word(0)] }]
    const [both] = await ask(url, { fromBlock: 5, toBlock: 5, logs: either })
    expect(both?.logs?.map(l => l.logIndex)).toEqual([0, 1, 2, 3, 4, 5])
    const transactions = [{ to: [address(3)], logs: true }]
    const [related] = await ask(url, { fromBlock: 5, toBlock: 5, transactions, fields })
    expect(related?.logs?.map(l => l.logIndex)).toEqual([2, 3])
    expect(related?.transactions).toEqual([{ transactionIndex: 1, hash: word(51) }])
    const odd = memoryBlocks([
      { ...block(0), logs: block(0).logs.map(l => ({ ...l, topics: l.logIndex === 2 ? [word(9)] : [] })) },
    ])
    const [siblings] = await ask(await gateway({ blocks: odd }), {
      fromBlock: 0,
      logs: [{ topic0: [word(9)], transactionLogs: true }],
    })
    expect(siblings?.logs?.map(l => l.logIndex)).toEqual([2, 3])
  })

  test('the last block of a range is always there, with nothing asked for in it; all blocks on demand', async () => {
    const url = await gateway({ blocks })
    const nothing = [{ address: [address(0xc)] }]
    expect((await ask(url, { fromBlock: 2, toBlock: 9, logs: nothing })).map(b => b.header.number)).toEqual([
      2, 9,
    ])
    expect((await ask(url, { fromBlock: 2, logs: nothing })).map(b => b.header.number)).toEqual([2, 20])
    expect(
      (await ask(url, { fromBlock: 2, toBlock: 5, includeAllBlocks: true })).map(b => b.header.number),
    ).toEqual([2, 3, 4, 5])
  })

  test('blocks that the source lacks are empty ones', async () => {
    const url = await gateway({ blocks: memoryBlocks([block(9), block(4)]) })
    expect(
      (await ask(url, { fromBlock: 0, toBlock: 7, logs: [{}] })).map(b => [b.header.number, b.logs?.length]),
    ).toEqual([
      [4, 6],
      [7, undefined],
    ])
    const all = await ask(url, { fromBlock: 0, toBlock: 9, includeAllBlocks: true })
    expect(all.map(b => b.header.number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('answers end when they are full, and the next one goes on', async () => {
    const url = await gateway({ blocks, maxAnswer: 3000 })
    const seen: unknown[] = []
    let answers = 0
    for (let fromBlock = 0; fromBlock <= 20; answers++) {
      const answer = await ask(url, { fromBlock, logs: [{}], fields })
      seen.push(...answer.map(b => b.header.number))
      fromBlock = Number(answer.at(-1)?.header.number) + 1
    }
    expect(answers).toBeGreaterThan(3)
    expect(seen).toEqual(Array.from({ length: 21 }, (_, n) => n))
  })

  test('a port in use is a clear error', async () => {
    const port = Number(new URL(await gateway({ blocks })).port)
    await expect(startGateway({ blocks, port })).rejects.toThrow(/GATEWAY_PORT/)
  })
})

describe('the real EvmBatchProcessor', () => {
  test('gets every log of generated blocks, whatever the size of answers', async () => {
    const expected = Array.from({ length: 50 }, (_, n) => block(n)).flatMap(b =>
      b.logs.map(l => [b.header.number, l.logIndex]),
    )
    for (const maxAnswer of [1, 5_000, undefined]) {
      const { blocks } = await processAll(
        await gateway({ blocks: generatedBlocks(49, block), maxAnswer }),
        49,
      )
      expect(blocks.flatMap(b => b.logs.map(l => [b.ref.number, l.logIndex]))).toEqual(expected)
      expect(blocks.at(-1)?.ref).toEqual({ number: 49, hash: word(50), timestamp: 1_600_000_049 })
    }
  })

  test('gets only what it subscribed to', async () => {
    const { blocks } = await processAll(await gateway({ blocks: generatedBlocks(3, block) }), 3, [
      { topic0: [word(1)] },
    ])
    expect(blocks.flatMap(b => b.logs.map(l => l.logIndex))).toEqual([1, 3, 5, 1, 3, 5, 1, 3, 5, 1, 3, 5])
  })
})

/** The archive side of the processor, which checks every answer against the fields it asked for. */
interface ArchiveParts {
  getBatchRequests(): unknown[]
  getArchiveDataSource(): {
    getFinalizedBlocks(
      requests: unknown[],
    ): AsyncIterable<{ blocks: { transactions: Record<string, unknown>[] }[] }>
    getBlockHash(height: number): Promise<string>
  }
}

describeRecorded('recorded blocks through the real EvmBatchProcessor', () => {
  const chains = [...new Set(WHOLE_BLOCKS.map(([chain]) => chain))]
  test.each(chains)('%s: every log comes out as it was recorded', async chain => {
    const numbers = WHOLE_BLOCKS.flatMap(([c, n]) => (c === chain ? [n] : [])).sort((a, b) => a - b)
    const url = await gateway({
      blocks: recordedBlocks(join(RECORDINGS, 'whole-blocks', chain)),
      maxRange: 10_000_000,
    })
    const { blocks } = await processAll(url, numbers.at(-1) ?? 0)
    const withLogs = blocks.filter(b => b.logs.length > 0)
    const strip = ({ address: a, topics, data, logIndex, transactionHash }: RawLog): RawLog => ({
      address: a,
      topics,
      data,
      logIndex,
      transactionHash,
    })
    expect(withLogs.flatMap(b => b.logs.map(strip))).toEqual(
      numbers.flatMap(n => recordedBlockLogs(chain, n)).map(strip),
    )
    for (const { ref } of withLogs) {
      const file = join(RECORDINGS, 'whole-blocks', chain, `${ref.number}`, 'block.json')
      const header = JSON.parse(readFileSync(file, 'utf8')) as { hash: string; timestamp: string }
      expect(ref).toEqual({ number: ref.number, hash: header.hash, timestamp: Number(header.timestamp) })
    }
  })

  test.each(WHOLE_BLOCKS)(
    '%s %i: every field of block, transaction and log is as the processor wants it',
    async (chain, number) => {
      const url = await gateway({ blocks: recordedBlocks(join(RECORDINGS, 'whole-blocks', chain)) })
      const all = (names: string) => Object.fromEntries(names.split(' ').map(name => [name, true]))
      const processor = new EvmBatchProcessor()
        .setGateway(url)
        .setBlockRange({ from: number, to: number })
        .addTransaction({ logs: true })
        .setFields({
          block: all(
            'nonce sha3Uncles logsBloom transactionsRoot stateRoot receiptsRoot mixHash miner difficulty extraData size gasLimit gasUsed timestamp',
          ),
          transaction: all(
            'from to hash gas gasPrice input nonce value v r s sighash gasUsed cumulativeGasUsed type status contractAddress',
          ),
          log: all('address data topics transactionHash'),
        }) as unknown as ArchiveParts
      const source = processor.getArchiveDataSource()
      const file = (name: string) =>
        JSON.parse(readFileSync(join(RECORDINGS, 'whole-blocks', chain, `${number}`, name), 'utf8'))
      expect(await source.getBlockHash(number)).toBe(file('block.json').hash)
      const transactions: Record<string, unknown>[] = []
      for await (const { blocks } of source.getFinalizedBlocks(processor.getBatchRequests()))
        transactions.push(...blocks.flatMap(b => b.transactions))
      const receipts = file('receipts.json') as {
        transactionHash: string
        gasUsed: string
        status?: string
      }[]
      expect(transactions.map(t => [t.hash, t.gasUsed])).toEqual(
        receipts.map(r => [r.transactionHash, BigInt(r.gasUsed)]),
      )
    },
  )
})
