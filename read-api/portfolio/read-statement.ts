import { groupBy } from '../../db/group-by.ts'
import { inLanes } from '../../db/process/lanes.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { inChunks, inHundreds } from '../moment/chunks.ts'
import { lastBy } from '../moment/last-by.ts'
import { ask, type z } from '../moment/query.ts'
import { assetsOf, type ShareState, shareStateOf } from '../vaults/share-value.ts'
import { type PriceAt, readAssetPrices } from './asset-prices.ts'
import { recentFirst } from './balances-at.ts'
import type { Place } from './places.ts'
import { firstSample, statesAfterBlocks } from './return-queries.ts'
import {
  accountOfShares,
  isIn,
  type Period,
  type ShareMovement,
  type StatedShares,
  sentIn,
  timesOf,
} from './shares.ts'
import { LANES, ROW_LIMIT, refuseTooLong, refuseTooMany } from './stake.ts'
import { type Method, midnightsOf } from './statement.ts'
import {
  everHeldVaults,
  type MovementRow,
  movementsOf,
  type PricedState,
  pricedStatesAt,
  pricedStatesByDay,
} from './statement-queries.ts'

export interface Asked extends Period {
  /** Where the wallets ever had anything. */
  places: readonly Place[]
  method: Method
}

/** A vault in a statement. */
export interface StatedPosition extends StatedShares {
  vault: Vault
}

/** Every vault that the wallets held, together, at the beginning or at the end of a period, or that they moved in it. */
export async function readStatement(
  { places, method, ...period }: Asked,
  want: (vault: Vault) => boolean,
  context: EndpointContext,
): Promise<StatedPosition[]> {
  const { deps, catalogue, signal } = context
  const accounts = [...new Set(places.flatMap(place => place.accountsIn('vaults')))]
  const ever = places.length > 0 ? await ask(deps.clickhouse, everHeldVaults, { accounts }, signal) : []
  const stated = await Promise.all(
    places.map(async place => {
      const { chain } = place
      const vaults = ever.flatMap(row => {
        const vault = row.chain_id === chain ? catalogue.find(chain, row.vault) : undefined
        return vault && want(vault) ? [vault] : []
      })
      const asked = { accounts: place.accountsIn('vaults'), vaults, to: period.to }
      const moved = await readMovements(chain, asked, context)
      const alive = vaults.filter(({ state }) => isIn(moved.get(state.address) ?? [], period))
      refuseTooLong(alive.length * midnightsOf(period).length)
      const positions = alive.map(({ asset, state }) => ({
        asset,
        times: timesOf(moved.get(state.address) ?? [], period),
      }))
      const [states, pricesOf] = await Promise.all([
        readStates(chain, alive, period, context),
        readAssetPrices(positions, context),
      ])
      return inLanes(LANES, alive, vault => {
        const { address } = vault.state
        const own = {
          movements: moved.get(address) ?? [],
          states: states.get(address) ?? [],
          priceAt: pricesOf(vault.asset),
        }
        return statedOf(vault, own, { ...period, method }, context)
      })
    }),
  )
  return stated.flat()
}

async function readMovements(
  chain: number,
  { accounts, vaults, to }: { accounts: readonly string[]; vaults: readonly Vault[]; to: number },
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<string, ShareMovement[]>> {
  const pinned = { chain, p: catalogue.chain(chain)?.position ?? 0, accounts, to, limit: ROW_LIMIT }
  const rows = await inChunks(
    vaults.map(({ state }) => state.address),
    names => ask(deps.clickhouse, movementsOf, { ...pinned, vaults: names }, signal),
  )
  refuseTooMany(rows.length)
  const byVault = groupBy(rows, ({ vault }) => vault)
  return new Map([...byVault].map(([vault, own]) => [vault, own.map(movementOf)]))
}

const movementOf = ({ at, accounts, ...row }: MovementRow): ShareMovement => ({
  at,
  block: row.block_number,
  accounts,
  delta: BigInt(row.delta),
  minted: BigInt(row.minted),
  burned: BigInt(row.burned),
  deposited: BigInt(row.deposited),
  withdrawn: BigInt(row.withdrawn),
})

interface KnownState {
  at: number
  state: ShareState
}

/** By vault what it was at the moments of a statement: each is true from its moment until the next one's. */
async function readStates(
  chain: number,
  vaults: readonly Vault[],
  period: Period,
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<string, KnownState[]>> {
  const pinned = { chain, p: catalogue.chain(chain)?.position ?? 0 }
  const names = vaults.map(({ state }) => state.address)
  const [first = 0] = midnightsOf(period)
  const at = async (moment: number) =>
    (
      await recentFirst(
        names,
        moment,
        ({ vault }: PricedState) => vault,
        (some, since) =>
          ask(deps.clickhouse, pricedStatesAt, { ...pinned, vaults: some, at: moment, since }, signal),
      )
    ).map(row => ({ ...row, at: moment }))
  const [begin, opening, days, closing] = await Promise.all([
    at(first),
    at(period.from),
    inChunks(names, some =>
      ask(
        deps.clickhouse,
        pricedStatesByDay,
        { ...pinned, vaults: some, from: first, to: period.to },
        signal,
      ),
    ),
    at(period.to),
  ])
  const known = (row: PricedState & { at: number }) => ({
    vault: row.vault,
    at: row.at,
    state: shareStateOf(row),
  })
  // A midnight after the closing has what was read before it: that of the closing is asked for itself.
  const byDay = days
    .filter(({ midnight }) => midnight <= period.to)
    .map(row => ({ ...row, at: row.midnight }))
  const all = [...begin, ...opening, ...byDay, ...closing].map(known).sort((a, b) => a.at - b.at)
  return groupBy(all, ({ vault }) => vault)
}

async function statedOf(
  vault: Vault,
  {
    movements,
    states,
    priceAt,
  }: { movements: readonly ShareMovement[]; states: readonly KnownState[]; priceAt: PriceAt },
  asked: Period & { method: Method },
  context: EndpointContext,
): Promise<StatedPosition> {
  const { asset, state } = vault
  const decimals = { decimals: state.decimals, assetDecimals: asset.decimals }
  const worth = (shares: bigint, of: ShareState | undefined) => of && assetsOf(shares, of, decimals)
  const sentStates = await readSentStates(vault, movements, context)
  const shares = {
    assetDecimals: asset.decimals,
    priceAt,
    movements,
    worthAt: (of: bigint, at: number) => worth(of, lastBy(states, at)?.state),
    worthSent: (of: bigint, { block }: ShareMovement) => worth(of, sentStates.get(block)),
  }
  return { vault, ...accountOfShares(shares, asked) }
}

/** By block, what the vault was where shares came or went that nothing was paid for. */
async function readSentStates(
  { state }: Vault,
  movements: readonly ShareMovement[],
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<number, ShareState>> {
  const blocks = movements.filter(of => sentIn(of) !== 0n).map(({ block }) => block)
  if (blocks.length === 0) return new Map()
  const pinned = {
    chain: state.chainId,
    p: catalogue.chain(state.chainId)?.position ?? 0,
    vault: state.address,
    whole_share: `${10n ** BigInt(state.decimals)}`,
  }
  const known: z.output<typeof statesAfterBlocks.row>[] = []
  for (const some of inHundreds(blocks))
    known.push(...(await ask(deps.clickhouse, statesAfterBlocks, { ...pinned, blocks: some }, signal)))
  // Shares that moved before the first sample are worth what it says.
  const [first] = known.some(row => row.share_price_raw === null)
    ? await ask(deps.clickhouse, firstSample, pinned, signal)
    : []
  return new Map(
    known.flatMap(row => {
      const of = row.share_price_raw === null ? first : row
      return of ? [[row.block_number, shareStateOf(of)] as const] : []
    }),
  )
}
