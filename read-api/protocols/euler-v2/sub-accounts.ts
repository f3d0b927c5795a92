import type { ClickHouseClient } from '@clickhouse/client'
import { ask } from '../../moment/query.ts'
import * as queries from './queries.ts'

/**
 * Accounts of wallets besides those of their own addresses that ever enabled something in the connector, or had shares of any
 * vault, ascending. An address that is itself a sub-account, or never acted there, has none.
 * @see EthereumVaultConnector.sol, authenticateCaller
 */
export async function subAccountsOf(
  clickhouse: ClickHouseClient,
  { chain, p, wallets }: { chain: number; p: number; wallets: readonly string[] },
  signal?: AbortSignal,
): Promise<string[]> {
  const rows = await ask(clickhouse, queries.evkSubAccounts, { chain, p, wallets: [...wallets] }, signal)
  return rows.map(({ account }) => account)
}
