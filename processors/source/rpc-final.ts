import { setTimeout as sleep } from 'node:timers/promises'
import { UnavailableError } from '../../db/process/errors.ts'
import { BranchMismatchError } from '../handling/block.ts'
import type { FinalSource } from './final-blocks.ts'
import { MOST_LOGS, openLogQueries, withinBounds } from './log-queries.ts'
import type { ChainRpc } from './rpc.ts'
import type { FinalBlock } from './rpc-block.ts'
import type { ChainHeader } from './rpc-headers.ts'
import type { BlockLogs } from './rpc-logs.ts'
import type { TimedBlock } from './told-times.ts'

/** Blocks whose logs are asked for at once: more than the fewest while they hold no more than so many. */
const SIZES = { first: 100, least: 10, most: 10_000, logs: 2_000, ahead: 5 }
/** How often a node is asked for a block that it must have, and the milliseconds between. */
const TRIES = 10
const PAUSE = 100

export interface RpcFinalOptions {
  rpc: Pick<ChainRpc, 'head' | 'header' | 'logs' | 'times'>
  /** Blocks after which one is final. */
  finality: number
  /** Blocks that may be handed out together: no more are asked for at once. */
  span: () => number
}

/** What there is beside the logs of a range. */
interface ReadSoFar {
  /** Blocks that are given whether they have logs or not. */
  ends?: readonly number[]
  /** Blocks that were handed out before, with other logs. */
  known?: readonly FinalBlock[]
  /** Headers that came with the logs. */
  headers?: ReadonlyMap<number, ChainHeader>
}

/** Final blocks by RPC: logs by contracts and topics, and the headers of blocks of which these do not say enough. */
export function openRpcFinal({ rpc, finality, span }: RpcFinalOptions): FinalSource {
  const logsOf = openLogQueries(rpc)

  async function headerOf(height: number): Promise<ChainHeader> {
    for (let tries = 1; tries <= TRIES; tries++) {
      const header = await rpc.header(height)
      if (header) return header
      await sleep(PAUSE)
    }
    throw new UnavailableError(`The node does not have block ${height}, which is final.`)
  }

  async function blocksOf(
    found: readonly BlockLogs[],
    { ends = [], known = [], headers = new Map() }: ReadSoFar,
  ): Promise<FinalBlock[]> {
    const byNumber = new Map(found.map(block => [block.number, block]))
    const had = new Map(known.map(({ header }) => [header.height, timedBlock(header)]))
    const numbers = [...new Set([...byNumber.keys(), ...ends, ...had.keys()])].sort((a, b) => a - b)
    const blocks = await rpc.times.blocks(
      numbers.map(number => ({
        number,
        found: byNumber.get(number),
        known: had.get(number),
        isAsked: ends.includes(number),
      })),
      async number => headers.get(number) ?? headerOf(number),
    )
    return blocks.flatMap(block => {
      const logs = byNumber.get(block.number)
      if (logs && logs.hash !== block.hash) throw new BranchMismatchError(block.number)
      return logs || ends.includes(block.number) ? [finalBlock(block, logs?.logs)] : []
    })
  }

  return {
    sizes: SIZES,
    widest: span,
    // The first block is as final as can be, as evm-processor has it.
    top: async () => Math.max(0, (await rpc.head()).number - finality),
    async read(subscriptions, from, to) {
      const headers = new Map<number, ChainHeader>()
      const found = await withinBounds(to, end =>
        logsOf(subscriptions, from, end, {
          most: MOST_LOGS,
          onHeader: header => headers.set(header.number, header),
        }),
      )
      return blocksOf(found.logs, { ends: [from, found.to], headers })
    },
    readMore: async (subscriptions, from, to, known) =>
      blocksOf(await logsOf(subscriptions, from, to, { most: MOST_LOGS }), { known }),
    header: async height => finalBlock(await headerOf(height)),
  }
}

const finalBlock = (
  { number, hash, parentHash, timestamp }: TimedBlock,
  logs: FinalBlock['logs'] = [],
): FinalBlock => ({
  header: {
    height: number,
    hash,
    ...(parentHash !== undefined && { parentHash }),
    timestamp: timestamp * 1000,
  },
  logs,
  transactions: [],
})

const timedBlock = ({ height, timestamp, ...header }: FinalBlock['header']): TimedBlock => ({
  ...header,
  number: height,
  timestamp: timestamp / 1000,
})
