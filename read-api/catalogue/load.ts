import type { ClickHouseClient } from '@clickhouse/client'
import { inChunks } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import { noteRetractions } from '../moment/visible.ts'
import type { RewardStreamRow } from '../rewards/queries.ts'
import { allRewardStreams, theseRewardStreams } from '../rewards/queries.ts'
import type { HolderSummaryRow } from '../vaults/holder-queries.ts'
import { allHolderSummaries, newestHolderSummaries, theseHolderSummaries } from '../vaults/holder-queries.ts'
import type { PriceRangeRow } from '../vaults/price-queries.ts'
import { allPriceRanges, thesePriceRanges } from '../vaults/price-queries.ts'
import type { ApyRow, AssetRow, FeedRow, SampleRow, VaultRow } from './queries.ts'
import * as queries from './queries.ts'
import type { RawState } from './raw.ts'
import type { SettingRow } from './settings-queries.ts'
import { allSettings, theseSettings } from './settings-queries.ts'

/** When more contracts than this moved, reading the whole range is cheaper than naming them. */
const MANY = 2_000

/** Price ranges look back seven days from a vault's last sample; one much older than this is stale anyway. */
const RANGE_DAYS = 10

/** The longest window that what rewards yield is said for. */
const STREAM_DAYS = 30

interface Loaded {
  vaults: VaultRow[]
  samples: SampleRow[]
  apy: ApyRow[]
  feeds: FeedRow[]
  /** Vaults whose holders were asked for; those without a summary have none. */
  held: readonly string[] | undefined
  holders: HolderSummaryRow[]
  ranges: PriceRangeRow[]
  settings: SettingRow[]
  /** Vaults whose streams were asked for; those without a row pay none. */
  paying: readonly string[] | undefined
  streams: RewardStreamRow[]
}

/**
 * Brings what is known of a chain from position `from` (0: nothing) to `to`. When blocks were retracted between, what
 * they touched is forgotten and read anew. `now`: the chain's time at `to`, unix seconds.
 */
export async function loadChain(
  clickhouse: ClickHouseClient,
  raw: RawState,
  chain: number,
  from: number,
  to: number,
  now: number,
): Promise<void> {
  const range = {
    chain,
    from,
    p: to,
    rangeSince: Math.max(0, now - RANGE_DAYS * 86_400),
    streamsSince: Math.max(0, now - STREAM_DAYS * 86_400),
  }
  let assets: AssetRow[]
  let made: readonly { vault: string }[] | undefined
  let forgotten: string[] = []
  let loaded: Loaded[]
  if (from === 0) {
    const retractions = await ask(clickhouse, queries.anyRetraction, range)
    noteRetractions(clickhouse, chain, { from, to, found: retractions.length > 0 })
    const [described, factoryMade, everything] = await Promise.all([
      ask(clickhouse, queries.describedAssets, range),
      ask(clickhouse, queries.madeVaults, range),
      loadRange(clickhouse, range, undefined),
    ])
    assets = described
    made = factoryMade
    loaded = [everything]
  } else {
    const all = await ask(clickhouse, queries.movedContracts, range)
    const has = (type: string) => all.some(({ types }) => types.includes(type))
    const moved = all.filter(({ contract }) => contract !== '')
    const found = has('BlockRetracted')
    noteRetractions(clickhouse, chain, { from, to, found })
    const touched = found ? await ask(clickhouse, queries.retractedContracts, range) : []
    forgotten = touched.map(({ contract }) => contract)
    const { rangeSince, streamsSince } = range
    const pinned = { chain, p: to, rangeSince, streamsSince }
    const since = Math.min(...moved.map(row => row.since))
    const reported =
      moved.length <= MANY && has('PriceReported') ? await ask(clickhouse, queries.reportedFeeds, range) : []
    const names = namesOf(
      moved,
      reported.map(({ feed }) => feed),
    )
    const [described, factoryMade, ...parts] = await Promise.all([
      has('AssetDescribed') ? ask(clickhouse, queries.describedAssets, range) : [],
      found || has('VaultCreated') || has('VaultDiscovered')
        ? ask(clickhouse, queries.madeVaults, pinned)
        : undefined,
      loadThese(clickhouse, pinned, everythingOf(forgotten), 0),
      moved.length > MANY
        ? loadRange(clickhouse, range, names.holders)
        : loadThese(clickhouse, pinned, names, since),
    ])
    assets = described
    made = factoryMade
    loaded = parts
  }

  // From here on nothing can fail: a reader of `raw` finds the old moment or the new one.
  for (const contract of forgotten) raw.forget(chain, contract)
  if (made) raw.setMade(chain, new Set(made.map(({ vault }) => vault)))
  for (const part of loaded) for (const row of part.vaults) raw.putVault(chain, row)
  for (const row of assets) raw.putAsset(chain, row)
  for (const { samples, apy, feeds, held, holders, ranges, settings, paying, streams } of loaded) {
    for (const row of samples) raw.putSample(chain, row)
    for (const row of apy) raw.putApy(chain, row)
    for (const row of feeds) raw.putFeed(chain, row)
    for (const row of ranges) raw.putRange(chain, row)
    for (const row of settings) raw.putSettings(chain, row)
    const summaries = new Map(holders.map(row => [row.vault, row]))
    for (const vault of held ?? summaries.keys()) raw.putHolders(chain, vault, summaries.get(vault))
    const flowing = new Map(streams.map(row => [row.vault, row]))
    for (const vault of paying ?? flowing.keys()) raw.putStreams(chain, vault, flowing.get(vault))
  }
}

interface Names {
  vaults: string[]
  samples: string[]
  feeds: string[]
  holders: string[]
  settings: string[]
  streams: string[]
}

function everythingOf(contracts: string[]): Names {
  return {
    vaults: contracts,
    samples: contracts,
    feeds: contracts,
    holders: contracts,
    settings: contracts,
    streams: contracts,
  }
}

function namesOf(moved: readonly { contract: string; types: string[] }[], feeds: string[]): Names {
  const having = (...types: string[]) =>
    moved.filter(row => row.types.some(type => types.includes(type))).map(({ contract }) => contract)
  return {
    vaults: having('VaultDiscovered'),
    samples: having('StateSampled'),
    feeds,
    holders: having('ShareTransferred', 'Deposited', 'Redeemed'),
    settings: having('FeeChanged', 'CapChanged', 'Paused', 'Unpaused'),
    // What a distributor pays may have been known before the vault was.
    streams: having('RewardStreamSampled', 'RewardPeriodFunded', 'VaultDiscovered'),
  }
}

/** Everything that follows from a range of positions; holders of all vaults where none are named. */
async function loadRange(
  clickhouse: ClickHouseClient,
  range: { chain: number; from: number; p: number; rangeSince: number; streamsSince: number },
  held: string[] | undefined,
): Promise<Loaded> {
  const { chain, p, rangeSince } = range
  const [vaults, samples, apy, feeds, holders, ranges, settings, streams] = await Promise.all([
    ask(clickhouse, queries.changedVaults, range),
    ask(clickhouse, queries.changedSamples, range),
    ask(clickhouse, queries.changedApy, range),
    ask(clickhouse, queries.changedFeeds, range),
    held ? holderSummaries(clickhouse, chain, p, held) : ask(clickhouse, allHolderSummaries, range),
    ask(clickhouse, allPriceRanges, { chain, p, since: rangeSince }),
    ask(clickhouse, allSettings, { chain, p }),
    ask(clickhouse, allRewardStreams, { chain, p, since: range.streamsSince }),
  ])
  return { vaults, samples, apy, feeds, held, holders, ranges, settings, paying: undefined, streams }
}

/** What is newest of named contracts, looking no further back than `since`. */
async function loadThese(
  clickhouse: ClickHouseClient,
  {
    chain,
    p,
    rangeSince,
    streamsSince,
  }: { chain: number; p: number; rangeSince: number; streamsSince: number },
  names: Names,
  since: number,
): Promise<Loaded> {
  const pinned = { chain, p }
  const [vaults, samples, apy, feeds, holders, ranges, settings, streams] = await Promise.all([
    inChunks(names.vaults, vaults => ask(clickhouse, queries.theseVaults, { ...pinned, vaults })),
    inChunks(names.samples, vaults => ask(clickhouse, queries.theseSamples, { ...pinned, vaults, since })),
    inChunks(names.samples, vaults => ask(clickhouse, queries.theseApy, { ...pinned, vaults, since })),
    inChunks(names.feeds, feeds => ask(clickhouse, queries.theseFeeds, { ...pinned, feeds, since })),
    holderSummaries(clickhouse, chain, p, names.holders),
    inChunks(names.samples, vaults =>
      ask(clickhouse, thesePriceRanges, { ...pinned, vaults, since: rangeSince }),
    ),
    inChunks(names.settings, vaults => ask(clickhouse, theseSettings, { ...pinned, vaults })),
    inChunks(names.streams, vaults =>
      ask(clickhouse, theseRewardStreams, { ...pinned, vaults, since: streamsSince }),
    ),
  ])
  return {
    vaults,
    samples,
    apy,
    feeds,
    held: names.holders,
    holders,
    ranges,
    settings,
    paying: names.streams,
    streams,
  }
}

/** By the heads, and by the history for vaults whose heads are ahead of `p` already. */
async function holderSummaries(
  clickhouse: ClickHouseClient,
  chain: number,
  p: number,
  names: string[],
): Promise<HolderSummaryRow[]> {
  const rows = await inChunks(names, vaults => ask(clickhouse, newestHolderSummaries, { chain, vaults }))
  const ahead = rows.filter(({ newest }) => newest > p).map(({ vault }) => vault)
  const again = await inChunks(ahead, vaults => ask(clickhouse, theseHolderSummaries, { chain, p, vaults }))
  return [...rows.filter(({ newest, holders }) => newest <= p && holders > 0), ...again]
}
