import type { ClickHouseClient } from '@clickhouse/client'
import { ask } from '../../moment/query.ts'
import * as queries from './queries.ts'

/** What the 256 accounts of a wallet have in common: their addresses differ in the last byte. */
const prefixOf = (account: string) => account.slice(0, 2 + 38)

/**
 * Accounts of a wallet besides the one of its own address that have enabled something in the connector or ever had shares of
 * these vaults, ascending. An address that is itself a sub-account, or never acted there, has none.
 * @see EthereumVaultConnector.sol, authenticateCaller
 */
export async function subAccountsOf(
  clickhouse: ClickHouseClient,
  { chain, p, wallet, vaults }: { chain: number; p: number; wallet: string; vaults: readonly string[] },
  signal?: AbortSignal,
): Promise<string[]> {
  const asked = { chain, p, wallet, prefix: prefixOf(wallet), vaults: [...vaults] }
  const rows = await ask(clickhouse, queries.evkSubAccounts, asked, signal)
  return rows.map(({ account }) => account)
}
