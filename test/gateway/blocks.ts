import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** Fields as the SQD archive gives them: counts as numbers, quantities as hex. */
export type Fields = Record<string, unknown>

export interface GatewayLog extends Fields {
  logIndex: number
  transactionIndex: number
  transactionHash: string
  address: string
  topics: string[]
  data: string
}

export interface GatewayTransaction extends Fields {
  transactionIndex: number
  hash: string
  from: string
  to?: string
}

export interface GatewayBlock {
  /** timestamp in unix seconds. */
  header: { number: number; hash: string; parentHash: string; timestamp: number } & Fields
  transactions: GatewayTransaction[]
  logs: GatewayLog[]
}

/** Where a gateway has its blocks from. Numbers that are not there are served as empty blocks. */
export interface BlockSource {
  /** Height of the highest block. */
  height(): number
  /** The blocks with numbers from..to that there are, in order; read no further than they are asked for. */
  blocks(from: number, to: number): Iterable<GatewayBlock> | AsyncIterable<GatewayBlock>
}

/** Blocks kept in memory, in any order. */
export function memoryBlocks(blocks: Iterable<GatewayBlock>): BlockSource {
  const sorted = [...blocks].sort((a, b) => a.header.number - b.header.number)
  return {
    height: () => sorted.at(-1)?.header.number ?? 0,
    *blocks(from, to) {
      let low = 0
      let high = sorted.length
      while (low < high) {
        const middle = (low + high) >> 1
        if ((sorted[middle]?.header.number ?? Infinity) < from) low = middle + 1
        else high = middle
      }
      for (let i = low; i < sorted.length; i++) {
        const block = sorted[i]
        if (!block || block.header.number > to) return
        yield block
      }
    },
  }
}

/** Blocks made when they are asked for: `make` gives block n, the same one every time. */
export function generatedBlocks(height: number, make: (number: number) => GatewayBlock): BlockSource {
  return {
    height: () => height,
    *blocks(from, to) {
      for (let n = Math.max(0, from); n <= Math.min(to, height); n++) yield make(n)
    },
  }
}

const hex = z.string().regex(/^0x[0-9a-fA-F]*$/)
const quantity = hex.transform(Number)
const rpcLog = z.object({
  address: hex,
  topics: z.array(hex),
  data: hex,
  logIndex: quantity,
  transactionIndex: quantity,
  transactionHash: hex,
})
const rpcReceipt = z.looseObject({
  transactionHash: hex,
  transactionIndex: quantity,
  from: hex,
  to: hex.nullish(),
  logs: z.array(rpcLog),
})
const rpcTransaction = z.looseObject({ hash: hex, transactionIndex: quantity, from: hex, to: hex.nullish() })
const rpcBlock = z.looseObject({
  number: quantity,
  hash: hex,
  parentHash: hex,
  timestamp: quantity,
  transactions: z.array(z.union([hex, rpcTransaction])),
})

/** Fields that the archive gives as numbers and a node as hex. */
const COUNTS = new Set(['size', 'l1BlockNumber', 'nonce', 'chainId', 'yParity', 'type', 'status'])

function archiveFields(source: object, counts: ReadonlySet<string>): Fields {
  const fields: Fields = {}
  for (const [name, value] of Object.entries(source)) {
    if (value === null || value === undefined) continue
    fields[name] = counts.has(name) && typeof value === 'string' ? Number(value) : value
  }
  return fields
}

/** A block as the archive has it, from a node's answers to eth_getBlockByHash and eth_getBlockReceipts. */
export function blockFromRpc(block: unknown, receipts: unknown): GatewayBlock {
  const b = rpcBlock.parse(block)
  const parsed = z.array(rpcReceipt).parse(receipts)
  const byHash = new Map(b.transactions.flatMap(t => (typeof t === 'string' ? [] : [[t.hash, t] as const])))
  const { transactions: _, ...header } = b
  return {
    header: {
      ...archiveFields(header, new Set(['size', 'l1BlockNumber'])),
      number: b.number,
      hash: b.hash,
      parentHash: b.parentHash,
      timestamp: b.timestamp,
    },
    transactions: parsed.map(({ logs: _logs, logsBloom: _bloom, ...receipt }) => {
      const transaction = byHash.get(receipt.transactionHash) ?? {}
      const fields = archiveFields({ ...transaction, ...receipt }, COUNTS)
      const input = typeof fields.input === 'string' ? fields.input : '0x'
      return {
        ...fields,
        transactionIndex: receipt.transactionIndex,
        hash: receipt.transactionHash,
        from: receipt.from,
        ...(input.length >= 10 ? { sighash: input.slice(0, 10) } : {}),
      }
    }),
    logs: parsed.flatMap(receipt => receipt.logs),
  }
}

/** The blocks of a folder <number>/block.json, <number>/receipts.json. */
export function recordedBlocks(folder: string): BlockSource {
  const read = (...path: string[]): unknown => JSON.parse(readFileSync(join(folder, ...path), 'utf8'))
  return memoryBlocks(
    readdirSync(folder).map(number =>
      blockFromRpc(read(number, 'block.json'), read(number, 'receipts.json')),
    ),
  )
}
