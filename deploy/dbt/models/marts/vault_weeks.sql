{{ config(order_by='(chain_id, vault, week)') }}

-- Grain: one row per vault and week with a sample. USD is NULL where a price was not known.
with states as (
  select chain_id, vault, toMonday(hour) as week,
         argMax(tuple(share_price), hour).1 as share_price,
         argMax(tuple(apy_7d), hour).1 as apy_7d,
         argMax(tuple(total_assets), hour).1 as total_assets
  from {{ source('vaultlog', 'share_prices') }}
  group by chain_id, vault, week
),
worth as (
  select chain_id, vault, toMonday(hour) as week, argMax(tuple(tvl_usd), hour).1 as tvl_usd
  from {{ source('vaultlog', 'tvl_usd') }}
  group by chain_id, vault, week
),
flows as (
  select chain_id, vault, toMonday(day) as week,
         sum(net_flow) as net_flow, sum(deposit_count) as deposits, sum(redemption_count) as redemptions
  from {{ source('vaultlog', 'daily_flows') }}
  group by chain_id, vault, week
)
select s.chain_id as chain_id, s.vault as vault, s.week as week, v.name as name, v.protocol as protocol, v.curator as curator,
       v.asset_symbol as asset_symbol, s.share_price as share_price, s.apy_7d as apy_7d, s.total_assets as total_assets,
       w.tvl_usd as tvl_usd, f.net_flow as net_flow, f.deposits as deposits, f.redemptions as redemptions
from states as s
inner join {{ source('vaultlog', 'vaults') }} as v on v.chain_id = s.chain_id and v.vault = s.vault
left join worth as w on w.chain_id = s.chain_id and w.vault = s.vault and w.week = s.week
left join flows as f on f.chain_id = s.chain_id and f.vault = s.vault and f.week = s.week
where v.standing != 'found'
