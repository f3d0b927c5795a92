import { VIRTUAL_DEPOSIT } from '../../abi/euler/math.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { evkEvents } from '../protocols/euler-v2/queries.ts'
import { subAccountsOf } from '../protocols/euler-v2/sub-accounts.ts'
import type { LendingAsset, LendingMarket } from './market.ts'
import { lendingEvents } from './queries.ts'

/** What a wallet did with one asset of a market, by whichever of its accounts, oldest first. */
export async function readEvents(
  market: LendingMarket,
  asset: LendingAsset,
  wallet: string,
  { deps, catalogue, signal }: EndpointContext,
) {
  const pinned = { chain: market.chainId, p: catalogue.chain(market.chainId, 'lending')?.position ?? 0 }
  if (market.protocol === 'euler-v2') {
    const vault = market.vaults[asset.id] ?? market.root
    const of = { lender: market.root, vault, virtual: `${VIRTUAL_DEPOSIT}` }
    const subs = await subAccountsOf(deps.clickhouse, { ...pinned, wallet, vaults: [vault] }, signal)
    const accounts = [wallet, ...subs]
    return ask(deps.clickhouse, evkEvents, { ...pinned, ...of, accounts }, signal)
  }
  const of = { contract: market.root, market: asset.eventMarket, side: asset.side, account: wallet }
  const rows = await ask(deps.clickhouse, lendingEvents, { ...pinned, ...of }, signal)
  return rows.map(row => ({ ...row, account: wallet }))
}
