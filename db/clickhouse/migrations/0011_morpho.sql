-- Morpho Blue. A market is its bytes32 id. All amounts are as the contract stores them, interest being accrued only by its
-- own events.
CREATE TABLE IF NOT EXISTS morpho_market (
  chain_id UInt32 COMMENT 'chain, by its id',
  morpho LowCardinality(String) COMMENT 'address of the Morpho contract, lower case',
  market String COMMENT 'market id, bytes32',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  loan_asset String COMMENT 'address of the asset that is lent, lower case',
  collateral_asset Nullable(String) COMMENT 'address of the asset that secures; NULL: none',
  oracle Nullable(String) COMMENT 'address of the price oracle; NULL: none',
  irm Nullable(String) COMMENT 'address of the rate model; NULL: the market bears no interest',
  lltv_wad UInt256 COMMENT 'liquidation loan-to-value, 1e18 = 1'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Morpho Blue. A market is its bytes32 id, which no other protocol''s events have for a market: ids of 66 characters are what these views look at. All amounts are as the contract stores them, interest being accrued only by its own events. Ordered by (chain_id, market, timestamp, position).';

-- Who is given the fee of interest, from the event on; before the first it is the zero address.
CREATE TABLE IF NOT EXISTS morpho_fee_recipient (
  chain_id UInt32 COMMENT 'chain, by its id',
  morpho LowCardinality(String) COMMENT 'address of the Morpho contract, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  account String COMMENT 'address that is given the fee, lower case'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, morpho, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Who is given the fee of interest, from the event on; before the first it is the zero address. Ordered by (chain_id, morpho, timestamp, position).';

-- A market's totals after each event that changes them: the struct Market of Morpho.sol, and the rate of the last accrual.
CREATE TABLE IF NOT EXISTS morpho_state (
  chain_id UInt32 COMMENT 'chain, by its id',
  morpho LowCardinality(String) COMMENT 'address of the Morpho contract, lower case',
  market String COMMENT 'market id, bytes32',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  supply_assets Int256 COMMENT 'lent by all, base units of the loan asset' CODEC(ZSTD(1)),
  supply_shares Int256 COMMENT 'supply shares, base units' CODEC(ZSTD(1)),
  borrow_assets Int256 COMMENT 'owed by all, base units of the loan asset' CODEC(ZSTD(1)),
  borrow_shares Int256 COMMENT 'borrow shares, base units' CODEC(ZSTD(1)),
  collateral Int256 COMMENT 'collateral of all positions, base units of the collateral asset; the contract does not keep this sum' CODEC(ZSTD(1)),
  last_update UInt32 COMMENT 'unix seconds up to which interest is in the totals',
  fee_wad UInt256 COMMENT 'share of the interest, 1e18 = 1',
  borrow_rate_wad Nullable(UInt256) COMMENT 'rate of borrowers per second, scaled by 1e18, of the last accrual; NULL before the first',
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'A market''s totals after each event that changes them: the struct Market of Morpho.sol, and the rate of the last accrual. Ordered by (chain_id, market, timestamp, position).';

-- A position after each event that changes it: the struct Position of Morpho.sol.
CREATE TABLE IF NOT EXISTS morpho_position (
  chain_id UInt32 COMMENT 'chain, by its id',
  morpho LowCardinality(String) COMMENT 'address of the Morpho contract, lower case',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  market String COMMENT 'market id, bytes32' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  supply_shares Int256 COMMENT 'supply shares, base units' CODEC(ZSTD(1)),
  borrow_shares Int256 COMMENT 'borrow shares, base units' CODEC(ZSTD(1)),
  collateral Int256 COMMENT 'collateral of the account, base units of the collateral asset' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'A position after each event that changes it: the struct Position of Morpho.sol. Ordered by (chain_id, account, market, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.morpho_market_rows AS
SELECT
  toUInt32(stream) AS chain_id, contract AS morpho, fields.market AS market, timestamp, position, block_number,
  fields.loanAsset AS loan_asset, fields.collateralAsset AS collateral_asset, fields.oracle AS oracle, fields.irm AS irm,
  toUInt256OrZero(fields.lltvWad) AS lltv_wad
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, loanAsset String, collateralAsset Nullable(String), oracle Nullable(String), irm Nullable(String), lltvWad String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue' AND type = 'MarketCreated'
);

CREATE VIEW IF NOT EXISTS internal.morpho_fee_recipient_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS morpho, timestamp, position, block_number,
  JSONExtractString(data, 'owner') AS account
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue'
  AND type = 'OwnerChanged' AND JSONExtractString(data, 'role') = 'feeRecipient';

-- What each event of Morpho markets adds to totals and to the one position it changes; `account` is empty where it
-- changes none. A liquidation takes what was repaid and what was given up as bad debt.
CREATE VIEW IF NOT EXISTS internal.morpho_change AS
SELECT
  contract AS morpho, fields.market AS market, timestamp, position, block_number, type,
  toInt256OrZero(fields.assets) AS assets,
  toInt256OrZero(fields.shares) AS shares,
  toInt256OrZero(fields.interest) AS interest,
  toInt256OrZero(fields.feeShares) AS fee_shares,
  toInt256OrZero(fields.badDebtAssets) AS bad_assets,
  toInt256OrZero(fields.repaidAssets) + bad_assets AS gone_assets,
  toInt256OrZero(fields.repaidShares) + toInt256OrZero(fields.badDebtShares) AS gone_shares,
  toInt256OrZero(fields.seizedAssets) AS seized,
  multiIf(type = 'Liquidated', fields.borrower, type = 'InterestAccrued', '', fields.onBehalf) AS account,
  multiIf(type = 'Supplied', assets, type = 'Withdrawn', -assets, type = 'Liquidated', -bad_assets, interest) AS supply_assets,
  multiIf(type = 'Supplied', shares, type = 'Withdrawn', -shares, fee_shares) AS supply_shares,
  multiIf(type = 'Borrowed', assets, type = 'Repaid', -assets, type = 'Liquidated', -gone_assets, interest) AS borrow_assets,
  multiIf(type = 'Borrowed', shares, type = 'Repaid', -shares, type = 'Liquidated', -gone_shares, toInt256(0)) AS borrow_shares,
  multiIf(type = 'CollateralSupplied', assets, type = 'CollateralWithdrawn', -assets, -seized) AS collateral,
  if(type = 'FeeChanged', toUInt256OrNull(fields.feeWad), NULL) AS fee_wad,
  toUInt256OrNull(fields.previousBorrowRateWad) AS borrow_rate_wad
FROM (
  SELECT contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(market String, onBehalf String, borrower String, assets String, shares String, interest String,
      feeShares String, previousBorrowRateWad String, feeWad String, repaidAssets String, repaidShares String,
      seizedAssets String, badDebtAssets String, badDebtShares String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue'
    AND type IN ('MarketCreated', 'Supplied', 'Withdrawn', 'CollateralSupplied', 'CollateralWithdrawn', 'Borrowed', 'Repaid',
      'Liquidated', 'InterestAccrued', 'FeeChanged')
);

-- borrow_assets: a repayment may be one unit more than what is owed, and the contract then stops at zero. A running sum
-- that never falls below zero is the plain one less the lowest negative value it has had.
CREATE VIEW IF NOT EXISTS internal.morpho_state_rows AS
WITH
  changes AS (SELECT * FROM internal.morpho_change(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT * FROM morpho_state
    WHERE chain_id = toUInt32({stream:Int32}) AND position IN (
      SELECT max(position) FROM morpho_state
      WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND market IN (SELECT market FROM changes)
        AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
      GROUP BY market)
    LIMIT 1 BY market
  ),
  sums AS (
    SELECT
      c.morpho AS morpho, c.market AS market, c.timestamp AS timestamp, c.position AS position, c.block_number AS block_number,
      h.supply_assets + sum(c.supply_assets) OVER w AS supply_assets,
      h.supply_shares + sum(c.supply_shares) OVER w AS supply_shares,
      h.borrow_assets + sum(c.borrow_assets) OVER w AS borrow_assets,
      h.borrow_shares + sum(c.borrow_shares) OVER w AS borrow_shares,
      h.collateral + sum(c.collateral) OVER w AS collateral,
      -- Every act but a supply of collateral brings interest up to date.
      greatest(h.last_update, max(if(c.type = 'CollateralSupplied', 0, toUnixTimestamp(c.timestamp))) OVER w) AS last_update,
      coalesce(anyLast(c.fee_wad) OVER w, h.fee_wad) AS fee_wad,
      coalesce(anyLast(c.borrow_rate_wad) OVER w, h.borrow_rate_wad) AS borrow_rate_wad
    FROM changes AS c LEFT JOIN head AS h ON c.market = h.market
    WINDOW w AS (PARTITION BY c.market ORDER BY c.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id, morpho, market, timestamp, position, block_number, supply_assets, supply_shares,
  borrow_assets - least(toInt256(0), min(borrow_assets)
    OVER (PARTITION BY market ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)) AS borrow_assets,
  borrow_shares, collateral, toUInt32(last_update) AS last_update, assumeNotNull(fee_wad) AS fee_wad, borrow_rate_wad
FROM sums;

CREATE VIEW IF NOT EXISTS internal.morpho_position_rows AS
WITH
  changes AS (
    SELECT c.morpho AS morpho, c.market AS market, c.timestamp AS timestamp, c.position AS position, c.block_number AS block_number,
      multiIf(c.type != 'InterestAccrued', c.account, r.account = '', '0x0000000000000000000000000000000000000000', r.account) AS account,
      c.supply_shares AS supply_shares, c.borrow_shares AS borrow_shares, c.collateral AS collateral
    FROM (
      SELECT * FROM internal.morpho_change(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
      WHERE account != '' OR fee_shares > 0
    ) AS c
    ASOF LEFT JOIN (
      SELECT morpho, position, account FROM morpho_fee_recipient
      WHERE chain_id = toUInt32({stream:Int32})
        AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    ) AS r ON c.morpho = r.morpho AND c.position >= r.position
  ),
  head AS (
    SELECT account, market,
      argMax((supply_shares, borrow_shares, collateral), position) AS had
    FROM morpho_position
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (account, market) IN (SELECT account, market FROM changes)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY account, market
  )
SELECT
  toUInt32({stream:Int32}) AS chain_id, c.morpho AS morpho, c.account AS account, c.market AS market,
  c.timestamp AS timestamp, c.position AS position, c.block_number AS block_number,
  h.had.1 + sum(c.supply_shares) OVER w AS supply_shares,
  h.had.2 + sum(c.borrow_shares) OVER w AS borrow_shares,
  h.had.3 + sum(c.collateral) OVER w AS collateral
FROM changes AS c LEFT JOIN head AS h ON c.account = h.account AND c.market = h.market
WINDOW w AS (PARTITION BY c.account, c.market ORDER BY c.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);

-- Morpho's adaptive rate model (AdaptiveCurveIrm): its own log at each accrual of a market.
CREATE TABLE IF NOT EXISTS morpho_rate (
  chain_id UInt32 COMMENT 'chain, by its id',
  irm LowCardinality(String) COMMENT 'address of the rate model, lower case',
  market String COMMENT 'market id, bytes32',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  average_rate_wad UInt256 COMMENT 'rate of borrowers per second, scaled by 1e18, of the period that ended' CODEC(ZSTD(1)),
  rate_at_target_wad UInt256 COMMENT 'rate of borrowers per second at a utilization of 90 %, scaled by 1e18' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Morpho''s adaptive rate model (AdaptiveCurveIrm): its own log at each accrual of a market. Ordered by (chain_id, market, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.morpho_rate_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS irm, fields.market AS market, timestamp, position, block_number,
  toUInt256OrZero(fields.averageRateWad) AS average_rate_wad, toUInt256OrZero(fields.rateAtTargetWad) AS rate_at_target_wad
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, averageRateWad String, rateAtTargetWad String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue' AND type = 'RateAtTargetChanged'
);

-- What the rate model of a Morpho market answered at the ends of blocks with events of it, where its model is not the
-- adaptive one, whose logs are morpho_rate.
CREATE TABLE IF NOT EXISTS morpho_sampled_rate (
  chain_id UInt32 COMMENT 'chain, by its id',
  market String COMMENT 'market id, bytes32',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  rate_wad UInt256 COMMENT 'rate of borrowers per second, scaled by 1e18, from the row on' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What the rate model of a Morpho market answered at the ends of blocks with events of it and hourly, where its model is not the adaptive one. Ordered by (chain_id, market, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.morpho_sampled_rate_rows AS
SELECT toUInt32(stream) AS chain_id, fields.market AS market, timestamp, position, block_number,
  toUInt256OrZero(fields.rateWad) AS rate_wad
FROM (
  SELECT stream, timestamp, position, block_number, JSONExtract(data, 'Tuple(market String, rateWad String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue' AND type = 'BorrowRateSampled'
);
