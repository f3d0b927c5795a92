import { type Address, erc20Abi } from 'viem'
import { groupBy } from '../../db/group-by.ts'
import { within } from '../../db/process/within.ts'
import { isRebasing } from '../../db/protocols.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import { inBatches, type VaultBatch } from '../catalogue/vault-batches.ts'
import { chainUnavailable } from '../chain/errors.ts'
import { type View, view } from '../chain/view.ts'
import { checksum } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { DependencyDownError } from '../http/errors.ts'
import { lendingMarkets } from '../lending/book.ts'
import { ratio } from '../lending/market.ts'
import { lendingFamilies } from '../load-protocols.ts'
import { ask } from '../moment/query.ts'
import { holdings } from '../portfolio/queries.ts'
import { erc4626Abi } from '../transactions/abis.ts'
import type { Allocation } from './allocation.ts'

export interface Allocations {
  /** Undefined where the vault's total assets are not known. */
  total: bigint | undefined
  /** Largest first. */
  parts: Allocation[]
}

/**
 * Where vaults' assets are, as far as it can be told: shares of other vaults, supplies to lending markets, what a vault
 * has lent out itself, and what lies idle. Each in base units of the vault's own asset, as of the chain's moment. By
 * `chain:address`.
 */
export async function readAllocations(
  vaults: readonly Vault[],
  context: EndpointContext,
): Promise<Map<string, Allocations>> {
  const { deps, signal } = context
  const batches = await Promise.all(
    inBatches(vaults, context).map(async given => {
      const batch = ofLending(given, context)
      const { vaults: asked, pinned } = batch
      const accounts = pinned.vaults
      const [now, shares, supplies] = await Promise.all([
        readBlockStates(batch, context),
        ask(deps.clickhouse, holdings, { ...pinned, accounts }, signal),
        readSupplies(accounts, pinned.chain, context),
      ])
      const sharesOf = groupBy(shares, ({ holder }) => holder)
      return asked.map((vault): [string, Allocations] => {
        const { address, chainId } = vault.state
        const parts = (sharesOf.get(address) ?? []).flatMap(({ vault: name, balance }) => {
          const held = context.catalogue.find(chainId, name)
          // What nobody vouches for may be sent to any vault, and says of itself what it likes.
          return held && held !== vault && held.standing !== 'found'
            ? shareOf(vault, held, BigInt(balance))
            : []
        })
        parts.push(...supplies(vault))
        return [keyOf(chainId, address), together(vault, parts, now.get(address))]
      })
    }),
  )
  return new Map(batches.flat())
}

/** As of the chain's lending markets, where they stand behind: all parts of an answer are of one block. */
function ofLending(batch: VaultBatch, { catalogue }: EndpointContext): VaultBatch {
  const { chain, pinned } = batch
  const lending = catalogue.chain(pinned.chain, 'lending')
  if (!lending || lending.position >= chain.position) return batch
  return { ...batch, chain: lending, pinned: { ...pinned, p: lending.position } }
}

/** What a vault's own contract and its asset say at the block of the catalogue's moment. */
interface BlockState {
  totalAssets: bigint | undefined
  idleAssets: bigint | undefined
}

/**
 * Total and idle assets, by vault, read on chain at the block that the catalogue stands on, so that they are of the same
 * moment as everything else; nothing where the chain does not answer, or no longer has that block.
 */
async function readBlockStates(
  { vaults, chain }: VaultBatch,
  { deps, signal }: EndpointContext,
): Promise<Map<string, BlockState>> {
  const states = new Map<string, BlockState>()
  const network = vaults[0]?.network.name
  if (network === undefined) return states
  const views: Record<string, View<bigint>> = {}
  for (const { state } of vaults) {
    const address = state.address as Address
    views[`total ${address}`] = view(erc4626Abi, address, 'totalAssets', [])
    views[`idle ${address}`] = view(erc20Abi, state.asset as Address, 'balanceOf', [address])
  }
  try {
    // Later than this the last sample is used in place of the state at the block.
    const { values } = await within(
      { ms: deps.onChain.patienceMs, signal },
      () => deps.onChain.reader.read(network, views, { block: BigInt(chain.blockNumber) }),
      () => chainUnavailable(network),
    )
    for (const { state } of vaults) {
      states.set(state.address, {
        totalAssets: values[`total ${state.address}`],
        idleAssets: values[`idle ${state.address}`],
      })
    }
  } catch (error) {
    if (!(error instanceof DependencyDownError)) throw error
  }
  return states
}

/** The parts, with what the vault has lent out itself and what lies idle. */
function together(vault: Vault, parts: Allocation[], now: BlockState | undefined): Allocations {
  const { state, asset } = vault
  const borrowed = state.sample?.borrowedAssets ?? 0n
  if (borrowed > 0n) {
    parts.push({
      name: 'Lent to borrowers',
      address: checksum(state.address),
      assetSymbol: asset.symbol,
      value: borrowed,
      kind: 'deployed',
      utilization: 1,
    })
  }
  // A nested vault's asset is a share: what it holds of it is deployed in the inner vault, and counted there.
  const idle = vault.inner ? 0n : (now?.idleAssets ?? state.sample?.idleAssets ?? 0n)
  if (idle > 0n) {
    parts.push({
      name: `Idle ${asset.symbol}`,
      address: checksum(state.asset),
      assetSymbol: asset.symbol,
      value: idle,
      kind: 'idle',
      utilization: 0,
    })
  }
  parts.sort((a, b) => (a.value > b.value ? -1 : a.value < b.value ? 1 : a.name < b.name ? -1 : 1))
  return { total: now?.totalAssets ?? state.sample?.totalAssets, parts }
}

/** Shares of `held` in the asset of `vault`; nothing where the one says nothing of the other. */
function shareOf(vault: Vault, held: Vault, shares: bigint): Allocation[] {
  const value = worthIn(vault, held, shares)
  if (value === undefined || value === 0n) return []
  const { totalAssets, borrowedAssets } = held.state.sample ?? {}
  return [
    {
      name: held.name,
      address: checksum(held.state.address),
      assetSymbol: vault.asset.symbol,
      value,
      kind: 'deployed',
      utilization:
        borrowedAssets === undefined || totalAssets === undefined
          ? undefined
          : ratio(borrowedAssets, totalAssets),
    },
  ]
}

function worthIn(vault: Vault, held: Vault, shares: bigint): bigint | undefined {
  const { address, asset, protocol, sample } = held.state
  // A nested vault: the share itself is the asset, unless its token counts assets.
  if (address === vault.state.asset && !isRebasing(protocol)) return shares
  if (address !== vault.state.asset && asset !== vault.state.asset) return undefined
  const { totalAssets, totalSupply } = sample ?? {}
  if (totalAssets === undefined || !totalSupply) return undefined
  return (shares * totalAssets) / totalSupply
}

/** What vaults have supplied of their assets to the lending markets of their chain, with interest up to its moment. */
async function readSupplies(
  vaults: readonly string[],
  chain: number,
  context: EndpointContext,
): Promise<(vault: Vault) => Allocation[]> {
  const markets = await lendingMarkets(context, chain)
  const supplies = await Promise.all(
    [...lendingFamilies].map(([slug, family]) => {
      const own = markets.filter(({ protocol }) => protocol === slug)
      return family.supplies?.(own, vaults, context, chain)
    }),
  )
  return vault => supplies.flatMap(of => of?.(vault) ?? [])
}
