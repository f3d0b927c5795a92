import { readRecentSamples, type StoredSample } from '../../db/events/sample-budgets.ts'
import type { PendingSource } from '../../db/events/watched-sources.ts'
import { log } from '../../db/process/log.ts'
import type { ChainProcessorOptions } from '../chain-options.ts'
import { ChainHandler, type ChainHandlerOptions } from '../handling/chain-handler.ts'
import type { ChainRpc } from '../source/rpc.ts'
import { History, type HistoryOptions, namesOf } from './history.ts'
import type { KnownContracts } from './known-contracts.ts'

/** The history of sources that are watched since lately; undefined where there are none, or it cannot be fetched. */
export function openHistory(
  { network, backfillRange, finality }: ChainProcessorOptions,
  common: Omit<ChainHandlerOptions, 'contracts'> & {
    contracts: KnownContracts
    late: KnownContracts
    pending: readonly PendingSource[]
    sampleBudgets: HistoryOptions['sampleBudgets']
    store: HistoryOptions['store']
  },
): History | undefined {
  const { rpc, pending, late, contracts, decoder, sampleBudgets, store } = common
  if (pending.length === 0) return undefined
  const facts = { network: network.name, sources: namesOf(pending) }
  if (!rpc) {
    log.error(facts, 'history of new sources cannot be fetched without an RPC endpoint: they are left out')
    return undefined
  }
  log.info(facts, 'fetching the history of new sources beside the live blocks')
  return new History({
    rpc,
    pending,
    late,
    contracts,
    handler: new ChainHandler({ ...common, contracts: late }),
    topics: kind => decoder.topicsOf(kind),
    finality: finality ?? network.finality,
    blockTime: network.blockTime,
    range: backfillRange,
    sampleBudgets,
    store,
  })
}

/** What a history that is made up to a block has taken of that block's hour. */
export async function samplesBefore(
  { pool, network }: ChainProcessorOptions,
  rpc: ChainRpc | undefined,
  cursor: number,
  late: KnownContracts,
): Promise<StoredSample[]> {
  const at = cursor < 0 ? undefined : await rpc?.header(cursor)
  if (!at) return []
  const own = new Set(late.allVaults())
  return (await readRecentSamples(pool, network.chainId, at)).filter(({ vault }) => own.has(vault))
}
