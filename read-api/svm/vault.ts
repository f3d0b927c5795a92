import type { Key } from '../../abi/svm/programs.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import { usdOf } from '../http/amounts.ts'

export const SVM_WINDOWS = ['1day', '7day', '30day'] as const
export type SvmWindow = (typeof SVM_WINDOWS)[number]

/** A token that vaults of Solana take. */
export interface SvmAsset {
  mint: Key
  name: string
  symbol: string
  decimals: number
  logo: string | undefined
  /** USD of one whole unit; undefined where it is not known. */
  price: number | undefined
}

/** A vault of Solana at one moment. */
export interface SvmVault {
  address: Key
  /** Slug. */
  protocol: string
  /** That carries out what is done with it: one code may be deployed more than once. */
  program: Key
  name: string
  /** canBeFrozen: somebody may freeze what others hold of it. */
  share: { mint: Key; name: string; symbol: string; decimals: number; canBeFrozen: boolean }
  asset: SvmAsset
  standing: Standing
  /** Asset base units; undefined where they were never read. */
  totalAssets: bigint | undefined
  /** `shares` share base units are worth `assets` asset base units; undefined where there is no share, or none was read. */
  price: { assets: bigint; shares: bigint } | undefined
  /** Per year, as fractions; undefined where the window has no value. */
  apy: Readonly<Record<SvmWindow, number | undefined>>
  curator: string | undefined
}

/** Asset base units that shares are worth, rounded down. */
export function worthOf({ price }: Pick<SvmVault, 'price'>, shares: bigint): bigint | undefined {
  if (shares === 0n) return 0n
  return price && (shares * price.assets) / price.shares
}

export const usdOfAssets = ({ asset }: SvmVault, assets: bigint | undefined): number | undefined =>
  assets === undefined ? undefined : usdOf(assets, asset.decimals, asset.price)

export const NOBODY_VOUCHES_ON_SOLANA =
  'Nobody vouches for this vault: anybody can make one, and it is neither listed nor as large as those that are shown unlisted.'
