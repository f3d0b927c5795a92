import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { BlockEvents } from '../db/events/event-store.ts'
import type { DomainEvent, EventData } from '../db/events/vocabulary.ts'
import { HOUR } from '../db/units.ts'
import { RECORDINGS } from './recordings.ts'

const MAX_UINT256 = 2n ** 256n - 1n

interface Hour {
  assets: bigint
  supply: bigint
  price: bigint
  fine: bigint | undefined
}

/** What one vault said hour by hour, in base units: asset and share have the same decimals. */
interface Series {
  decimals: number
  hours: Hour[]
}

/** `1087690.600917` → base units; the digits that a recorded float does not have are made of those that it has. */
function unitsOf(value: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = Number(value).toFixed(20).split('.')
  const known = fraction.slice(0, Math.min(decimals, Math.max(0, 15 - whole.length)))
  const noise = BigInt(`0x${createHash('sha256').update(value).digest('hex').slice(0, 16)}`).toString()
  const units = BigInt(whole + known + noise.padEnd(32, '0').slice(0, decimals - known.length))
  return Number(value) === 0 ? 0n : units
}

/** The hourly series of nine real vaults that are on record. */
async function recordedSeries(): Promise<Series[]> {
  const hemi = gunzipSync(await readFile(join(RECORDINGS, 'vaults/share-prices-hemi-1h.csv.gz'))).toString()
  const mainnet = await readFile(join(RECORDINGS, 'vaults/share-prices-ipor-mainnet-1h.csv'), 'utf8')
  const rows = new Map<string, { price: string; assets: string; supply: string }[]>()
  for (const line of [hemi, mainnet].flatMap(text => text.trim().split('\n').slice(1))) {
    const [, address = '', , , price = '', assets = '', supply = ''] = line.split(',')
    rows.set(address, [...(rows.get(address) ?? []), { price, assets, supply }])
  }
  return [...rows.values()].map(list => {
    const digits = Math.max(...list.slice(-200).map(({ assets }) => assets.split('.')[1]?.length ?? 0))
    const decimals = digits > 8 ? 18 : digits > 6 ? 8 : 6
    return {
      decimals,
      hours: list.map(({ price, assets, supply }) => ({
        assets: unitsOf(assets, decimals),
        supply: unitsOf(supply, decimals),
        price: unitsOf(price, decimals),
        fine: decimals < 18 ? unitsOf(price, 18) : undefined,
      })),
    }
  })
}

const address = (n: number) => `0x${createHash('sha256').update(String(n)).digest('hex').slice(0, 40)}`

/**
 * `vaults` vaults for `hours` hours, one block each: a third of them hold nothing, as of the 25,447 recorded ones; the others go
 * through what one of the nine recorded vaults went through, each from another hour on.
 */
export async function* recordedHours(
  vaults: number,
  hours: number,
  begins: number,
): AsyncGenerator<BlockEvents> {
  const series = await recordedSeries()
  const weights = series.flatMap((of, i) => of.hours.map(() => i))
  const all = Array.from({ length: vaults }, (_, n) => {
    const of = series[weights[(n * 7_919) % weights.length] ?? 0]
    if (!of) throw new TypeError('no hourly series is on record')
    // Nine series are few: without a size of its own a vault would repeat what another one said, digit by digit.
    const size = 500_000n + (BigInt(address(n)) % 1_000_003n)
    return {
      vault: address(n),
      series: of,
      from: (n * 104_729) % of.hours.length,
      isEmpty: n % 3 === 0,
      size,
    }
  })
  const blockOf = (hour: number) => ({
    number: 1 + hour * 300,
    hash: `0x${createHash('sha256').update(`block ${hour}`).digest('hex')}`,
    timestamp: begins + hour * HOUR + 11,
  })
  for (let hour = 0; hour < hours; hour++) {
    const events: DomainEvent[] = []
    for (const { vault, series, from, isEmpty, size } of all) {
      const { decimals } = series
      const sized = (units: bigint) => (units * size) / 1_000_003n
      const grown = (price: bigint, one: bigint) => one + sized(price - one)
      if (hour === 0) {
        const token = {
          asset: `0x${'c'.repeat(40)}`,
          assetName: '',
          assetSymbol: '',
          assetDecimals: decimals,
        }
        const data = { vault, protocol: 'erc-4626', name: '', symbol: '', decimals, ...token }
        events.push({ type: 'VaultDiscovered', contract: vault, data } as DomainEvent)
      }
      const at = series.hours[(from + hour) % series.hours.length]
      if (!at) continue
      const one = 10n ** BigInt(decimals)
      const figures: Partial<EventData<'StateSampled'>> = isEmpty
        ? { totalAssets: 0n, totalSupply: 0n, sharePrice: one, idleAssets: 0n }
        : {
            totalAssets: sized(at.assets),
            totalSupply: sized(at.supply),
            sharePrice: grown(at.price, one),
            idleAssets: sized(at.supply) / 50n,
          }
      if (at.fine !== undefined) {
        figures.finePrice = isEmpty ? 10n ** 18n : grown(at.fine, 10n ** 18n)
        figures.fineDigits = 18 - decimals
      }
      events.push({
        type: 'StateSampled',
        protocol: 'erc-4626',
        contract: vault,
        data: {
          vault,
          reason: 'hourly',
          ...figures,
          maxDeposit: MAX_UINT256,
          decimals,
          assetDecimals: decimals,
        },
      } as DomainEvent)
    }
    yield { block: blockOf(hour), events }
  }
}
