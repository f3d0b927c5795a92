import { VIRTUAL_DEPOSIT } from '../../abi/euler/math.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { ask } from '../moment/query.ts'
import { evkEvents } from '../protocols/euler-v2/queries.ts'
import type { LendingAsset, LendingMarket } from './market.ts'
import { lendingEvents } from './queries.ts'

/** What an account did with one asset of a market, oldest first. */
export function readEvents(
  market: LendingMarket,
  asset: LendingAsset,
  account: string,
  { deps, catalogue, signal }: EndpointContext,
) {
  const pinned = { chain: market.chainId, p: catalogue.chain(market.chainId)?.position ?? 0, account }
  if (market.protocol === 'euler-v2') {
    const of = {
      lender: market.root,
      vault: market.vaults[asset.id] ?? market.root,
      virtual: `${VIRTUAL_DEPOSIT}`,
    }
    return ask(deps.clickhouse, evkEvents, { ...pinned, ...of }, signal)
  }
  const of = { contract: market.root, market: asset.eventMarket, side: asset.side }
  return ask(deps.clickhouse, lendingEvents, { ...pinned, ...of }, signal)
}
