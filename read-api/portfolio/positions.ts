import { keyOf } from '../catalogue/catalogue.ts'
import type { FoundVault } from '../catalogue/find-vault.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { Window } from '../catalogue/vault-state.ts'
import { compositeOf, identityOf, lpTokenOf, rate } from '../catalogue/wire.ts'
import { usdOf, usdString } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import type { ApyInterval } from '../vaults/history-queries.ts'
import { assetsOf, UNKNOWN_STATE } from '../vaults/share-value.ts'
import { presentBalance, presentBalances } from './present-balances.ts'
import type { PositionFigures } from './select-positions.ts'
import { readWallet } from './wallet-balances.ts'

/** What a wallet holds of a vault now. */
export interface Held extends PositionFigures {
  /** Share base units. */
  shares: bigint
  /** Asset base units; undefined where the share price is not known. */
  value: bigint | undefined
  /** The wallet's own balance of the asset, in base units; undefined where the chain did not say. */
  wallet: bigint | undefined
}

export interface Positions {
  held: Held[]
  /** Networks whose wallet balances are not known. */
  unreachable: string[]
}

/** Every vault that passes `want` and of which the account holds shares, on every chain. */
export async function readPositions(
  account: string,
  want: (vault: Vault) => boolean,
  context: EndpointContext,
): Promise<Positions> {
  const { catalogue, touch } = context
  touch(...catalogue.moment.chains.keys())
  const rows = await presentBalances(account, context)
  const held = rows.flatMap(row => {
    const vault = catalogue.find(row.chain_id, row.vault)
    return vault && want(vault) ? [{ vault, shares: BigInt(row.balance) }] : []
  })
  const { balances, unreachable } = await readWallet(
    account,
    held.map(({ vault }) => vault.asset),
    context,
    context.deps.onChain.patienceMs,
  )
  return { held: held.map(({ vault, shares }) => describe(vault, shares, balances)), unreachable }
}

/** One vault, held or not. */
export async function readPosition(
  account: string,
  { vault, pinned }: FoundVault,
  context: EndpointContext,
): Promise<Held> {
  const [shares, { balances }] = await Promise.all([
    presentBalance(account, pinned, context),
    readWallet(account, [vault.asset], context, context.deps.onChain.patienceMs),
  ])
  return describe(vault, shares, balances)
}

/** What shares of a vault are worth now: asset base units and USD; undefined where share price or price are not known. */
export function worthOf({ state, asset }: Vault, shares: bigint) {
  const value = assetsOf(shares, state.sample ?? UNKNOWN_STATE, {
    decimals: state.decimals,
    assetDecimals: asset.decimals,
  })
  return { value, valueUsd: value === undefined ? undefined : usdOf(value, asset.decimals, asset.price) }
}

function describe(vault: Vault, shares: bigint, wallet: ReadonlyMap<string, bigint>): Held {
  return {
    vault,
    shares,
    ...worthOf(vault, shares),
    wallet: wallet.get(keyOf(vault.asset.chainId, vault.asset.address)),
    tvlUsd: vault.tvlUsd,
    apys: vault.totalApys,
  }
}

/** The Position of the wire. */
export function positionOf({ vault, shares, value, valueUsd, wallet }: Held, interval: ApyInterval) {
  const { asset } = vault
  const { at } = vault.state.sample ?? {}
  const worth = value === undefined ? {} : { positionValueInAsset: value.toString() }
  return {
    ...identityOf(vault),
    protocol: vault.protocol,
    asset: {
      ...asset.wire,
      ...(wallet === undefined ? { balanceNative: '' } : balanceOf(wallet, asset.decimals, asset.price)),
      ...worth,
    },
    lpToken: {
      ...lpTokenOf(vault),
      balanceNative: shares.toString(),
      ...(valueUsd === undefined ? {} : { balanceUsd: usdString(valueUsd) }),
      ...worth,
      ...(value === undefined || at === undefined ? {} : { lastUpdateTimestamp: at }),
      ...(asset.wire.assetPriceInUsd === undefined ? {} : { assetPriceInUsd: asset.wire.assetPriceInUsd }),
    },
    userEventsIndexed: vault.userEventsIndexed,
    apy: rateOf(vault, interval),
    ...compositeAt(vault, interval),
  }
}

export function balanceOf(balance: bigint, decimals: number, price: number | undefined) {
  const usd = usdOf(balance, decimals, price)
  return {
    balanceNative: balance.toString(),
    ...(usd === undefined ? {} : { balanceUsd: usdString(usd) }),
  }
}

export function rateOf(vault: Vault, window: Window) {
  return rate(vault.apy[window], vault.reward[window])
}

function compositeAt(vault: Vault, window: Window) {
  const { apyComposite } = compositeOf(vault)
  if (!apyComposite) return {}
  const { totalApy, intrinsicApy, ...rest } = apyComposite
  return { apyComposite: { totalApy: totalApy[window], intrinsicApy: intrinsicApy[window], ...rest } }
}
