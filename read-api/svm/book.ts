import { type Key, SOL_DECIMALS, WRAPPED_SOL } from '../../abi/svm/programs.ts'
import { toBase58 } from '../../db/base58.ts'
import { SOLANA } from '../../db/streams.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { perMoment } from '../catalogue/per-moment.ts'
import type { Standing } from '../catalogue/vault-state.ts'
import { usdOf } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { NotFoundError, RefusedError } from '../http/errors.ts'
import { svmFamilies } from '../load-protocols.ts'
import { askKept } from '../moment/kept.ts'
import type { SvmFamily } from './family.ts'
import { type SvmMintRow, type SvmVaultRow, svmMints, svmVaults } from './queries.ts'
import type { SvmAsset, SvmVault } from './vault.ts'

type Asking = Pick<EndpointContext, 'deps' | 'catalogue' | 'touch'>

/** All vaults of Solana as of the catalogue's moment, by address; without those that an operator ignores, or that are not described. */
export function svmVaultsOf(context: Asking): Promise<SvmVault[]> {
  context.touch(SOLANA.id)
  return context.catalogue.chain(SOLANA.id, 'svm') ? readVaults(context, SOLANA.id) : Promise.resolve([])
}

/** Where questions to the read models are pinned; nothing is seen where nothing is indexed. */
export const pinnedTo = ({ catalogue }: Asking) => ({
  chain: SOLANA.id,
  p: catalogue.chain(SOLANA.id, 'svm')?.position ?? 0,
})

const readVaults = perMoment(async (context: Asking): Promise<SvmVault[]> => {
  const [rows, mints] = await Promise.all([
    askKept(context, svmVaults, SOLANA.id, 'svm'),
    askKept(context, svmMints, SOLANA.id, 'svm'),
  ])
  const byMint = new Map(mints.map(row => [row.mint, row]))
  return rows.flatMap(row => vaultOf(context.catalogue, row, byMint) ?? [])
})

function vaultOf(
  catalogue: Catalogue,
  row: SvmVaultRow,
  mints: ReadonlyMap<string, SvmMintRow>,
): SvmVault | undefined {
  const share = mints.get(row.share_mint)
  const asset = assetOf(catalogue, row.asset_mint, mints.get(row.asset_mint))
  // What another than the vault may make more of is no share of it.
  if (!share || !asset || share.mint_authority !== row.authority) return undefined
  const address = row.vault as Key
  if (catalogue.facts.isIgnored(SOLANA.id, address)) return undefined
  const { listed, curator } = catalogue.facts.vault(SOLANA.id, address)
  const totalAssets = row.total_assets === null ? undefined : BigInt(row.total_assets)
  const name = plain(share.name)
  return {
    address,
    protocol: row.protocol,
    program: row.program as Key,
    name: listed?.name ?? name,
    share: {
      mint: row.share_mint as Key,
      name,
      symbol: plain(share.symbol),
      decimals: share.decimals,
      canBeFrozen: share.freeze_authority !== '',
    },
    asset,
    standing: listed ? 'listed' : standingOf(row, totalAssets, asset),
    totalAssets,
    price: priceOf(row),
    apy: {
      '1day': row.apy_1d ?? undefined,
      '7day': row.apy_7d ?? undefined,
      '30day': row.apy_30d ?? undefined,
    },
    curator,
  }
}

/** The program vouches for what a vault does, and what lies in it that somebody uses it. */
export function standingOf(
  { protocol, idle_assets: idle }: Pick<SvmVaultRow, 'protocol' | 'idle_assets'>,
  totalAssets: bigint | undefined,
  asset: SvmAsset,
): Standing {
  const floor = svmFamilies.get(protocol)?.floor
  if (floor === undefined || totalAssets === undefined) return 'found'
  if ('assets' in floor) return totalAssets >= floor.assets ? 'made' : 'found'
  // What was lent may be lent to the vault's own maker, over and over.
  const seen = idle === null ? undefined : usdOf(BigInt(idle), asset.decimals, asset.price)
  return (seen ?? 0) >= floor.usd ? 'made' : 'found'
}

function priceOf({ price_assets, price_shares }: SvmVaultRow): SvmVault['price'] {
  if (price_assets === null || price_shares === null || price_shares === '0') return undefined
  return { assets: BigInt(price_assets), shares: BigInt(price_shares) }
}

/** Wrapped SOL has no metadata of its own. */
const SOL = { name: 'Wrapped SOL', symbol: 'SOL', decimals: SOL_DECIMALS }

function assetOf(catalogue: Catalogue, mint: string, row: SvmMintRow | undefined): SvmAsset | undefined {
  const known = mint === WRAPPED_SOL ? SOL : row
  if (!known) return undefined
  return {
    mint: mint as Key,
    name: plain(known.name),
    symbol: plain(known.symbol),
    decimals: known.decimals,
    logo: catalogue.facts.asset(SOLANA.id, mint).logo,
    price: catalogue.quotedPrice(SOLANA.id, mint),
  }
}

/** Metadata are padded with NUL to a fixed length. */
const plain = (text: string) => text.replaceAll('\0', '').trim()

/** The vault that a path names. */
export async function findSvmVault(address: Key, context: Asking): Promise<SvmVault> {
  const vault = (await svmVaultsOf(context)).find(of => of.address === address)
  if (!vault)
    throw new NotFoundError(
      `There is no vault ${toBase58(address)} on Solana. GET /beta/svm/vaults lists them; the mint of a vault's share is not its address, and case matters.`,
    )
  return vault
}

/** How a vault is used. */
export function svmFamilyOf({ protocol }: SvmVault): SvmFamily {
  const family = svmFamilies.get(protocol)
  if (!family) throw new RefusedError(`Transactions of vaults of ${protocol} are not prepared here.`)
  return family
}
