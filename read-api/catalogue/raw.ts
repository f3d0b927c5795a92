import type { RewardStreamRow } from '../rewards/queries.ts'
import type { HolderSummaryRow } from '../vaults/holder-queries.ts'
import type { PriceRangeRow } from '../vaults/price-queries.ts'
import type { AssetMetadata } from './assets.ts'
import { keyOf } from './catalogue.ts'
import type { ApyRow, AssetRow, FeedRow, SampleRow, VaultRow } from './queries.ts'
import { streamsOf } from './rewards.ts'
import type { SettingRow } from './settings-queries.ts'
import type { Elsewhere, VaultState } from './vault-state.ts'

const asyncOf = ({ async_deposits: deposits, async_redemptions: redemptions }: VaultRow) =>
  deposits === null || redemptions === null
    ? {}
    : { async: { deposits: deposits === 1, redemptions: redemptions === 1 } }

const amount = (text: string | null | undefined) => (text == null ? undefined : BigInt(text))

/**
 * What was read from ClickHouse so far, and what of it moved since the last catalogue was made. Rows may come again:
 * an older sample never replaces a newer one, unless the vault was forgotten first.
 */
export class RawState {
  readonly states = new Map<string, VaultState>()
  readonly assets = new Map<string, AssetMetadata>()
  /** Keys of the vaults of an asset, by the asset's key. */
  readonly byAsset = new Map<string, Set<string>>()
  /** Vaults that factories of the registry made, also before they are known themselves, by chain. */
  private readonly made = new Map<number, ReadonlySet<string>>()
  readonly feeds = new Map<string, { price: number; at: number }>()
  readonly moved = new Set<string>()
  /** Found vaults of which what they have elsewhere could not be read. */
  readonly unbacked = new Set<string>()
  /** True when vaults or assets appeared or went: how prices are made may have changed. */
  vaultsChanged = false

  forget(chainId: number, vault: string): void {
    const key = keyOf(chainId, vault)
    if (this.states.delete(key)) {
      this.moved.add(key)
      this.vaultsChanged = true
    }
    this.feeds.delete(key)
  }

  putVault(chainId: number, row: VaultRow): void {
    const key = keyOf(chainId, row.vault)
    const before = this.states.get(key)
    this.states.set(key, {
      ...before,
      chainId,
      address: row.vault,
      protocol: row.protocol,
      name: row.name,
      symbol: row.symbol,
      decimals: row.decimals,
      asset: row.asset,
      deployedAt: row.deployed_at ?? undefined,
      ...asyncOf(row),
      isMade: this.made.get(chainId)?.has(row.vault) ?? false,
      seenAt: row.seen_at,
    })
    const asset = keyOf(chainId, row.asset)
    const siblings = this.byAsset.get(asset)
    if (siblings) siblings.add(key)
    else this.byAsset.set(asset, new Set([key]))
    if (!siblings) {
      this.assets.set(asset, {
        chainId,
        address: row.asset,
        name: row.asset_name,
        symbol: row.asset_symbol,
        decimals: row.asset_decimals,
        isLent: this.assets.get(asset)?.isLent ?? false,
      })
    }
    this.moved.add(key)
    this.vaultsChanged = true
  }

  /** All vaults of a chain that factories of the registry made. */
  setMade(chainId: number, vaults: ReadonlySet<string>): void {
    const before = this.made.get(chainId) ?? new Set()
    this.made.set(chainId, vaults)
    for (const vault of new Set([...before, ...vaults])) {
      const isMade = vaults.has(vault)
      this.change(chainId, vault, state => {
        if (state.isMade === isMade) return state
        this.vaultsChanged = true
        return { ...state, isMade }
      })
    }
  }

  /** A token that a lending market names; what a vault says of its asset is kept. */
  putAsset(chainId: number, row: AssetRow): void {
    const key = keyOf(chainId, row.asset)
    const known = this.assets.get(key)
    if (known?.isLent) return
    const { asset: address, name, symbol, decimals } = row
    this.assets.set(key, { chainId, address, name, symbol, decimals, ...known, isLent: true })
    this.vaultsChanged = true
  }

  putSample(chainId: number, row: SampleRow): void {
    this.change(chainId, row.vault, state =>
      state.sample && state.sample.at > row.sampled_at
        ? state
        : withLedger({
            ...state,
            sample: {
              totalAssets: amount(row.total_assets),
              totalSupply: amount(row.total_supply),
              sharePrice: row.share_price ?? undefined,
              sharePriceRaw: amount(row.share_price_raw),
              finePrice: amount(row.fine_price),
              fineDigits: row.fine_digits,
              maxDeposit: amount(row.max_deposit),
              idleAssets: amount(row.idle_assets),
              borrowedAssets: amount(row.borrowed_assets),
              blockNumber: row.block_number,
              at: row.sampled_at,
              position: row.position,
            },
          }),
    )
  }

  putApy(chainId: number, row: ApyRow): void {
    this.change(chainId, row.vault, state =>
      state.apy && state.apy.hour > row.hour
        ? state
        : {
            ...state,
            assetSeconds: row.asset_seconds ?? state.assetSeconds,
            apy: {
              hour: row.hour,
              values: {
                '1hour': row.apy_1h ?? undefined,
                '1day': row.apy_1d ?? undefined,
                '7day': row.apy_7d ?? undefined,
                '30day': row.apy_30d ?? undefined,
              },
            },
          },
    )
  }

  /** The holders of a vault; undefined where it has none any more. */
  putHolders(chainId: number, vault: string, row: HolderSummaryRow | undefined): void {
    this.change(chainId, vault, state =>
      withLedger({
        ...state,
        holders: row
          ? { count: row.holders, total: row.total, top: row.top, movedAt: row.newest }
          : undefined,
      }),
    )
  }

  putRange(chainId: number, row: PriceRangeRow): void {
    this.change(chainId, row.vault, state => ({ ...state, range: { high: row.high, low: row.low } }))
  }

  putSettings(chainId: number, row: SettingRow): void {
    this.change(chainId, row.vault, state => ({ ...state, settings: row.settings }))
  }

  /** The streams that a vault pays out itself; undefined where it never paid any. */
  putStreams(chainId: number, vault: string, row: RewardStreamRow | undefined): void {
    this.change(chainId, vault, state => ({
      ...state,
      streams: row && streamsOf(row),
    }))
  }

  /** Undefined: it could not be read, and is to be read again. */
  putElsewhere(chainId: number, vault: string, elsewhere: Elsewhere | undefined): void {
    if (elsewhere) this.unbacked.delete(keyOf(chainId, vault))
    else this.unbacked.add(keyOf(chainId, vault))
    this.change(chainId, vault, state => ({ ...state, elsewhere }))
  }

  putFeed(chainId: number, row: FeedRow): void {
    const key = keyOf(chainId, row.feed)
    const before = this.feeds.get(key)
    if (before && before.at > row.priced_at) return
    this.feeds.set(key, { price: row.price, at: row.priced_at })
  }

  private change(chainId: number, vault: string, next: (state: VaultState) => VaultState): void {
    const key = keyOf(chainId, vault)
    const state = this.states.get(key)
    if (!state) return
    const changed = next(state)
    if (changed === state) return
    this.states.set(key, changed)
    this.moved.add(key)
  }
}

/**
 * Holds the ledger against the supply where both are of the same shares: a supply that was read before shares moved says
 * nothing of the ledger after, and what was seen before stays. Nothing read yet: nothing is known against it.
 */
function withLedger(state: VaultState): VaultState {
  const { sample, holders } = state
  if (sample?.totalSupply === undefined || sample.position < (holders?.movedAt ?? 0)) return state
  return { ...state, isLedgerWhole: sample.totalSupply === BigInt(holders?.total ?? '0') }
}
