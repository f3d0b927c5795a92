import type { BlockEvents } from '../../db/events/event-store.ts'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import * as w from './world.ts'

/** Vaults that anybody could deploy beside those of the made-up world, and the best of all by their own word. */
export const RICH = `0x${'ea'.repeat(20)}`
export const NAMESAKE = `0x${'eb'.repeat(20)}`
export const NESTED = `0x${'ec'.repeat(20)}`
export const FALSE_USD = `0x${'ed'.repeat(20)}`
/** All that it says is true. */
export const HONEST = `0x${'ef'.repeat(20)}`
export const STRANGERS = [RICH, NAMESAKE, NESTED, HONEST]

const E18 = 10n ** 18n
const assets: Record<string, { asset: string; assetSymbol: string; assetDecimals: number }> = {
  // Without a cent of the asset that it says it holds a million millions of.
  [RICH]: { asset: w.USD_ASSET, assetSymbol: 'USDX', assetDecimals: 6 },
  // Its asset bears the name of another.
  [NAMESAKE]: { asset: FALSE_USD, assetSymbol: 'USDX', assetDecimals: 18 },
  [NESTED]: { asset: RICH, assetSymbol: 'sRICH', assetDecimals: 18 },
  [HONEST]: { asset: w.USD_ASSET, assetSymbol: 'USDX', assetDecimals: 6 },
}

/** The blocks of a world with what the strangers did in them. */
export function withStrangers(blocks: readonly BlockEvents[]): BlockEvents[] {
  return blocks.map(({ block, events }, n) => {
    const hour = Math.floor((block.timestamp - w.START) / w.HOUR)
    const own = STRANGERS.flatMap(vault => [
      ...(n === 0 ? [discovered(vault)] : []),
      ...(n === 2 ? given(vault, block.number) : []),
      ...((block.timestamp - w.START) % w.HOUR < 600 ? [sampled(vault, hour)] : []),
    ])
    return { block, events: [...events, ...own] }
  })
}

function discovered(vault: string): DomainEvent {
  const { assetSymbol, ...asset } = assets[vault] ?? { asset: '', assetSymbol: '', assetDecimals: 0 }
  const data = { vault, protocol: 'rich', name: 'Get <b>rich</b>', symbol: 'RICH', decimals: 18 }
  return {
    type: 'VaultDiscovered',
    contract: vault,
    data: {
      ...data,
      ...asset,
      assetName: `Asset ${assetSymbol}`,
      assetSymbol,
      deployedBlock: 1,
      deployedAt: w.START,
    },
  }
}

/** Shares for three who never asked for them, one of them a vault. */
function given(vault: string, block: number): DomainEvent[] {
  const shares = new Map([
    [w.ALICE, 5_000_000n * E18],
    [w.BOB, 4_999_000n * E18],
    [w.USD_VAULT, 1_000n * E18],
  ])
  return [...shares].map(([to, amount], n) => ({
    type: 'ShareTransferred',
    contract: vault,
    transactionHash: `0x${'5'.repeat(24)}${vault.slice(2)}`,
    logIndex: 10_000 + 10 * Number(`0x${vault.slice(2, 4)}`) + n + block,
    data: { from: `0x${'0'.repeat(40)}`, to, shares: amount },
  }))
}

function sampled(vault: string, hour: number): DomainEvent {
  const assetDecimals = assets[vault]?.assetDecimals ?? 18
  const one = 10n ** BigInt(assetDecimals)
  const isHonest = vault === HONEST
  const totalAssets = (isHonest ? 10n ** 5n : 10n ** 12n) * one + BigInt(hour)
  return {
    type: 'StateSampled',
    contract: vault,
    data: {
      vault,
      reason: 'hourly',
      totalAssets,
      totalSupply: 10_000_000n * E18,
      sharePrice: one + (one * BigInt(hour)) / (isHonest ? 20_000n : 2_000n),
      idleAssets: isHonest ? totalAssets : 0n,
      decimals: 18,
      assetDecimals,
    },
  }
}
