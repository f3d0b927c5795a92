import type { DomainEvent } from '../../db/events/vocabulary.ts'
import {
  ofProtocol,
  type Protocol,
  type SampledVault,
  type ShareAmounts,
  type StateRead,
  type VaultFigures,
} from '../protocol.ts'
import { figureByFigure, figuresOfVault } from './vault-reading.ts'

/** Digits that a share price is to have. */
const DIGITS = 18
/** 10^77 is the largest power of ten in a uint256. */
const LARGEST = 77

/** An asset of 18 decimals gives the price all its digits already. */
function amountsOf({ decimals, assetDecimals }: { decimals: number; assetDecimals: number }): ShareAmounts {
  const fineDigits = Math.max(0, Math.min(DIGITS - assetDecimals, LARGEST - decimals))
  return { whole: 10n ** BigInt(decimals), fine: 10n ** BigInt(decimals + fineDigits), fineDigits }
}

/**
 * A contract that refuses so many shares, or says of them what is not the same price (it answers for no more than it has),
 * has no finer one.
 */
function withFinePrice({ finePrice, ...figures }: VaultFigures, { whole, fine, fineDigits }: ShareAmounts) {
  const { sharePrice } = figures
  if (finePrice === undefined || sharePrice === undefined || fineDigits === 0) return figures
  const difference = (finePrice * whole) / fine - sharePrice
  return difference < -1n || difference > 1n ? figures : { ...figures, finePrice, fineDigits }
}

/** How vaults are read that are not read as ERC-4626 has it, by the slug of what they are. */
export type Readings = ReadonlyMap<string, NonNullable<Protocol['reading']>>

export const readingsOf = (protocols: readonly Protocol[]): Readings =>
  new Map(protocols.flatMap(({ name, reading }) => (reading ? [[name, reading] as const] : [])))

/**
 * State of a vault at the end of a block, at its time in unix seconds: total assets, room for deposits, assets that lie
 * idle and assets lent out (asset base units), total supply (share base units) and convertToAssets of one whole share and of
 * more, for the digits.
 * What a vault does not answer is absent.
 */
export function readVault(sampled: SampledVault, at: number, readings: Readings): StateRead {
  const { vault, asset, protocol, decimals, assetDecimals, reason } = sampled
  const amounts = amountsOf(sampled)
  const own = readings.get(protocol)?.(sampled, amounts)
  const { calls, figures } = own ?? figureByFigure(figuresOfVault(vault, asset, amounts))
  return ofProtocol(own ? protocol : 'erc-4626', {
    key: `vault ${vault}`,
    calls,
    events: answers => {
      const read = withFinePrice(figures(answers, at), amounts)
      const data = { vault, reason, ...read, decimals, assetDecimals }
      return [{ type: 'StateSampled', contract: vault, data } as DomainEvent]
    },
  })
}
