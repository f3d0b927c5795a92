import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { GatewayBlock } from '../test/gateway/blocks.ts'
import { evmDataset } from '../test/portal/evm.ts'
import { type Query, startPortal } from '../test/portal/server.ts'
import type { RpcBlock } from '../test/svm/chain.ts'
import { svmDataset } from '../test/svm/portal-server.ts'

/** A Portal in a process of its own, over blocks of a file (a line of JSON each): says its URL, and answers until it is killed. */
const [kind, file = ''] = process.argv.slice(2)
const blocks: unknown[] = []
for await (const line of createInterface({ input: createReadStream(file) })) blocks.push(JSON.parse(line))
const dataset =
  kind === 'evm'
    ? evmDataset(blocks as GatewayBlock[], { chunk: 500 })
    : svmDataset({ blocks: blocks as RpcBlock[], head: blocks.at(-1) as RpcBlock }, { chunk: 500 })
const { chunks } = dataset
// Asked the same again it does not look again: what is measured is who asks.
const had = new Map<string, string[][]>()
dataset.chunks = function* (query: Query) {
  const key = JSON.stringify(query)
  const kept = had.get(key)
  if (kept) return yield* kept
  const found: string[][] = []
  for (const chunk of chunks(query)) {
    found.push(chunk)
    yield chunk
  }
  had.set(key, found)
}
// Those of Solana end where whoever asks takes a pause.
const portal = await startPortal(dataset, { mostChunks: kind === 'evm' ? 100 : 4 })
process.stdout.write(`${portal.url}\n`)
