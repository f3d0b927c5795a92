import { VIRTUAL_DEPOSIT } from '../../../abi/euler/math.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingAsset } from '../../lending/market.ts'
import type { LendingEvent } from '../../lending/queries.ts'
import { ask } from '../../moment/query.ts'
import type { EvkLendingMarket } from './market.ts'
import { evkEvents } from './queries.ts'
import { subAccountsOf } from './sub-accounts.ts'

/** What a wallet did with a vault of a pair, by whichever of its accounts. */
export async function readEvkEvents(
  market: EvkLendingMarket,
  asset: LendingAsset,
  wallet: string,
  { deps, catalogue, signal }: Reading,
): Promise<LendingEvent[]> {
  const pinned = { chain: market.chainId, p: catalogue.chain(market.chainId, 'lending')?.position ?? 0 }
  const vault = market.vaults[asset.id] ?? market.root
  const of = { lender: market.root, vault, virtual: `${VIRTUAL_DEPOSIT}` }
  const subs = await subAccountsOf(deps.clickhouse, { ...pinned, wallets: [wallet] }, signal)
  return ask(deps.clickhouse, evkEvents, { ...pinned, ...of, accounts: [wallet, ...subs] }, signal)
}
