import { createServer } from 'node:http'
import type { Dataset, Query } from '../portal/server.ts'
import type { TestChain } from './chain.ts'
import { svmDataset } from './portal-server.ts'
import { listening } from './rpc-server.ts'

interface Line {
  header: { number: number } & Record<string, unknown>
  instructions: { transactionIndex: number; instructionAddress: number[] }[]
}

export interface Gateway {
  url: string
  /** Those that came. */
  readonly queries: Query[]
  close(): Promise<void>
}

/**
 * A gateway of SQD's second version over a test chain, as `@subsquid/util-internal-archive-client` asks it: heights in place of
 * slots, a worker for each query, one array of blocks.
 */
export async function startGateway(chain: Pick<TestChain, 'blocks' | 'head'>): Promise<Gateway> {
  const dataset = svmDataset(chain)
  const queries: Query[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', part => parts.push(part))
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'http://gateway')
      const say = (text: string) => void response.setHeader('content-type', 'text/plain').end(text)
      if (pathname === '/height') return say(String(chain.head.blockHeight))
      if (pathname.endsWith('/worker')) return say(`http://${request.headers.host}/query`)
      const query = JSON.parse(Buffer.concat(parts).toString()) as Query
      queries.push(query)
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(blocksOf(chain, dataset, query)))
    })
  })
  const url = await listening(server)
  return {
    url,
    queries,
    close: () =>
      new Promise(done => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** One chunk, as a worker gives it. */
function blocksOf(chain: Pick<TestChain, 'blocks' | 'head'>, dataset: Dataset, query: Query): Line[] {
  const { fromBlock, toBlock = chain.head.blockHeight } = query
  const within = chain.blocks.filter(({ blockHeight }) => blockHeight >= fromBlock && blockHeight <= toBlock)
  const [first, last] = [within[0], within.at(-1)]
  if (!first || !last) return []
  const [lines = []] = dataset.chunks({ ...query, fromBlock: first.slot, toBlock: last.slot })
  return lines.map(text => {
    const { header, instructions, ...items } = JSON.parse(text) as Line
    instructions.sort(
      (a, b) =>
        a.transactionIndex - b.transactionIndex || inOrder(a.instructionAddress, b.instructionAddress),
    )
    const { blockHeight, parentSlot } = chain.blocks.find(({ slot }) => slot === header.number) ?? first
    return {
      header: { ...header, number: blockHeight, slot: header.number, parentSlot },
      instructions,
      ...items,
    }
  })
}

/** An instruction stands before those that it calls. */
function inOrder(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((step, i) => step !== b[i])
  return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1)
}
