import type { Address } from 'viem'
import { isNetworkName, networks as known } from '../db/networks.ts'
import type { AssetInfo } from './catalogue/assets.ts'
import type { Catalogue, CatalogueSource } from './catalogue/catalogue.ts'
import { greatestAge } from './catalogue/prices.ts'
import type { Vault } from './catalogue/vault.ts'
import type { ChainReaderOptions } from './chain/reader.ts'
import { createChainReader } from './chain/reader.ts'
import { rewardSources } from './load-protocols.ts'
import type { PriceSource } from './nrt/nrt.ts'
import { createBridge } from './protocols/cctp-v2/bridge.ts'
import { createRewards } from './rewards/rewards.ts'
import { createTokenFinder } from './rewards/tokens.ts'
import { createAmmPreparer } from './transactions/amm/prepare.ts'
import { createBorrowPreparer } from './transactions/borrow/prepare.ts'
import type { VaultRef } from './transactions/family.ts'
import { createFixedTermPreparer } from './transactions/fixed-term/prepare.ts'
import { createPreparer } from './transactions/prepare.ts'

export interface OnChainOptions extends ChainReaderOptions {
  catalogue: CatalogueSource
  /** Milliseconds that an answer waits for what a chain adds to it. Default 1,000. */
  patienceMs?: number
  /**
   * Addresses of protocols' services, by slug: what keeps proofs of rewards, what attests transfers of the bridge. One that is
   * not given is not asked.
   */
  services?: Partial<Record<string, string | undefined>>
  /** Contracts that pay rewards, by slug and network, where they are not the published ones. */
  rewardContracts?: Partial<Record<string, Partial<Record<string, Address>>>>
  /** By network, where it is not the published one. */
  wrappedNatives?: Partial<Record<string, Address>>
}

/** Everything of the API that is read from chains at the moment of the request. */
export function createOnChain(options: OnChainOptions) {
  const { catalogue, patienceMs = 1_000, services = {}, rewardContracts = {} } = options
  const reader = createChainReader(options)
  const preparer = createPreparer(reader)
  const tokenOf = createTokenFinder(reader)
  const networks = Object.keys(options.rpc).filter(network => reader.rpc.serves(network))
  const vaultsOf = (protocol: string) => (network: string) =>
    catalogue
      .current()
      .shown(false)
      .vaults.filter(vault => vault.network.name === network && vault.state.protocol === protocol)
      .map(vault => vault.state.address as Address)
  const rewards = createRewards({
    networks,
    dryRun: preparer.dryRun,
    sources: rewardSources(slug => ({
      reader,
      tokenOf,
      vaultsOn: vaultsOf(slug),
      service: services[slug],
      contracts: rewardContracts[slug],
    })),
  })
  const wrappedNativeOf = (network: string): Address | undefined =>
    options.wrappedNatives?.[network] ?? (isNetworkName(network) ? known[network].wrappedNative : undefined)

  return {
    reader,
    patienceMs,
    preparer,
    /** Of lending markets. */
    borrowing: createBorrowPreparer(reader, preparer.dryRun),
    fixedTerm: createFixedTermPreparer(reader, preparer.dryRun, tokenOf),
    amm: createAmmPreparer(reader, preparer.dryRun),
    tokenOf,
    rewards,
    bridge: createBridge({ reader, dryRun: preparer.dryRun, url: services['cctp-v2'], patienceMs }),
    wrappedNativeOf,
    refOf: (vault: Vault): VaultRef => ({
      ...vaultRefOf(vault, wrappedNativeOf(vault.network.name)),
      rewards: rewardContracts[vault.state.protocol]?.[vault.network.name],
    }),
  }
}

export type OnChain = ReturnType<typeof createOnChain>

function vaultRefOf({ state, network, asset }: Vault, wrappedNative: Address | undefined): VaultRef {
  return {
    network: network.name,
    chainId: network.chainId,
    address: state.address as Address,
    asset: { address: state.asset as Address, symbol: asset.symbol, decimals: asset.decimals },
    share: { address: state.address as Address, symbol: state.symbol, decimals: state.decimals },
    ...(wrappedNative ? { wrappedNative } : {}),
  }
}

/** An asset's price as it can be read on its own chain; undefined where its plan leads to another chain. */
export function priceSourceOf(
  catalogue: Catalogue,
  { plan, chainId }: Pick<AssetInfo, 'plan' | 'chainId'>,
): PriceSource | undefined {
  if (!plan || (plan.feed && plan.feed.chainId !== chainId)) return undefined
  const vaults: { vault: Address; decimals: number; assetDecimals: number }[] = []
  for (const inner of plan.vaults) {
    const found = inner.chainId === chainId ? catalogue.find(chainId, inner.vault) : undefined
    if (!found) return undefined
    vaults.push({
      vault: inner.vault as Address,
      decimals: found.state.decimals,
      assetDecimals: found.asset.decimals,
    })
  }
  return {
    constant: plan.constant,
    vaults,
    ...(plan.feed ? { feed: plan.feed.feed as Address, greatestAge: greatestAge(plan.feed) } : {}),
  }
}
