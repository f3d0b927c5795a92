import { stringify } from 'yaml'
import { commentsOf, type Described } from './readme-text.ts'

/** Columns that name a row of each view; `balances_at` and its like, which take parameters, are no relations to dbt. */
export const KEYS: Record<string, string[]> = {
  vaults: ['chain_id', 'vault'],
  known_vaults: ['chain_id', 'vault'],
  vault_states: ['chain_id', 'vault'],
  vault_standings: ['chain_id', 'vault'],
  assets: ['chain_id', 'asset'],
  share_prices: ['chain_id', 'vault', 'hour'],
  daily_flows: ['chain_id', 'vault', 'day'],
  daily_flows_usd: ['chain_id', 'vault', 'day'],
  attributed_flows: ['code', 'chain_id', 'tx_hash', 'log_index', 'kind'],
  attributed_daily_flows: ['code', 'chain_id', 'vault', 'day'],
  asset_price_sources: ['chain_id', 'asset'],
  tvl_usd: ['chain_id', 'vault', 'hour'],
  benchmarks: ['chain_id', 'code', 'day'],
  account_flows: ['chain_id', 'tx_hash', 'log_index', 'kind'],
  account_returns: ['chain_id', 'vault', 'account'],
  transfers_in_transit: ['chain_id', 'tx_hash', 'log_index'],
  fixed_term_markets: ['chain_id', 'market'],
  fixed_term_standings: ['chain_id', 'market'],
  fixed_term_hourly: ['chain_id', 'market', 'hour'],
  fixed_term_figures: ['chain_id', 'market', 'position'],
  pt_holders: ['chain_id', 'pt', 'holder'],
  amm_vaults: ['chain_id', 'vault'],
  amm_standings: ['chain_id', 'vault'],
  amm_hourly: ['chain_id', 'vault', 'hour'],
  amm_figures: ['chain_id', 'vault', 'position'],
  amm_holders: ['chain_id', 'vault', 'holder'],
  ignored_contracts: ['chain_id', 'contract'],
  facts: ['subject', 'kind'],
  address_facts: ['subject', 'kind'],
  lending_rates: ['chain_id', 'contract', 'market', 'position'],
  evk_rates: ['chain_id', 'contract', 'position'],
  lending_markets: ['chain_id', 'contract', 'market'],
  lending_market_hourly: ['chain_id', 'contract', 'market', 'hour'],
  liquidations: ['chain_id', 'tx_hash', 'contract', 'account', 'log_index'],
  aave_tokens: ['chain_id', 'token'],
}

/** `a`, `b` or `c`: a column whose comment begins like that, or with each explained, takes no other values. */
export function acceptedValues(comment: string): string[] {
  if (/^(`\w+`: [^;]+; )+`\w+`: /.test(comment))
    return [...comment.matchAll(/(?:^|; )`(\w+)`: /g)].map(([, value = '']) => value)
  const list = /^((?:`\w+`, )*`\w+` or `\w+`)/.exec(comment)?.[1] ?? ''
  return [...list.matchAll(/`(\w+)`/g)].map(([, value = '']) => value)
}

/** The catalogue that a column of a view refers to; undefined: none. */
export function catalogueOf(view: string, column: string): string | undefined {
  const [catalogue, key] = view.startsWith('amm_')
    ? ['amm_vaults', 'vault']
    : view.startsWith('fixed_term_')
      ? ['fixed_term_markets', 'market']
      : ['vaults', 'vault']
  return column === key && view !== catalogue ? catalogue : undefined
}

const accepted = (values: string[]) => ({ accepted_values: { arguments: { values } } })
const relationship = (to: string, field: string) => ({
  relationships: { arguments: { to: `source('vaultlog', '${to}')`, field } },
})

/** The tables and views of the read models as dbt's sources; descriptions and tests follow from their comments. */
export function dbtSources(tables: readonly Described[], withParameters: readonly string[]): string {
  const described = tables
    .filter(({ name }) => !withParameters.includes(name))
    .map(table => {
      const { text, columns } = commentsOf(table)
      const key = KEYS[table.name]
      return {
        name: table.name,
        description: text.replaceAll('\n', ' '),
        ...(key && { data_tests: [{ unique_together: { arguments: { columns: key } } }] }),
        columns: columns.map(({ name, type, comment }) => {
          const values = key ? acceptedValues(comment) : []
          const catalogue = key && catalogueOf(table.name, name)
          const tests = [
            ...(values.length > 0 ? [accepted(values)] : []),
            ...(catalogue ? [relationship(catalogue, name)] : []),
          ]
          return {
            name,
            data_type: type,
            description: comment,
            ...(tests.length > 0 && { data_tests: tests }),
          }
        }),
      }
    })
  const source = {
    name: 'vaultlog',
    description: `Read models of Vaultlog. Views that take parameters are no relations to dbt: ${withParameters.join(', ')}.`,
    schema: "{{ env_var('VAULTLOG_DATABASE', 'vaultlog') }}",
    tables: described,
  }
  return stringify({ version: 2, sources: [source] }, { lineWidth: 120 })
}
