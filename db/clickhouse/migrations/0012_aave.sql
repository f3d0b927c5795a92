-- Aave v3. Reserves as listed; the configurator says it, so which pool they are of is told by aave_token.
CREATE TABLE IF NOT EXISTS aave_reserve (
  chain_id UInt32 COMMENT 'chain, by its id',
  configurator LowCardinality(String) COMMENT 'address of the PoolConfigurator, lower case',
  asset String COMMENT 'address of the underlying token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  a_token String COMMENT 'address of the aToken, lower case',
  variable_debt_token String COMMENT 'address of the variable debt token, lower case'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, configurator, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Aave v3. Reserves as listed; the configurator says it, so which pool they are of is told by aave_token. Ordered by (chain_id, configurator, asset, timestamp, position).';

CREATE TABLE IF NOT EXISTS aave_token (
  chain_id UInt32 COMMENT 'chain, by its id',
  a_token String COMMENT 'address of the aToken, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  asset String COMMENT 'address of the underlying token, lower case',
  decimals UInt8 COMMENT 'decimals of the asset and of its tokens',
  symbol String COMMENT 'symbol of the aToken, as it says itself'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, a_token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Aave v3. Tokens of reserves and the pools that they are of, one row per initialized aToken. Ordered by (chain_id, a_token, timestamp, position).';

-- Rates per year and indexes, in ray, after each update of a reserve.
CREATE TABLE IF NOT EXISTS aave_index (
  chain_id UInt32 COMMENT 'chain, by its id',
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  asset LowCardinality(String) COMMENT 'address of the underlying token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  liquidity_rate UInt256 COMMENT 'rate of lenders per year, ray (1e27 = 1)' CODEC(ZSTD(1)),
  variable_borrow_rate UInt256 COMMENT 'rate of borrowers per year, ray (1e27 = 1)' CODEC(ZSTD(1)),
  liquidity_index UInt256 COMMENT 'what a scaled unit of an aToken is worth, ray' CODEC(ZSTD(1)),
  variable_borrow_index UInt256 COMMENT 'what a scaled unit of variable debt is worth, ray' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, pool, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Rates per year and indexes, in ray, after each update of a reserve. Ordered by (chain_id, pool, asset, timestamp, position).';

-- What a user chose in a pool: which reserves serve as collateral (market: the asset), which eMode (market: '').
CREATE TABLE IF NOT EXISTS aave_choice (
  chain_id UInt32 COMMENT 'chain, by its id',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  market LowCardinality(String) COMMENT 'address of the asset that serves as collateral or not; empty: the eMode',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  value UInt8 COMMENT 'collateral: 1 or 0; eMode: the category'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, pool, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What a user chose in a pool: which reserves serve as collateral (market: the asset), which eMode (market: ''''). Ordered by (chain_id, account, pool, market, timestamp, position).';

-- Scaled balances of aTokens and variable debt tokens, after each change.
CREATE TABLE IF NOT EXISTS aave_balance (
  chain_id UInt32 COMMENT 'chain, by its id',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  token LowCardinality(String) COMMENT 'address of the aToken or debt token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  delta Int256 COMMENT 'scaled units, signed' CODEC(ZSTD(1)),
  scaled Int256 COMMENT 'scaled units, after this change' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Scaled balances of aTokens and variable debt tokens, after each change: those of the tokens'' scaledBalanceOf, whichever way their version of the code rounds (`aave_revision`). Of pools of v3.5 and later (revision 9) that takes a node that knows the state of the block; where it does not, the block is among the dead letters and each change in it may be a unit off. Ordered by (chain_id, account, token, timestamp, position).';

-- Scaled total supply of the same tokens.
CREATE TABLE IF NOT EXISTS aave_total (
  chain_id UInt32 COMMENT 'chain, by its id',
  token LowCardinality(String) COMMENT 'address of the aToken or debt token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  scaled Int256 COMMENT 'scaled units, after this change' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Scaled total supply of the same tokens. Ordered by (chain_id, token, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.aave_reserve_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS configurator, JSONExtractString(data, 'asset') AS asset, timestamp, position,
  block_number, JSONExtractString(data, 'aToken') AS a_token, JSONExtractString(data, 'variableDebtToken') AS variable_debt_token
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'ReserveListed';

CREATE VIEW IF NOT EXISTS internal.aave_token_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS a_token, timestamp, position, block_number,
  JSONExtractString(data, 'pool') AS pool, JSONExtractString(data, 'market') AS asset,
  toUInt8(JSONExtractUInt(data, 'decimals')) AS decimals, JSONExtractString(data, 'symbol') AS symbol
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'ReserveTokenInitialized';

CREATE VIEW IF NOT EXISTS internal.aave_index_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS pool, fields.market AS asset, timestamp, position, block_number,
  toUInt256OrZero(fields.liquidityRateRay) AS liquidity_rate, toUInt256OrZero(fields.variableBorrowRateRay) AS variable_borrow_rate,
  toUInt256OrZero(fields.liquidityIndexRay) AS liquidity_index, toUInt256OrZero(fields.variableBorrowIndexRay) AS variable_borrow_index
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, liquidityRateRay String, variableBorrowRateRay String, liquidityIndexRay String, variableBorrowIndexRay String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'RateUpdated'
)
WHERE fields.liquidityIndexRay != '';

CREATE VIEW IF NOT EXISTS internal.aave_choice_rows AS
SELECT toUInt32(stream) AS chain_id, JSONExtractString(data, 'user') AS account, contract AS pool,
  JSONExtractString(data, 'market') AS market, timestamp, position, block_number,
  toUInt8(multiIf(type = 'CollateralEnabled', 1, type = 'CollateralDisabled', 0, JSONExtractUInt(data, 'category'))) AS value
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3'
  AND type IN ('CollateralEnabled', 'CollateralDisabled', 'EModeChanged');

-- What a log of a scaled token changed, in scaled units. From v3.5 on its event says it; before, it follows by the rounding
-- of ScaledBalanceTokenBase.sol (rayDiv, half up): the amount of a mint is its value less the interest that the same log
-- reports, and where that is less than nothing the log is of a burn smaller than the interest (the contract then reports
-- a mint).
CREATE VIEW IF NOT EXISTS internal.aave_movement AS
SELECT contract AS token, account, timestamp, position, block_number, movement AS delta
FROM (
  SELECT contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(onBehalf String, from String, to String, value String, balanceIncrease String, indexRay String, scaledValue String, scaledChange Nullable(String))') AS fields,
    toInt256OrZero(fields.value) AS value,
    toInt256OrZero(fields.balanceIncrease) AS increase,
    toInt256OrZero(fields.indexRay) AS index_ray,
    if(type = 'ScaledMinted', value - increase, value + increase) AS amount,
    intDiv(abs(amount) * toInt256('1000000000000000000000000000') + intDiv(index_ray, 2), greatest(index_ray, toInt256(1))) AS size,
    coalesce(toInt256OrNull(fields.scaledChange), toInt256(if(type = 'ScaledMinted' AND amount >= 0, size, -size))) AS minted,
    toInt256OrZero(fields.scaledValue) AS moved
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3'
    AND type IN ('ScaledMinted', 'ScaledBurned', 'ScaledTransferred') AND JSONExtractString(data, 'side') != 'stableDebt'
)
ARRAY JOIN
  multiIf(type = 'ScaledMinted', [fields.onBehalf], type = 'ScaledBurned', [fields.from], [fields.from, fields.to]) AS account,
  if(type = 'ScaledTransferred', [-moved, moved], [minted]) AS movement
WHERE movement != 0 AND NOT (type = 'ScaledTransferred' AND fields.from = fields.to);

CREATE VIEW IF NOT EXISTS internal.aave_balance_rows AS
WITH
  moved AS (SELECT * FROM internal.aave_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT account, token, argMax(scaled, position) AS had FROM aave_balance
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND (account, token) IN (SELECT account, token FROM moved)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY account, token
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.account AS account, m.token AS token, m.timestamp AS timestamp,
  m.position AS position, m.block_number AS block_number, m.delta AS delta,
  h.had + sum(m.delta) OVER (PARTITION BY m.account, m.token ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS scaled
FROM moved AS m LEFT JOIN head AS h ON m.account = h.account AND m.token = h.token;

CREATE VIEW IF NOT EXISTS internal.aave_total_rows AS
WITH
  moved AS (
    SELECT token, timestamp, position, block_number, sum(delta) AS change
    FROM internal.aave_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    GROUP BY token, timestamp, position, block_number
    HAVING change != 0
  ),
  head AS (
    SELECT token, scaled AS had FROM aave_total
    WHERE chain_id = toUInt32({stream:Int32}) AND position IN (
      SELECT max(position) FROM aave_total
      WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND token IN (SELECT token FROM moved)
        AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
      GROUP BY token)
    LIMIT 1 BY token
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.token AS token, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number,
  h.had + sum(m.change) OVER (PARTITION BY m.token ORDER BY m.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS scaled
FROM moved AS m LEFT JOIN head AS h ON m.token = h.token;

-- Versions of the code of Aave pools by their tokens: as first seen, and after each upgrade of a token. From 9 (v3.5) on
-- balances and scaled amounts are rounded in favour of the pool.
CREATE TABLE IF NOT EXISTS aave_revision (
  chain_id UInt32 COMMENT 'chain, by its id',
  token LowCardinality(String) COMMENT 'address of the aToken or debt token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  revision UInt32 COMMENT 'POOL_REVISION of the pool'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, token, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Versions of the code of Aave pools, by their tokens: as first seen, and after each upgrade of a token. From 9 (v3.5) on what is supplied is worth scaled × index rounded down and what is owed rounded up; before, both half up. Ordered by (chain_id, token, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.aave_revision_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS token, timestamp, position, block_number,
  JSONExtractString(data, 'pool') AS pool, toUInt32(JSONExtractUInt(data, 'revision')) AS revision
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'PoolRevisionSampled';

-- What reserves of Aave could pay out at the ends of blocks in which they changed.
CREATE TABLE IF NOT EXISTS aave_liquidity (
  chain_id UInt32 COMMENT 'chain, by its id',
  pool LowCardinality(String) COMMENT 'address of the Pool, lower case',
  asset LowCardinality(String) COMMENT 'address of the reserve''s asset, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  available UInt256 COMMENT 'asset base units' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, pool, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What reserves of Aave could pay out, to lenders or borrowers, at the ends of blocks in which they changed: what the pool keeps of what came and went (v3.1 and later), before that what the aToken held. Not totals of supply less debt: interest that the treasury is yet to be given, deficits and rounding lie between. Ordered by (chain_id, pool, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.aave_liquidity_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS pool, JSONExtractString(data, 'market') AS asset, timestamp, position,
  block_number, toUInt256OrZero(JSONExtractString(data, 'available')) AS available
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'aave-v3' AND type = 'ReserveLiquiditySampled';

-- A token that was listed again keeps one row.
CREATE VIEW IF NOT EXISTS aave_tokens AS
SELECT DISTINCT chain_id, part.1 AS token, part.2 AS owed, pool, asset
FROM (
  SELECT chain_id, a_token, pool, asset FROM aave_token WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS listed
INNER JOIN (
  SELECT chain_id, a_token, variable_debt_token FROM aave_reserve WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS reserves ON listed.chain_id = reserves.chain_id AND listed.a_token = reserves.a_token
ARRAY JOIN [(listed.a_token, 0), (reserves.variable_debt_token, 1)] AS part
COMMENT 'Grain: one row per aToken and variable debt token of Aave v3.';
ALTER TABLE aave_tokens
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN token 'address of the token, lower case',
  COMMENT COLUMN owed '1: it counts what is owed; 0: what is lent',
  COMMENT COLUMN pool 'address of the pool, lower case',
  COMMENT COLUMN asset 'address of the asset of the reserve, lower case';
