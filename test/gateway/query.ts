import { z } from 'zod'
import type { Fields, GatewayBlock, GatewayLog, GatewayTransaction } from './blocks.ts'

const hexList = z.array(z.string()).optional()
const flag = z.boolean().optional()
const selection = z.record(z.string(), z.boolean()).optional()

const logRequest = z.strictObject({
  address: hexList,
  topic0: hexList,
  topic1: hexList,
  topic2: hexList,
  topic3: hexList,
  transaction: flag,
  transactionLogs: flag,
  // Asked for only to be refused below, in words.
  transactionTraces: flag,
  transactionStateDiffs: flag,
})
const transactionRequest = z.strictObject({
  to: hexList,
  from: hexList,
  sighash: hexList,
  type: z.array(z.number()).optional(),
  logs: flag,
  traces: flag,
  stateDiffs: flag,
})

/** A worker query of the SQD archive, as far as a gateway of blocks and receipts can answer it. */
export const workerQuery = z
  .object({
    fromBlock: z.number().int().nonnegative(),
    toBlock: z.number().int().nonnegative().optional(),
    includeAllBlocks: flag,
    fields: z.object({ block: selection, transaction: selection, log: selection }).optional(),
    logs: z.array(logRequest).optional(),
    transactions: z.array(transactionRequest).optional(),
    traces: z.array(z.unknown()).optional(),
    stateDiffs: z.array(z.unknown()).optional(),
  })
  .refine(q => !q.traces?.length && !q.stateDiffs?.length, 'this gateway has no traces and no state diffs')
  .refine(
    q => !q.logs?.some(l => l.transactionTraces || l.transactionStateDiffs),
    'this gateway has no traces and no state diffs',
  )
export type WorkerQuery = z.infer<typeof workerQuery>

export interface AnsweredBlock {
  header: Fields
  transactions?: Fields[]
  logs?: Fields[]
}

type Test<T> = (item: T) => boolean

/** No list: anything; an empty list: nothing (as in the archive). */
function oneOf<T, V>(get: (item: T) => V, values: readonly V[] | undefined): Test<T>[] {
  if (values === undefined) return []
  const set = new Set(values)
  return [item => set.has(get(item))]
}

const matches = <T>(tests: readonly Test<T>[], item: T) => tests.every(test => test(item))

/** Prepares a query once; the result answers block after block, undefined where a block holds nothing asked for. */
export function compileQuery(
  query: WorkerQuery,
): (block: GatewayBlock, isBoundary: boolean) => AnsweredBlock | undefined {
  const lower = (values: string[] | undefined) => values?.map(v => v.toLowerCase())
  const logRequests = (query.logs ?? []).map(r => ({
    tests: [
      ...oneOf<GatewayLog, string | undefined>(l => l.address, lower(r.address)),
      ...([r.topic0, r.topic1, r.topic2, r.topic3] as const).flatMap((topics, i) =>
        oneOf<GatewayLog, string | undefined>(l => l.topics[i], lower(topics)),
      ),
    ],
    transaction: r.transaction ?? false,
    transactionLogs: r.transactionLogs ?? false,
  }))
  const transactionRequests = (query.transactions ?? []).map(r => ({
    tests: [
      ...oneOf<GatewayTransaction, string | undefined>(t => t.to, lower(r.to)),
      ...oneOf<GatewayTransaction, string | undefined>(t => t.from, lower(r.from)),
      ...oneOf<GatewayTransaction, unknown>(t => t.sighash, lower(r.sighash)),
      ...oneOf<GatewayTransaction, unknown>(t => t.type, r.type),
    ],
    logs: r.logs ?? false,
  }))
  const project = {
    header: projector(query.fields?.block, ['number', 'hash', 'parentHash']),
    log: projector(query.fields?.log, ['logIndex', 'transactionIndex']),
    transaction: projector(query.fields?.transaction, ['transactionIndex']),
  }

  return (block, isBoundary) => {
    const logs = new Set<GatewayLog>()
    const transactions = new Set<number>()
    const withLogs = new Set<number>()
    if (logRequests.length > 0) {
      for (const log of block.logs) {
        for (const request of logRequests) {
          if (!matches(request.tests, log)) continue
          logs.add(log)
          if (request.transaction) transactions.add(log.transactionIndex)
          if (request.transactionLogs) withLogs.add(log.transactionIndex)
        }
      }
    }
    for (const request of transactionRequests) {
      for (const transaction of block.transactions) {
        if (!matches(request.tests, transaction)) continue
        transactions.add(transaction.transactionIndex)
        if (request.logs) withLogs.add(transaction.transactionIndex)
      }
    }
    if (withLogs.size > 0) for (const log of block.logs) if (withLogs.has(log.transactionIndex)) logs.add(log)
    if (!isBoundary && !query.includeAllBlocks && logs.size === 0 && transactions.size === 0) return undefined
    return {
      header: project.header(block.header),
      ...(transactions.size > 0
        ? {
            transactions: block.transactions
              .filter(t => transactions.has(t.transactionIndex))
              .map(project.transaction),
          }
        : {}),
      ...(logs.size > 0 ? { logs: [...logs].sort((a, b) => a.logIndex - b.logIndex).map(project.log) } : {}),
    }
  }
}

function projector(
  selected: Record<string, boolean> | undefined,
  always: string[],
): (item: Fields) => Fields {
  const names = [
    ...new Set([...always, ...Object.entries(selected ?? {}).flatMap(([n, on]) => (on ? [n] : []))]),
  ]
  return item => {
    const result: Fields = {}
    for (const name of names) if (item[name] !== undefined) result[name] = item[name]
    return result
  }
}
