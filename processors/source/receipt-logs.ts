import { numberToHex } from 'viem'
import { z } from 'zod'
import { RpcRefusedError } from '../../db/chain/errors.ts'
import type { Ask } from '../../db/chain/failover.ts'
import { UnavailableError } from '../../db/process/errors.ts'
import { steadyNow } from '../../db/process/steady.ts'

/** Receipts that are asked for at the same time, where a block's are not to be had together. */
const SIDE_BY_SIDE = 20
/** Milliseconds for which a kind of question that was refused of single blocks is not asked again. */
const FORGOTTEN = 600_000
/** Refusals in a row that make it known. */
const REFUSALS = 2

export interface LogFilter {
  address?: string[]
  topics?: string[][]
}

/** A transaction whose logs were left out: no node gives so much in one answer. */
export type OnLeftOut = (left: {
  block: number
  hash: string
  transaction: string
  reason: string
}) => Promise<void>

const hex = z.string()
const blockSchema = z.object({ hash: hex, transactions: z.array(hex) }).nullable()
const logSchema = z.object({ address: hex, topics: z.array(hex), blockHash: hex }).loose()
const receiptSchema = z.object({ logs: z.array(logSchema) })
const receiptsSchema = z.array(receiptSchema)

/**
 * The logs of one block that are refused by contracts and topics: because they are too many for one answer, or because the node
 * takes no such question. They are taken from the receipts of the block, or, where these are too much as well, from those of its
 * transactions one by one.
 */
export function openReceiptLogs(ask: Ask, onLeftOut?: OnLeftOut) {
  /** By what kind of question, how often it was refused in a row, and when. */
  const refused = new Map<string, { times: number; at: number }>()
  const kindOf = ({ address }: LogFilter) => (address ? 'contracts' : 'topics')

  async function oneByOne(height: number, block: { hash: string; transactions: string[] }) {
    const logs: z.infer<typeof logSchema>[] = []
    for (let from = 0; from < block.transactions.length; from += SIDE_BY_SIDE) {
      const some = await Promise.all(
        block.transactions.slice(from, from + SIDE_BY_SIDE).map(async transaction => {
          try {
            const answer = receiptSchema
              .nullable()
              .parse(await ask('eth_getTransactionReceipt', [transaction]))
            if (!answer)
              throw new UnavailableError(
                `The node has block ${height} and no receipt of its transaction ${transaction}.`,
              )
            return answer.logs
          } catch (error) {
            if (!(error instanceof RpcRefusedError) || !error.isTooLong || !onLeftOut) throw error
            await onLeftOut({ block: height, hash: block.hash, transaction, reason: error.message })
            return []
          }
        }),
      )
      logs.push(...some.flat())
    }
    return logs
  }

  return {
    /** Whether such a question is known to be refused for single blocks, too. */
    isNeeded(filter: LogFilter): boolean {
      const known = refused.get(kindOf(filter))
      return known !== undefined && known.times >= REFUSALS && steadyNow() - known.at < FORGOTTEN
    },
    answered: (filter: LogFilter) => void refused.delete(kindOf(filter)),
    refused(filter: LogFilter): void {
      const times = (refused.get(kindOf(filter))?.times ?? 0) + 1
      refused.set(kindOf(filter), { times, at: steadyNow() })
    },
    /** As eth_getLogs gives them. */
    async read(height: number, filter: LogFilter): Promise<unknown[]> {
      const block = blockSchema.parse(await ask('eth_getBlockByNumber', [numberToHex(height), false]))
      if (!block)
        throw new UnavailableError(`The node was asked for logs of block ${height} and does not have it.`)
      let logs: z.infer<typeof logSchema>[]
      try {
        const receipts = receiptsSchema.parse(await ask('eth_getBlockReceipts', [numberToHex(height)]))
        logs = receipts.flatMap(receipt => receipt.logs)
      } catch (error) {
        if (!(error instanceof RpcRefusedError || error instanceof z.ZodError)) throw error
        if (error instanceof RpcRefusedError && error.isGone) throw error
        logs = await oneByOne(height, block)
      }
      const contracts = filter.address && new Set(filter.address.map(lower))
      const topics = (filter.topics ?? []).map(some => new Set(some.map(lower)))
      return logs.filter(({ address, topics: has, blockHash }) => {
        if (lower(blockHash) !== lower(block.hash))
          throw new UnavailableError(`The node's receipts of block ${height} are of another branch.`)
        if (contracts && !contracts.has(lower(address))) return false
        return topics.every((wanted, i) => wanted.has(lower(has[i] ?? '')))
      })
    },
  }
}

const lower = (text: string) => text.toLowerCase()
