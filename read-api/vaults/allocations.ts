import { type Address, erc20Abi } from 'viem'
import { suppliedAt } from '../../abi/aave-v3/math.ts'
import { morphoBalances } from '../../abi/morpho-blue/math.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import type { Vault } from '../catalogue/vault.ts'
import { inBatches, type VaultBatch } from '../catalogue/vault-batches.ts'
import { deadline } from '../chain/deadline.ts'
import { type View, view } from '../chain/view.ts'
import { checksum } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { DependencyDownError } from '../http/errors.ts'
import { lendingMarkets, morphoRows } from '../lending/book.ts'
import { type LendingMarket, ratio } from '../lending/market.ts'
import { readHeld, type Stored } from '../lending/positions.ts'
import type { MorphoRow } from '../lending/queries.ts'
import { groupBy } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import { holdings } from '../portfolio/queries.ts'
import { morphoStateAt } from '../protocols/morpho-blue/lending.ts'
import { erc4626Abi } from '../transactions/abis.ts'

/** A place in which part of a vault's assets is. */
export interface Allocation {
  name: string
  address: string
  /** What `value` is in. */
  assetSymbol: string
  /** Base units of the vault's asset. */
  value: bigint
  kind: 'deployed' | 'idle'
  /** Share of it that is lent out, as a fraction; undefined where the place does not say. */
  utilization: number | undefined
}

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
  // Afterwards the last sample is used in place of the state at the block.
  const { passed, cancel } = deadline(deps.onChain.patienceMs, signal)
  try {
    const batches = await Promise.all(
      inBatches(vaults, context).map(async batch => {
        const { vaults: asked, chain, pinned } = batch
        const accounts = pinned.vaults
        const [now, shares, markets, rows, stored] = await Promise.all([
          readBlockStates(batch, context, passed),
          ask(deps.clickhouse, holdings, { ...pinned, accounts }, signal),
          lendingMarkets(context, pinned.chain),
          morphoRows(context, pinned.chain),
          readHeld(pinned.chain, accounts, context),
        ])
        const sharesOf = groupBy(shares, ({ holder }) => holder)
        return asked.map((vault): [string, Allocations] => {
          const { address, chainId } = vault.state
          const parts = (sharesOf.get(address) ?? []).flatMap(({ vault: name, balance }) => {
            const held = context.catalogue.find(chainId, name)
            return held && held !== vault ? shareOf(vault, held, BigInt(balance)) : []
          })
          const own = stored.get(address)
          if (own) parts.push(...suppliesOf(vault, chain.blockTime, { markets, rows, ...own }, context))
          return [keyOf(chainId, address), together(vault, parts, now.get(address))]
        })
      }),
    )
    return new Map(batches.flat())
  } finally {
    cancel()
  }
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
  { deps }: EndpointContext,
  passed: (network: string) => Promise<never>,
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
  const reading = deps.onChain.reader.read(network, views, { block: BigInt(chain.blockNumber) })
  reading.catch(() => {})
  try {
    const { values } = await Promise.race([reading, passed(network)])
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
  // A nested vault: the share itself is the asset.
  if (held.state.address === vault.state.asset) return shares
  if (held.state.asset !== vault.state.asset) return undefined
  const { totalAssets, totalSupply } = held.state.sample ?? {}
  if (totalAssets === undefined || !totalSupply) return undefined
  return (shares * totalAssets) / totalSupply
}

/** What a vault has supplied of its asset to the lending markets of its chain, with interest up to `at`. */
function suppliesOf(
  vault: Vault,
  at: number,
  {
    markets,
    rows,
    morpho,
    scaled,
  }: Stored & { markets: readonly LendingMarket[]; rows: readonly MorphoRow[] },
  { catalogue }: EndpointContext,
): Allocation[] {
  const { chainId, asset } = vault.state
  const symbol = vault.asset.symbol
  const reserves = markets.flatMap(market =>
    market.protocol === 'aave-v3' ? market.reserves.map(reserve => ({ market, reserve })) : [],
  )
  return [
    ...rows.flatMap((row): Allocation[] => {
      const position = row.loan_asset === asset ? morpho.get(row.market) : undefined
      if (!position) return []
      const { state } = morphoStateAt(row, at)
      const { supplied: value } = morphoBalances(position, state)
      if (value === 0n) return []
      const collateral = row.collateral_asset && catalogue.asset(chainId, row.collateral_asset)
      return [
        {
          name: row.collateral_asset
            ? `Morpho Blue ${collateral ? collateral.symbol : row.collateral_asset}/${symbol} ${percent(row.lltv)}`
            : `Morpho Blue ${symbol}, without borrowers`,
          address: checksum(row.morpho),
          assetSymbol: symbol,
          value,
          // A market without a collateral is where MetaMorpho parks what it does not lend.
          kind: row.collateral_asset ? 'deployed' : 'idle',
          utilization: ratio(state.borrowAssets, state.supplyAssets),
        },
      ]
    }),
    ...reserves.flatMap(({ market, reserve }): Allocation[] => {
      const held = (reserve.asset === asset && scaled.get(reserve.aToken)) || 0n
      const value = suppliedAt(held, reserve.income, reserve.isDirected)
      const whole = market.assets.find(({ id }) => id === asset)
      if (value === 0n || !whole) return []
      return [
        {
          name: `${market.name} ${symbol}`,
          address: checksum(market.root),
          assetSymbol: symbol,
          value,
          kind: 'deployed',
          utilization: ratio(whole.borrowed, whole.supplied),
        },
      ]
    }),
  ]
}

/** @example percent('860000000000000000') → '86 %' */
const percent = (wad: string) => `${Number(BigInt(wad) / 10n ** 14n) / 100} %`
