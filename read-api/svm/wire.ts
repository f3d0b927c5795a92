import type { Key } from '../../abi/svm/programs.ts'
import { toBase58 } from '../../db/base58.ts'
import { PROTOCOLS, type ProtocolSlug } from '../../db/protocols.ts'
import { SOLANA } from '../../db/streams.ts'
import { assetGroup } from '../catalogue/asset-group.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { rate } from '../catalogue/wire.ts'
import { usdString } from '../http/amounts.ts'
import type { SvmAction, SvmLook } from './family.ts'
import type { PreparedSvm } from './prepare.ts'
import {
  NOBODY_VOUCHES_ON_SOLANA,
  SVM_WINDOWS,
  type SvmAsset,
  type SvmVault,
  type SvmWindow,
  usdOfAssets,
  worthOf,
} from './vault.ts'

/** CAIP-2 of mainnet: the first 32 characters of the hash of its first block. */
export const SOLANA_CAIP = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

export function assetWire({ mint, name, symbol, decimals, logo }: SvmAsset) {
  return {
    address: toBase58(mint),
    name,
    symbol,
    decimals,
    ...(logo === undefined ? {} : { assetLogo: logo }),
  }
}

/** As statements have the assets of all networks. */
export function statementAsset({ asset }: SvmVault, { facts }: Catalogue) {
  return {
    ...assetWire(asset),
    assetCaip: `${SOLANA_CAIP}/token:${toBase58(asset.mint)}`,
    assetGroup: facts.asset(SOLANA.id, asset.mint).group ?? assetGroup(asset.symbol),
  }
}

function protocolOf({ protocol }: SvmVault, { facts }: Catalogue) {
  const of: { name: string; product?: string; version?: string } | undefined =
    PROTOCOLS[protocol as ProtocolSlug]
  if (!of) return {}
  const { name, product, version } = of
  const { protocolLogo } = facts.protocol(name).profile ?? {}
  return {
    protocol: {
      name,
      ...(product === undefined ? {} : { product }),
      ...(version === undefined ? {} : { version }),
      ...(protocolLogo === undefined ? {} : { protocolLogo }),
    },
  }
}

const tokenOf = ({ share }: SvmVault) => ({
  address: toBase58(share.mint),
  tokenCaip: `${SOLANA_CAIP}/token:${toBase58(share.mint)}`,
  name: share.name,
  symbol: share.symbol,
  decimals: share.decimals,
})

export function vaultWire(vault: SvmVault, catalogue: Catalogue) {
  return {
    address: toBase58(vault.address),
    name: vault.name,
    asset: assetWire(vault.asset),
    ...protocolOf(vault, catalogue),
  }
}

export function detailedWire(vault: SvmVault, catalogue: Catalogue) {
  const { share, totalAssets, apy, curator } = vault
  const profile = curator === undefined ? undefined : catalogue.facts.curator(curator).profile
  return {
    ...vaultWire(vault, catalogue),
    tvl: { usd: usdString(usdOfAssets(vault, totalAssets)), native: totalAssets?.toString() ?? '' },
    apy: Object.fromEntries(SVM_WINDOWS.map(window => [window, rate(apy[window])])) as Record<
      SvmWindow,
      ReturnType<typeof rate>
    >,
    ...(share.name && share.symbol ? { lpToken: tokenOf(vault) } : {}),
    ...(curator === undefined ? {} : { curator: { name: curator, ...profile } }),
    standing: vault.standing,
    ...warningsOf(vault, SVM_WINDOWS),
  }
}

/** What a reader of the figures has to know. */
export function warningsOf(
  { standing, share, totalAssets, asset, apy, price }: SvmVault,
  windows: readonly SvmWindow[] = [],
): { warnings?: string[] } {
  const unknown = windows.filter(window => apy[window] === undefined)
  const warnings = [
    ...(standing === 'found' ? [NOBODY_VOUCHES_ON_SOLANA] : []),
    ...(share.canBeFrozen ? ['Who issues the share may freeze what wallets hold of it.'] : []),
    ...(totalAssets === undefined ? ['What lies in the vault has not been read yet.'] : []),
    ...(totalAssets !== undefined && price === undefined
      ? ['There is no share price: the vault has no shares.']
      : []),
    ...(unknown.length > 0
      ? [`apy of ${unknown.join(', ')} is unknown and not 0: no price of a share was read at its beginning.`]
      : []),
    ...(asset.price === undefined
      ? [`USD values are unknown: there is no price for ${asset.symbol || toBase58(asset.mint)}.`]
      : []),
  ]
  return warnings.length > 0 ? { warnings } : {}
}

export function positionWire(vault: SvmVault, shares: bigint, window: SvmWindow, catalogue: Catalogue) {
  const worth = worthOf(vault, shares)
  return {
    ...vaultWire(vault, catalogue),
    asset: {
      ...assetWire(vault.asset),
      balanceNative: worth?.toString() ?? '',
      balanceUsd: usdString(usdOfAssets(vault, worth)),
      unclaimedNative: '0',
      unclaimedUsd: '0',
      ...(worth === undefined ? {} : { positionValueInAsset: worth.toString() }),
    },
    apy: rate(vault.apy[window]),
    ...warningsOf(vault, [window]),
  }
}

/** What a wallet has, and what it can do. */
export function contextWire(vault: SvmVault, user: Key, look: SvmLook, allowUnlisted: boolean) {
  const step = (name: SvmAction, mint: Key) => {
    const query = new URLSearchParams({ assetAddress: toBase58(mint) })
    if (allowUnlisted && name === 'deposit') query.set('allowUnlisted', 'true')
    const path = [name, toBase58(user), toBase58(vault.address)].join('/')
    return look.barred[name] === undefined
      ? [{ name, actions: [name], actionsUrl: `/beta/svm/transactions/${path}?${query}` }]
      : []
  }
  const known = [...Object.values(look.barred), ...(look.notes ?? [])]
  const { warnings = [] } = warningsOf(vault)
  return {
    asset: {
      ...assetWire(vault.asset),
      balanceNative: look.assets.toString(),
      ...(look.redeemLimit === undefined ? {} : { redeemLimit: look.redeemLimit.toString() }),
      ...(look.least === undefined
        ? {}
        : { minDeposit: look.least.deposit.toString(), minRedeem: look.least.redeem.toString() }),
    },
    lpToken: { ...tokenOf(vault), balanceNative: look.shares.toString() },
    unclaimed: [],
    depositSteps: step('deposit', vault.asset.mint),
    redeemSteps: step('redeem', vault.share.mint),
    ...(warnings.length + known.length > 0 ? { warnings: [...warnings, ...known] } : {}),
  }
}

export function bundleWire(vault: SvmVault, prepared: PreparedSvm, simulate: boolean) {
  const { steps, lastValidBlockHeight } = prepared
  const warnings = [
    ...(vault.standing === 'found' ? [NOBODY_VOUCHES_ON_SOLANA] : []),
    ...(steps.some(({ moved }) => moved === undefined) ? [NOT_TRIED] : []),
  ]
  return {
    actions: steps.map(({ name, transaction, moved }) => ({
      name,
      tx: {
        transaction: Buffer.from(transaction).toString('base64'),
        lastValidBlockHeight: lastValidBlockHeight.toString(),
      },
      ...(simulate && moved ? { simulation: simulationWire(vault, moved) } : {}),
    })),
    ...(warnings.length > 0 ? { warnings } : {}),
  }
}

const NOT_TRIED =
  'One transaction cannot hold it: send the second when the first has landed. The second could not be tried before that; ask again then to have it tried.'

function simulationWire({ asset, share }: SvmVault, moved: { assets: bigint; shares: bigint }) {
  const amounts = [
    [asset.symbol || toBase58(asset.mint), moved.assets],
    [share.symbol || toBase58(share.mint), moved.shares],
  ] as const
  const those = (sign: 1n | -1n) =>
    Object.fromEntries(
      amounts.flatMap(([name, amount]) => (amount * sign > 0n ? [[name, `${amount * sign}`]] : [])),
    )
  return { status: 'success' as const, tokensReceived: those(1n), tokensSpent: those(-1n) }
}
