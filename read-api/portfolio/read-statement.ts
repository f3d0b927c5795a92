import { groupBy } from '../../db/group-by.ts'
import { inLanes } from '../../db/process/lanes.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { RefusedError } from '../http/errors.ts'
import { inChunks, inHundreds } from '../moment/chunks.ts'
import { lastBy } from '../moment/last-by.ts'
import { ask, type z } from '../moment/query.ts'
import { readPrices } from '../vaults/price-history.ts'
import { assetsOf, type ShareState, shareStateOf } from '../vaults/share-value.ts'
import { recentFirst } from './balances-at.ts'
import { newestBalances } from './queries.ts'
import { firstSample, statesAfterBlocks } from './return-queries.ts'
import { ROW_LIMIT, refuseTooMany } from './stake.ts'
import { type Account, accountOf, type Method, type Movement, midnightsOf, usdUnits } from './statement.ts'
import {
  type MovementRow,
  movementsOf,
  type PricedState,
  pricedStatesAt,
  pricedStatesByDay,
  rewardsIn,
} from './statement-queries.ts'

export interface Period {
  from: number
  to: number
}

export interface Asked extends Period {
  wallets: readonly string[]
  method: Method
}

/** A vault in a statement: shares are base units, at either end. */
export interface StatedPosition {
  vault: Vault
  openingShares: bigint
  closingShares: bigint
  account: Account
}

/** Every vault that the wallets held, together, at the beginning or at the end of a period, or that they moved in it. */
export async function readStatement(
  { wallets, method, ...period }: Asked,
  want: (vault: Vault) => boolean,
  context: EndpointContext,
): Promise<StatedPosition[]> {
  const { deps, catalogue, signal, touch } = context
  const heads = await Promise.all(
    wallets.map(account => ask(deps.clickhouse, newestBalances, { account }, signal)),
  )
  const ever = new Map<string, Vault>()
  for (const row of heads.flat()) {
    const vault = catalogue.find(row.chain_id, row.vault)
    if (vault && want(vault)) ever.set(keyOf(row.chain_id, row.vault), vault)
  }
  const stated = await Promise.all(
    [...groupBy([...ever.values()], ({ state }) => state.chainId)].map(async ([chain, vaults]) => {
      touch(chain)
      const rows = await readMovements(chain, { wallets, vaults, to: period.to }, context)
      const alive = vaults.filter(({ state }) => isIn(rows.get(state.address) ?? [], period))
      refuseTooLong(alive.length * midnightsOf(period).length)
      const states = await readStates(chain, alive, period, context)
      return inLanes(LANES, alive, vault => {
        const { address } = vault.state
        const own = { rows: rows.get(address) ?? [], states: states.get(address) ?? [] }
        return stateOf(vault, own, { ...period, method }, context)
      })
    }),
  )
  return stated.flat()
}

async function readMovements(
  chain: number,
  { wallets, vaults, to }: { wallets: readonly string[]; vaults: readonly Vault[]; to: number },
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<string, MovementRow[]>> {
  const pinned = { chain, p: catalogue.chain(chain)?.position ?? 0, wallets, to, limit: ROW_LIMIT }
  const rows = await inChunks(
    vaults.map(({ state }) => state.address),
    names => ask(deps.clickhouse, movementsOf, { ...pinned, vaults: names }, signal),
  )
  refuseTooMany(rows.length)
  return groupBy(rows, ({ vault }) => vault)
}

/** Vaults that are looked at together: a wallet of hundreds is not to take every connection from others. */
export const LANES = 4

/** Vaults times days on one network. */
const MOST_DAYS = 200_000

export function refuseTooLong(days: number): void {
  if (days > MOST_DAYS)
    throw new RefusedError(
      `These are ${days} days of single vaults, and a statement is made of ${MOST_DAYS} on one network at most. Ask for a shorter period, or narrow the vaults.`,
    )
}

/** How many shares there were after each movement. */
function balancesOf(rows: readonly MovementRow[]): { at: number; shares: bigint }[] {
  let shares = 0n
  return rows.map(({ at, delta }) => {
    shares += BigInt(delta)
    return { at, shares }
  })
}

/** Something was there when the period began, or moved in it. */
const isIn = (rows: readonly MovementRow[], { from, to }: Period) =>
  rows.some(({ at }) => at > from && at <= to) || (lastBy(balancesOf(rows), from)?.shares ?? 0n) !== 0n

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
      await recentFirst(names, moment, (some, since) =>
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

async function stateOf(
  vault: Vault,
  { rows, states }: { rows: readonly MovementRow[]; states: readonly KnownState[] },
  { from, to, method }: Period & { method: Method },
  context: EndpointContext,
): Promise<StatedPosition> {
  const { asset, state } = vault
  const decimals = { decimals: state.decimals, assetDecimals: asset.decimals }
  const worth = (shares: bigint, of: ShareState | undefined) =>
    shares === 0n ? 0n : of && assetsOf(shares, of, decimals)
  const midnights = midnightsOf({ from, to })
  const times = [...new Set([...rows.map(({ at }) => at), ...midnights, from, to])].sort((a, b) => a - b)
  const window = { from: times[0] ?? from, to }
  const [pricesOf, sentStates] = await Promise.all([
    readPrices(asset, window, context),
    readSentStates(vault, rows, context),
  ])
  const prices = new Map(pricesOf(times).map((price, i) => [times[i], price]))
  const movements = rows.map((row): Movement => {
    const [minted, burned] = [BigInt(row.minted), BigInt(row.burned)]
    const sent = BigInt(row.delta) - minted + burned
    return {
      at: row.at,
      minted,
      burned,
      deposited: BigInt(row.deposited),
      withdrawn: BigInt(row.withdrawn),
      sent,
      sentWorth: worth(sent, sentStates.get(row.block_number)),
      price: prices.get(row.at),
    }
  })
  const balances = balancesOf(rows)
  const sharesAt = (at: number) => lastBy(balances, at)?.shares ?? 0n
  const mark = (at: number) => ({
    at,
    value: worth(sharesAt(at), lastBy(states, at)?.state),
    price: prices.get(at),
  })
  const ledger = {
    assetDecimals: asset.decimals,
    movements,
    opening: mark(from),
    closing: mark(to),
    midnights: midnights.map(mark),
  }
  return {
    vault,
    openingShares: sharesAt(from),
    closingShares: sharesAt(to),
    account: accountOf(ledger, method),
  }
}

/** By block, what the vault was where shares came or went that nothing was paid for. */
async function readSentStates(
  { state }: Vault,
  rows: readonly MovementRow[],
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<number, ShareState>> {
  const isSent = ({ delta, minted, burned }: MovementRow) => BigInt(delta) !== BigInt(minted) - BigInt(burned)
  const blocks = rows.filter(isSent).map(({ block_number }) => block_number)
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

export interface PaidReward {
  chainId: number
  token: string
  source: string
  amount: bigint
  /** Units of USD_DIGITS; undefined where a price is not known of the moment of any of them. */
  usd: bigint | undefined
}

/** What distributors paid the wallets in a period, by token and source; on the chains that are wanted. */
export async function readRewards(
  { wallets, from, to }: Period & { wallets: readonly string[] },
  wants: (chainId: number) => boolean,
  context: EndpointContext,
): Promise<PaidReward[]> {
  const { deps, catalogue, signal, touch } = context
  const found = await Promise.all(
    [...catalogue.moment.chains]
      .filter(([chain]) => wants(chain))
      .map(async ([chain, { position }]) => {
        touch(chain)
        const asked = { chain, p: position, wallets, from, to, limit: ROW_LIMIT }
        const rows = await ask(deps.clickhouse, rewardsIn, asked, signal)
        refuseTooMany(rows.length)
        return Promise.all(
          [...groupBy(rows, ({ token, source }) => `${token} ${source}`).values()].map(async paid => {
            const [{ token, source } = { token: '', source: '' }] = paid
            const asset = catalogue.asset(chain, token)
            const times = paid.map(({ at }) => at)
            const window = { from: times[0] ?? from, to: times.at(-1) ?? to }
            const prices = asset && (await readPrices(asset, window, context))(times)
            const usd = paid.map(
              ({ amount }, i) => asset && usdUnits(BigInt(amount), prices?.[i], asset.decimals),
            )
            return {
              chainId: chain,
              token,
              source,
              amount: paid.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
              usd: usd.reduce(
                (sum, of) => (sum === undefined || of === undefined ? undefined : sum + of),
                0n,
              ),
            }
          }),
        )
      }),
  )
  return found.flat()
}
