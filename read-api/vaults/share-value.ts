import { columns } from '../moment/query.ts'

/** A vault at a moment. */
export interface ShareState {
  /** Asset base units. */
  totalAssets: bigint | undefined
  /** Share base units. */
  totalSupply: bigint | undefined
  /** Asset base units per whole share, rounded down by the contract. */
  sharePriceRaw: bigint | undefined
  /** The same of 10^fineDigits whole shares, where the contract says it. */
  finePrice?: bigint | undefined
  fineDigits?: number
}

export const UNKNOWN_STATE: ShareState = {
  totalAssets: undefined,
  totalSupply: undefined,
  sharePriceRaw: undefined,
}

/** The columns that say it. */
export const shareState = columns('vault_sample', [
  'total_assets',
  'total_supply',
  'share_price_raw',
  'fine_price',
  'fine_digits',
])

/** The same as ClickHouse gives it. */
export interface ShareStateRow {
  total_assets: string | null
  total_supply: string | null
  share_price_raw: string | null
  fine_price?: string | null
  fine_digits?: number
}

export function shareStateOf(row: ShareStateRow): ShareState {
  const amount = (text: string | null) => (text === null ? undefined : BigInt(text))
  return {
    totalAssets: amount(row.total_assets),
    totalSupply: amount(row.total_supply),
    sharePriceRaw: amount(row.share_price_raw),
    finePrice: amount(row.fine_price ?? null),
    fineDigits: row.fine_digits ?? 0,
  }
}

export interface ShareDecimals {
  decimals: number
  assetDecimals: number
}

/**
 * What shares are worth, in asset base units, rounded toward zero; undefined where the share price is not known.
 *
 * The sampled price is convertToAssets of one whole share, or of so many that it has eighteen digits: too few for a large
 * position. Where the totals of the same sample give that very price, by the formula of OpenZeppelin's ERC4626 (virtual
 * shares and assets) or by the plain ratio, they give the rest of the digits too, and the result is that of the contract's
 * own convertToAssets. Else the price counts as it is.
 */
export function assetsOf(
  shares: bigint,
  { totalAssets, totalSupply, sharePriceRaw, finePrice, fineDigits = 0 }: ShareState,
  { decimals, assetDecimals }: ShareDecimals,
): bigint | undefined {
  if (shares === 0n) return 0n
  if (sharePriceRaw === undefined) return undefined
  const [price, whole] =
    finePrice === undefined
      ? [sharePriceRaw, 10n ** BigInt(decimals)]
      : [finePrice, 10n ** BigInt(decimals + fineDigits)]
  if (totalAssets !== undefined && totalSupply !== undefined) {
    if (decimals >= assetDecimals) {
      const assets = totalAssets + 1n
      const supply = totalSupply + 10n ** BigInt(decimals - assetDecimals)
      if ((whole * assets) / supply === price) return (shares * assets) / supply
    }
    if (totalSupply > 0n && (whole * totalAssets) / totalSupply === price) {
      return (shares * totalAssets) / totalSupply
    }
  }
  return (shares * price) / whole
}
