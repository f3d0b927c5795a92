import {
  type PendingSource,
  reconcileSources,
  setSourcesAside,
  takeSourcesBack,
} from '../../db/events/watched-sources.ts'
import type { ChainProcessorOptions } from '../chain-options.ts'
import type { Decoder } from '../handling/decode.ts'
import type { Protocol } from '../protocol.ts'
import type { ChainRpc } from '../source/rpc.ts'
import { firstBlock } from './first-block.ts'
import { KnownContracts } from './known-contracts.ts'
import { learnAnew, type Teaching } from './teaching.ts'

/** Sources by how far they are: fetched with the blocks, beside them, or later. */
export interface Sources {
  /** Of those that come with the blocks. */
  contracts: KnownContracts
  /** Of which the history is not fetched yet. */
  pending: readonly PendingSource[]
  /** Those of them that are fetched now. */
  next: readonly PendingSource[]
  /** Of these. */
  late: KnownContracts
  /** The first block that is looked at. */
  from: number
}

/** By which a chain is understood. */
interface Understanding {
  protocols: readonly Protocol[]
  decoder: Decoder
  teaching: Teaching
  rpc: ChainRpc | undefined
  /** Contracts that the registry says to leave out. */
  ignored: ReadonlySet<string>
}

/**
 * Learns which sources there are, and what is known of their contracts.
 *
 * @param known what was known when the stream stood where it stands now, where anybody knows
 */
export async function readSources(
  options: ChainProcessorOptions,
  { decoder, rpc, teaching, protocols, ignored }: Understanding,
  known: KnownContracts | undefined,
): Promise<Sources> {
  const { network, pool } = options
  const sources = decoder.sources(options.contracts).filter(({ contract }) => !ignored.has(contract))
  await takeSourcesBack(pool, network.chainId, ignored)
  const from = await firstBlock(options, decoder, rpc)
  await learnAnew(pool, network.chainId, teaching, decoder.sources(options.contracts), from)
  const unfinished = await reconcileSources(pool, network.chainId, sources, from)
  const pending = unfinished.filter(({ contract }) => !ignored.has(contract))
  const kept = pending.length === 0 ? known : undefined
  const contracts = kept ?? new KnownContracts(protocols)
  contracts.ignore(ignored)
  // What was not stored of an attempt is not known.
  contracts.begin(Number.MAX_SAFE_INTEGER)
  contracts.watchSources(
    sources.filter(
      ({ kind, contract }) => !pending.some(source => source.kind === kind && source.contract === contract),
    ),
  )
  // Those that are as far as the first of them are fetched now, the others wait.
  const [late, waiting] = [new KnownContracts(protocols), new KnownContracts(protocols)]
  for (const others of [late, waiting]) others.ignore(ignored)
  const isNext = ({ cursor }: PendingSource) => cursor === pending[0]?.cursor
  const next = pending.filter(isNext)
  late.watchSources(next)
  waiting.watchSources(pending.filter(source => !isNext(source)))
  contracts.knowBeside(late, waiting)
  if (!kept) await contracts.load(pool, network.chainId)
  const aside = [contracts, late, waiting].flatMap(these => these.ignoredSources())
  await setSourcesAside(pool, network.chainId, decoder.withBesides(aside))
  return { contracts, pending, next, late, from }
}
