import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { BlockEvents } from '../db/events/event-store.ts'
import type { DomainEvent } from '../db/events/vocabulary.ts'
import { networkOfChain } from '../db/networks.ts'
import { RECORDINGS } from './recordings.ts'

/** Unix seconds of the last block of every chain. */
export const NOW = 1_765_000_800
const HOUR = 3_600
/** Stands for the networks that are not served: 1,227 of the vaults are there. */
const ELSEWHERE = 8453
/** Of 5,812 vaults the recording does not say what they take. */
const UNKNOWN_TOKEN = { address: `0x${'e'.repeat(40)}`, name: '', symbol: '', decimals: 18 }

const row = z.object({
  spec: z.object({ chain_id: z.number(), vault_address: z.string() }),
  row: z.object({
    Name: z.string().nullish(),
    Protocol: z.string().nullish(),
    NAV: z.union([z.string(), z.number()]).nullish(),
    Shares: z.union([z.string(), z.number()]).nullish(),
    _denomination_token: z
      .object({
        name: z.string().nullish(),
        symbol: z.string().nullish(),
        decimals: z.number().nullish(),
        address: z.string(),
      })
      .nullish(),
    _share_token: z.object({ symbol: z.string().nullish(), decimals: z.number().nullish() }).nullish(),
  }),
})

/** `12.5` and 6 → 12500000n; what is no number counts as zero. */
function digits(value: string | number | null | undefined, decimals: number): bigint {
  const [whole = '0', fraction = ''] = String(value ?? '').split('.')
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(fraction)) return 0n
  return BigInt(whole + fraction.padEnd(decimals, '0').slice(0, decimals))
}

/**
 * The 25,447 real vaults of RECORDINGS_DIR by chain, every one found in the first of 27 blocks an hour apart, sampled three
 * times, its price rising, with one holder. `firstBlock`: the number of the first block of a chain.
 */
export async function recordedVaults(
  firstBlock: (chain: number) => number = () => 1,
): Promise<Map<number, BlockEvents[]>> {
  const lines = gunzipSync(await readFile(join(RECORDINGS, 'vaults/vault_metadata.jsonl.gz')))
    .toString('utf8')
    .trim()
    .split('\n')
  const found = new Map<number, DomainEvent[][]>()
  for (const line of lines) {
    const { spec, row: known } = row.parse(JSON.parse(line))
    const chain = networkOfChain(spec.chain_id) ? spec.chain_id : ELSEWHERE
    const token = known._denomination_token ?? UNKNOWN_TOKEN
    const vault = spec.vault_address.toLowerCase()
    const decimals = known._share_token?.decimals ?? 18
    const assetDecimals = token.decimals ?? 18
    const totalAssets = digits(known.NAV, assetDecimals)
    const totalSupply = digits(known.Shares, decimals)
    const price =
      totalSupply > 0n ? (totalAssets * 10n ** BigInt(decimals)) / totalSupply : 10n ** BigInt(assetDecimals)
    const growth = BigInt(`0x${vault.slice(-4)}`) % 40n
    const [discovered, ...hours] = found.get(chain) ?? [[], ...Array.from({ length: 26 }, () => [])]
    found.set(chain, [discovered ?? [], ...hours])
    discovered?.push({
      type: 'VaultDiscovered',
      contract: vault,
      data: {
        vault,
        protocol: known.Protocol ?? 'erc-4626',
        name: known.Name ?? '',
        symbol: known._share_token?.symbol ?? '',
        decimals,
        asset: token.address.toLowerCase(),
        assetName: token.name ?? '',
        assetSymbol: token.symbol ?? '',
        assetDecimals,
      },
    })
    for (const i of [0, 24, 25]) {
      hours[i]?.push({
        type: 'StateSampled',
        contract: vault,
        data: {
          vault,
          reason: 'hourly',
          totalAssets,
          totalSupply,
          sharePrice: price + (price * growth * BigInt(i)) / 1_000_000n,
          decimals,
          assetDecimals,
        },
      })
    }
    hours[0]?.push({
      type: 'ShareTransferred',
      contract: vault,
      transactionHash: `0x${'1'.repeat(64)}`,
      logIndex: hours[0].length,
      data: { from: `0x${'0'.repeat(40)}`, to: `0x${vault.slice(2, 42)}`, shares: totalSupply },
    })
  }
  return new Map(
    [...found].map(([chain, parts]) => [
      chain,
      parts.map((events, i) => {
        const number = firstBlock(chain) + i
        return {
          block: {
            number,
            hash: `0x${number.toString(16).padStart(64, '0')}`,
            timestamp: NOW - (26 - i) * HOUR,
          },
          events,
        }
      }),
    ]),
  )
}

/** Assets that say in their symbol that they are dollars or ether have a price. */
export function pegsOf(vaults: Map<number, BlockEvents[]>) {
  const pegs = new Map<string, { usd: string }>()
  for (const [chain, [first]] of vaults) {
    for (const { data } of first?.events ?? []) {
      if (!('assetSymbol' in data)) continue
      const usd = /USD|DAI/i.test(data.assetSymbol) ? '1' : /ETH/i.test(data.assetSymbol) ? '3000' : undefined
      if (usd) pegs.set(`asset:${chain}:${data.asset}`, { usd })
    }
  }
  return [...pegs].map(([subject, value]) => ({ subject, kind: 'peg', value }))
}
