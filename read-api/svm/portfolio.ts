import type { Key } from '../../abi/svm/programs.ts'
import { toBase58 } from '../../db/base58.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { pinnedTo, svmVaultsOf } from './book.ts'
import { svmBalances, svmEvents } from './queries.ts'
import type { SvmVault } from './vault.ts'

/** Vaults that a wallet holds shares of, by address. */
export async function svmPositions(
  user: Key,
  context: EndpointContext,
): Promise<{ vault: SvmVault; shares: bigint }[]> {
  const vaults = await svmVaultsOf(context)
  if (vaults.length === 0) return []
  const rows = await ask(
    context.deps.clickhouse,
    svmBalances,
    { ...pinnedTo(context), account: user },
    context.signal,
  )
  const held = new Map(rows.map(({ mint, shares }) => [mint, BigInt(shares)]))
  return vaults.flatMap(vault => {
    const shares = held.get(vault.share.mint)
    return shares === undefined ? [] : [{ vault, shares }]
  })
}

/** What a wallet deposited and withdrew, oldest first: in one vault, or in all that are served. */
export async function svmEventsOf(user: Key, context: EndpointContext, vault?: SvmVault) {
  const served = vault ? [vault] : await svmVaultsOf(context)
  const addresses = new Set<string>(served.map(({ address }) => address))
  const rows =
    addresses.size === 0
      ? []
      : await ask(
          context.deps.clickhouse,
          svmEvents,
          { ...pinnedTo(context), account: user, vault: vault?.address ?? '' },
          context.signal,
        )
  const data = rows
    .filter(row => addresses.has(row.vault))
    .map(row => ({
      timestamp: row.at,
      slot: row.slot,
      eventType: row.kind,
      vaultAddress: toBase58(row.vault),
      assetAmountNative: row.assets ?? '',
      lpTokenAmount: row.shares,
      signature: toBase58(row.tx_hash),
      instructionIndex: row.instruction_index,
    }))
  return { data, items: data.length }
}
