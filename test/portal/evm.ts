import { z } from 'zod'
import { type GatewayBlock, memoryBlocks } from '../gateway/blocks.ts'
import { compileQuery } from '../gateway/query.ts'
import { BadQuery, type Dataset, type Query } from './server.ts'

const hash = z.string().regex(/^0x[0-9a-f]{64}$/)
const address = z.string().regex(/^0x[0-9a-f]{40}$/)
const flag = z.boolean().optional()
/** util/portal-client/src/query/evm/query.ts of subsquid/squid-sdk; hex in lower case, an unknown field is refused. */
const evmQuery = z.strictObject({
  type: z.literal('evm'),
  fromBlock: z.number(),
  toBlock: z.number().optional(),
  parentBlockHash: z.string().optional(),
  includeAllBlocks: flag,
  fields: z
    .strictObject({
      block: z.record(z.string(), z.boolean()).optional(),
      log: z.record(z.string(), z.boolean()).optional(),
      transaction: z.record(z.string(), z.boolean()).optional(),
    })
    .optional(),
  logs: z
    .array(
      z.strictObject({
        address: z.array(address).optional(),
        topic0: z.array(hash).optional(),
        topic1: z.array(hash).optional(),
        topic2: z.array(hash).optional(),
        topic3: z.array(hash).optional(),
        transaction: flag,
        transactionLogs: flag,
      }),
    )
    .optional(),
})

/** A chain of EVM blocks behind a Portal; all of them, from the first one on, are final. */
export function evmDataset(
  blocks: readonly GatewayBlock[],
  { name = 'test-mainnet', chunk = 50 }: { name?: string; chunk?: number } = {},
): Dataset & { top: number } {
  const byNumber = new Map(blocks.map(block => [block.header.number, block]))
  const source = memoryBlocks(blocks)
  const start = Math.min(...byNumber.keys())
  const dataset = {
    name,
    start,
    /** The newest final block: others of the chain are not known yet. */
    top: source.height(),
    head: () => ({ number: dataset.top, hash: dataset.hash(dataset.top) ?? '' }),
    hash: (number: number) => byNumber.get(number)?.header.hash,
    *chunks(query: Query) {
      const parsed = evmQuery.safeParse(query)
      if (!parsed.success) throw new BadQuery(z.prettifyError(parsed.error))
      const { fromBlock, toBlock = dataset.top } = parsed.data
      const select = compileQuery(parsed.data)
      for (let from = fromBlock; from <= toBlock; ) {
        // Chunks lie where they lie, wherever a query begins.
        const to = Math.min(toBlock, from - (from % chunk) + chunk - 1)
        const lines: string[] = []
        for (const block of source.blocks(from, to) as Iterable<GatewayBlock>) {
          const { number } = block.header
          const answered = select(block, number === from || number === to)
          if (answered) lines.push(JSON.stringify(answered))
        }
        yield lines
        from = to + 1
      }
    },
  }
  return dataset
}
