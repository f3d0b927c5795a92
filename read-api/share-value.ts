/** A vault at a moment. */
export interface ShareState {
  /** Asset base units. */
  totalAssets: bigint | undefined
  /** Share base units. */
  totalSupply: bigint | undefined
  /** Asset base units per whole share, rounded down by the contract. */
  sharePriceRaw: bigint | undefined
}

/** The same as ClickHouse gives it. */
export interface ShareStateRow {
  total_assets: string | null
  total_supply: string | null
  share_price_raw: string | null
}

export function shareStateOf(row: ShareStateRow): ShareState {
  const amount = (text: string | null) => (text === null ? undefined : BigInt(text))
  return {
    totalAssets: amount(row.total_assets),
    totalSupply: amount(row.total_supply),
    sharePriceRaw: amount(row.share_price_raw),
  }
}

export interface ShareDecimals {
  decimals: number
  assetDecimals: number
}

/**
 * What shares are worth, in asset base units, rounded toward zero; undefined where the share price is not known.
 *
 * The sampled price is convertToAssets of one whole share: with an asset of 6 decimals it has some seven digits, too
 * few for a large position. Where the totals of the same sample give that very price, by the formula of OpenZeppelin's
 * ERC4626 (virtual shares and assets) or by the plain ratio, they give the rest of the digits too, and the result is
 * that of the contract's own convertToAssets. Else the price counts as it is.
 */
export function assetsOf(
  shares: bigint,
  { totalAssets, totalSupply, sharePriceRaw }: ShareState,
  { decimals, assetDecimals }: ShareDecimals,
): bigint | undefined {
  if (shares === 0n) return 0n
  if (sharePriceRaw === undefined) return undefined
  const whole = 10n ** BigInt(decimals)
  if (totalAssets !== undefined && totalSupply !== undefined) {
    if (decimals >= assetDecimals) {
      const assets = totalAssets + 1n
      const supply = totalSupply + 10n ** BigInt(decimals - assetDecimals)
      if ((whole * assets) / supply === sharePriceRaw) return (shares * assets) / supply
    }
    if (totalSupply > 0n && (whole * totalAssets) / totalSupply === sharePriceRaw) {
      return (shares * totalAssets) / totalSupply
    }
  }
  return (shares * sharePriceRaw) / whole
}
