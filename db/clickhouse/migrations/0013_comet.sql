-- Compound v3. A Comet is one market; the configuration it answers, each time it was read (at first sight and when its
-- code changed). Rates are per second; rates, kinks and factors are fractions scaled by 1e18.
CREATE TABLE IF NOT EXISTS comet_market (
  chain_id UInt32 COMMENT 'chain, by its id',
  comet LowCardinality(String) COMMENT 'address of the market (a Comet), lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  base_asset String COMMENT 'address of the asset that is lent and borrowed, lower case',
  base_oracle String COMMENT 'address of the feed of its price, lower case',
  base_scale UInt256 COMMENT '10^decimals of the base asset',
  base_borrow_min UInt256 COMMENT 'base units: a smaller debt is refused',
  target_reserves UInt256 COMMENT 'base units: collateral is sold while reserves are below',
  store_front_price_factor_wad UInt256 COMMENT 'share of the liquidation penalty that buyers of collateral get',
  supply_kink_wad UInt256 COMMENT 'utilization at which the slope changes',
  supply_rate_base_wad UInt256 COMMENT 'per second, without utilization',
  supply_rate_slope_low_wad UInt256 COMMENT 'per second, below the kink',
  supply_rate_slope_high_wad UInt256 COMMENT 'per second, above the kink',
  borrow_kink_wad UInt256 COMMENT 'utilization at which the slope changes',
  borrow_rate_base_wad UInt256 COMMENT 'per second, without utilization',
  borrow_rate_slope_low_wad UInt256 COMMENT 'per second, below the kink',
  borrow_rate_slope_high_wad UInt256 COMMENT 'per second, above the kink'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, comet, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Compound v3. A Comet is one market; the configuration it answers, each time it was read (at first sight and when its code changed). Rates are per second; rates, kinks and factors are fractions scaled by 1e18. Ordered by (chain_id, comet, timestamp, position).';

-- The collateral assets of those configurations.
CREATE TABLE IF NOT EXISTS comet_asset (
  chain_id UInt32 COMMENT 'chain, by its id',
  comet LowCardinality(String) COMMENT 'address of the market (a Comet), lower case',
  asset String COMMENT 'address of the asset, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  offset UInt8 COMMENT 'place in the market''s list',
  oracle String COMMENT 'address of the feed or oracle of its price, lower case',
  scale UInt256 COMMENT '10^decimals of the asset',
  borrow_collateral_factor_wad UInt256 COMMENT 'of the value counts for borrowing',
  liquidate_collateral_factor_wad UInt256 COMMENT 'of the value counts before liquidation',
  liquidation_factor_wad UInt256 COMMENT 'of the value is paid when absorbed',
  supply_cap UInt256 COMMENT 'most that may be supplied, base units of the asset'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, comet, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'The collateral assets of those configurations. Ordered by (chain_id, comet, asset, timestamp, position).';

-- totalsBasic() at the ends of blocks with logs of the market, and hourly. Interest is accrued by the contract up to
-- updated_at; a principal times its index, divided by 1e15 and rounded down, is the amount.
CREATE TABLE IF NOT EXISTS comet_state (
  chain_id UInt32 COMMENT 'chain, by its id',
  comet LowCardinality(String) COMMENT 'address of the market (a Comet), lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  supply_index UInt256 COMMENT 'what a unit of supply principal is worth, scaled by 1e15' CODEC(ZSTD(1)),
  borrow_index UInt256 COMMENT 'what a unit of borrow principal is worth, scaled by 1e15' CODEC(ZSTD(1)),
  supply_principal UInt256 COMMENT 'lent by all, before interest: base units at an index of 1e15' CODEC(ZSTD(1)),
  borrow_principal UInt256 COMMENT 'owed by all, before interest: base units at an index of 1e15' CODEC(ZSTD(1)),
  updated_at UInt32 COMMENT 'unix seconds up to which interest is in the indexes',
  pause_flags UInt8 COMMENT 'bits from the lowest: supply, transfer, withdraw, absorb, buy',
  reserves Nullable(Int256) COMMENT 'reserves of the market, base units; NULL: not read' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, comet, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'totalsBasic() at the ends of blocks with logs of the market, and hourly. Interest is accrued by the contract up to updated_at; a principal times its index, divided by 1e15 and rounded down, is the amount. Ordered by (chain_id, comet, timestamp, position).';

-- The principal of an account at the ends of blocks with base logs of it: lent, or below zero owed, before interest.
CREATE TABLE IF NOT EXISTS comet_principal (
  chain_id UInt32 COMMENT 'chain, by its id',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  comet LowCardinality(String) COMMENT 'address of the market (a Comet), lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  principal Int256 COMMENT 'before interest, base units at an index of 1e15; below zero owed' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, comet, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'The principal of an account at the ends of blocks with base logs of it: lent, or below zero owed, before interest. A debt that passes from one account to another which owes as well, by a transfer of base, is told by no log: the principals of both are read again at the next log of theirs. Interest accrued by a call without a log (accrueAccount, claims of rewards) is seen at the next sample, hourly at the latest. Ordered by (chain_id, account, comet, timestamp, position).';

-- Collateral balances after each change.
CREATE TABLE IF NOT EXISTS comet_collateral (
  chain_id UInt32 COMMENT 'chain, by its id',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  comet LowCardinality(String) COMMENT 'address of the market (a Comet), lower case',
  asset LowCardinality(String) COMMENT 'address of the asset, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  delta Int256 COMMENT 'change by this event, base units, signed' CODEC(ZSTD(1)),
  balance Int256 COMMENT 'base units of the asset, after this change' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, comet, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Collateral balances after each change. Ordered by (chain_id, account, comet, asset, timestamp, position).';

-- Collateral of all accounts together; what was absorbed and not sold yet is not in it.
CREATE TABLE IF NOT EXISTS comet_collateral_total (
  chain_id UInt32 COMMENT 'chain, by its id',
  comet LowCardinality(String) COMMENT 'address of the market (a Comet), lower case',
  asset LowCardinality(String) COMMENT 'address of the asset, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  total Int256 COMMENT 'base units of the asset, after this change' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, comet, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Collateral of all accounts together; what was absorbed and not sold yet is not in it. Ordered by (chain_id, comet, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.comet_market_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS comet, timestamp, position, block_number,
  fields.baseAsset AS base_asset,
  fields.baseOracle AS base_oracle,
  toUInt256OrZero(fields.baseScale) AS base_scale,
  toUInt256OrZero(fields.baseBorrowMin) AS base_borrow_min,
  toUInt256OrZero(fields.targetReserves) AS target_reserves,
  toUInt256OrZero(fields.storeFrontPriceFactorWad) AS store_front_price_factor_wad,
  toUInt256OrZero(fields.supplyKinkWad) AS supply_kink_wad,
  toUInt256OrZero(fields.supplyRateBaseWad) AS supply_rate_base_wad,
  toUInt256OrZero(fields.supplyRateSlopeLowWad) AS supply_rate_slope_low_wad,
  toUInt256OrZero(fields.supplyRateSlopeHighWad) AS supply_rate_slope_high_wad,
  toUInt256OrZero(fields.borrowKinkWad) AS borrow_kink_wad,
  toUInt256OrZero(fields.borrowRateBaseWad) AS borrow_rate_base_wad,
  toUInt256OrZero(fields.borrowRateSlopeLowWad) AS borrow_rate_slope_low_wad,
  toUInt256OrZero(fields.borrowRateSlopeHighWad) AS borrow_rate_slope_high_wad
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(baseAsset String, baseOracle String, baseScale String, baseBorrowMin String, targetReserves String, storeFrontPriceFactorWad String, supplyKinkWad String, supplyRateBaseWad String, supplyRateSlopeLowWad String, supplyRateSlopeHighWad String, borrowKinkWad String, borrowRateBaseWad String, borrowRateSlopeLowWad String, borrowRateSlopeHighWad String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3' AND type = 'CometConfigured'
);

CREATE VIEW IF NOT EXISTS internal.comet_asset_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS comet, fields.asset AS asset, timestamp, position, block_number,
  fields.offset AS offset,
  fields.oracle AS oracle,
  toUInt256OrZero(fields.scale) AS scale,
  toUInt256OrZero(fields.borrowCollateralFactorWad) AS borrow_collateral_factor_wad,
  toUInt256OrZero(fields.liquidateCollateralFactorWad) AS liquidate_collateral_factor_wad,
  toUInt256OrZero(fields.liquidationFactorWad) AS liquidation_factor_wad,
  toUInt256OrZero(fields.supplyCap) AS supply_cap
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(asset String, offset UInt8, oracle String, scale String, borrowCollateralFactorWad String, liquidateCollateralFactorWad String, liquidationFactorWad String, supplyCap String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3' AND type = 'CometAssetConfigured'
);

CREATE VIEW IF NOT EXISTS internal.comet_state_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS comet, timestamp, position, block_number,
  toUInt256OrZero(fields.supplyIndex) AS supply_index,
  toUInt256OrZero(fields.borrowIndex) AS borrow_index,
  toUInt256OrZero(fields.supplyPrincipal) AS supply_principal,
  toUInt256OrZero(fields.borrowPrincipal) AS borrow_principal,
  fields.updatedAt AS updated_at,
  fields.pauseFlags AS pause_flags,
  toInt256OrNull(fields.reserves) AS reserves
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(supplyIndex String, borrowIndex String, supplyPrincipal String, borrowPrincipal String, updatedAt UInt32, pauseFlags UInt8, reserves Nullable(String))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3' AND type = 'CometStateSampled'
);

CREATE VIEW IF NOT EXISTS internal.comet_principal_rows AS
SELECT toUInt32(stream) AS chain_id, JSONExtractString(data, 'account') AS account, contract AS comet, timestamp, position,
  block_number, toInt256OrZero(JSONExtractString(data, 'principal')) AS principal
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3' AND type = 'PrincipalSampled';

-- What a log changed of collateral balances; of the other protocols' logs none names a market that is the contract itself.
CREATE VIEW IF NOT EXISTS internal.comet_movement AS
SELECT contract AS comet, fields.asset AS asset, moved.1 AS account, moved.2 AS delta, timestamp, position, block_number
FROM (
  SELECT contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(market String, onBehalf String, from String, to String, borrower String, asset String, assets String)') AS fields,
    toInt256OrZero(fields.assets) AS assets
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'compound-v3'
    AND type IN ('CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed')
)
ARRAY JOIN multiIf(
  type = 'CollateralSupplied', [(fields.onBehalf, assets)],
  type = 'CollateralWithdrawn', [(fields.onBehalf, -assets)],
  type = 'CollateralAbsorbed', [(fields.borrower, -assets)],
  [(fields.from, -assets), (fields.to, assets)]) AS moved
WHERE fields.asset != '' AND fields.market = contract AND delta != 0;

CREATE VIEW IF NOT EXISTS internal.comet_collateral_rows AS
WITH
  moved AS (
    SELECT account, comet, asset, timestamp, position, block_number, sum(delta) AS change
    FROM internal.comet_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY account, comet, asset, timestamp, position, block_number
  ),
  head AS (
    SELECT account, comet, asset, argMax(balance, position) AS had FROM comet_collateral
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (account, comet, asset) IN (SELECT account, comet, asset FROM moved)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY account, comet, asset
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.account AS account, m.comet AS comet, m.asset AS asset, m.timestamp AS timestamp,
  m.position AS position, m.block_number AS block_number, m.change AS delta,
  h.had + sum(m.change) OVER (PARTITION BY m.account, m.comet, m.asset ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM moved AS m LEFT JOIN head AS h ON m.account = h.account AND m.comet = h.comet AND m.asset = h.asset;

CREATE VIEW IF NOT EXISTS internal.comet_collateral_total_rows AS
WITH
  moved AS (
    SELECT comet, asset, timestamp, position, block_number, sum(delta) AS change
    FROM internal.comet_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY comet, asset, timestamp, position, block_number
    HAVING change != 0
  ),
  head AS (
    SELECT comet, asset, argMax(total, position) AS had FROM comet_collateral_total
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (comet, asset) IN (SELECT comet, asset FROM moved)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY comet, asset
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.comet AS comet, m.asset AS asset, m.timestamp AS timestamp,
  m.position AS position, m.block_number AS block_number,
  h.had + sum(m.change) OVER (PARTITION BY m.comet, m.asset ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total
FROM moved AS m LEFT JOIN head AS h ON m.comet = h.comet AND m.asset = h.asset;

-- Whether the principals known of a Comet's accounts add up to the totals it says. A few units of difference are
-- rounding: where it takes a unit of a lender (a supply or transfer of nothing), the Comet leaves its total as it was. More is an
-- account whose principal changed without a log and without a debt; debts are read again every hour.
CREATE VIEW IF NOT EXISTS comet_drift AS
SELECT chain_id, comet, toInt256(totals.1) - lent AS supply_drift, toInt256(totals.2) - owed AS borrow_drift
FROM (
  SELECT chain_id, comet, argMax((supply_principal, borrow_principal), position) AS totals
  FROM comet_state WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
  GROUP BY chain_id, comet
) AS s
INNER JOIN (
  SELECT chain_id, comet, sum(if(principal > 0, principal, toInt256(0))) AS lent, sum(if(principal < 0, -principal, toInt256(0))) AS owed
  FROM (
    SELECT chain_id, account, comet, argMax(principal, position) AS principal
    FROM comet_principal WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
    GROUP BY chain_id, account, comet
  )
  GROUP BY chain_id, comet
) AS p ON s.chain_id = p.chain_id AND s.comet = p.comet
COMMENT 'Whether the principals known of a Comet''s accounts add up to the totals it says. A few units of difference are rounding: where it takes a unit of a lender (a supply or transfer of nothing), the Comet leaves its total as it was. More is an account whose principal changed without a log and without a debt; debts are read again every hour. A Comet whose history is not stored from its beginning shows what its earlier accounts have.';
ALTER TABLE comet_drift
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN comet 'address of the market (a Comet), lower case',
  COMMENT COLUMN supply_drift 'total less the sum over accounts, before interest',
  COMMENT COLUMN borrow_drift 'total less the sum over accounts, before interest';
