-- Fixed-term markets: a yield-bearing token is wrapped (SY) and split until an expiry into principal (PT) and yield (YT); a market
-- pools PT and SY. Which tokens each pools, and until when; none of it changes.
CREATE TABLE IF NOT EXISTS fixed_term_market (
  chain_id UInt32 COMMENT 'chain, by its id',
  market LowCardinality(String) COMMENT 'address of the market, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  protocol LowCardinality(String) COMMENT 'slug of the protocol',
  pt String COMMENT 'address of the principal token, lower case',
  sy String COMMENT 'address of the wrapped yield-bearing token, lower case',
  yt String COMMENT 'address of the yield token, lower case',
  expiry UInt32 COMMENT 'end of the term, unix seconds'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Fixed-term markets: which tokens each pools and until when; none of it changes. A yield-bearing token is wrapped (SY) and split until the expiry into principal (PT, worth one asset then) and yield (YT). Ordered by (chain_id, market, timestamp, position).';

-- What the tokens of a market say of themselves. The asset is the word of the SY, which may be anybody's.
CREATE TABLE IF NOT EXISTS fixed_term_description (
  chain_id UInt32 COMMENT 'chain, by its id',
  market LowCardinality(String) COMMENT 'address of the market, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  name String COMMENT 'name of the PT, as it says itself',
  symbol String COMMENT 'symbol of the PT, as it says itself',
  decimals UInt8 COMMENT 'decimals of PT and YT',
  sy_decimals Nullable(UInt8) COMMENT 'decimals of the SY; NULL: it does not say',
  yield_token String COMMENT 'address of what the SY wraps, lower case; empty: it does not say',
  asset String COMMENT 'address of what a PT is worth one of at the expiry, lower case; empty: the SY does not say',
  asset_decimals Nullable(UInt8) COMMENT 'decimals of the asset, as the SY says; NULL: it does not say',
  is_liquidity UInt8 COMMENT '1: the asset is no token that can be had but what a position in liquidity is worth'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What the tokens of a fixed-term market say of themselves. The asset is the word of the SY, which may be anybodys contract. Ordered by (chain_id, market, timestamp, position).';

-- A market and its tokens at the ends of blocks with trades, and hourly until a week after the expiry.
CREATE TABLE IF NOT EXISTS fixed_term_state (
  chain_id UInt32 COMMENT 'chain, by its id',
  market LowCardinality(String) COMMENT 'address of the market, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  total_pt UInt256 COMMENT 'PT in the pool, base units' CODEC(ZSTD(1)),
  total_sy UInt256 COMMENT 'SY in the pool, base units' CODEC(ZSTD(1)),
  total_lp UInt256 COMMENT 'shares of the pool, base units' CODEC(ZSTD(1)),
  ln_rate_wad UInt256 COMMENT 'implied rate of the last trade: continuous, per year, scaled by 1e18; 0 before the first liquidity' CODEC(ZSTD(1)),
  pt_supply Nullable(UInt256) COMMENT 'all PT, base units; NULL: not read' CODEC(ZSTD(1)),
  exchange_rate Nullable(UInt256) COMMENT 'asset base units for an SY base unit, scaled by 1e18; NULL: the SY did not answer, or nonsense' CODEC(ZSTD(1)),
  py_index Nullable(UInt256) COMMENT 'the highest exchange rate that the YT has seen, scaled by 1e18; NULL: none yet' CODEC(ZSTD(1)),
  oracle_rate_wad Nullable(UInt256) COMMENT 'what the protocol''s own oracle said a PT is worth in the asset, scaled by 1e18; NULL: not read' CODEC(ZSTD(1)),  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'A fixed-term market and its tokens at the ends of blocks with trades, and hourly until a week after the expiry. Amounts are base units: PT counts in the decimals of fixed_term_description, SY in sy_decimals. Ordered by (chain_id, market, timestamp, position).';

-- Implied rates as markets told them, before the expiry: every trade and change of liquidity tells one.
CREATE TABLE IF NOT EXISTS fixed_term_rate (
  chain_id UInt32 COMMENT 'chain, by its id',
  market LowCardinality(String) COMMENT 'address of the market, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  ln_rate_wad UInt256 COMMENT 'continuous, per year, scaled by 1e18: the implied APY is e^(this / 1e18) - 1' CODEC(ZSTD(1)),
  told_at UInt32 COMMENT 'time that the market told with it, unix seconds; 4294967295: later than that'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Implied rates as fixed-term markets told them: one row per trade or change of liquidity. A change of liquidity after the expiry tells the old rate once more: leave out rows whose told_at is not before the expiry. Ordered by (chain_id, market, timestamp, position).';

-- What each trade and change of liquidity moved, and what is in the pool after it by the logs alone.
CREATE TABLE IF NOT EXISTS fixed_term_trade (
  chain_id UInt32 COMMENT 'chain, by its id',
  market LowCardinality(String) COMMENT 'address of the market, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block',
  kind LowCardinality(String) COMMENT 'swap, add or remove',
  receiver String COMMENT 'who got what left the pool, or the shares of it, lower case' CODEC(ZSTD(1)),
  pt_out Int256 COMMENT 'PT that left the pool, base units; below zero: came into it' CODEC(ZSTD(1)),
  sy_out Int256 COMMENT 'SY that left the pool, base units, with what went to the protocol; below zero: came into it' CODEC(ZSTD(1)),
  sy_fee UInt256 COMMENT 'fee of a swap, SY base units; part of it stays in the pool' CODEC(ZSTD(1)),
  lp Int256 COMMENT 'shares of the pool that came to be, base units; below zero: were given back' CODEC(ZSTD(1)),
  total_pt Int256 COMMENT 'PT in the pool after it, base units; as far as the market''s history is stored' CODEC(ZSTD(1)),
  total_sy Int256 COMMENT 'SY in the pool after it, base units; as far as the market''s history is stored' CODEC(ZSTD(1)),  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What each trade and change of liquidity of a fixed-term market moved, and what is in the pool after it, by the logs alone. Whose trade it was is told by the PT that moved: the caller is mostly the router. Ordered by (chain_id, market, timestamp, position).';

-- Who holds how many PT: one row per change, with the balance after it.
CREATE TABLE IF NOT EXISTS pt_balance (
  chain_id UInt32 COMMENT 'chain, by its id',
  pt LowCardinality(String) COMMENT 'address of the principal token, lower case',
  holder String COMMENT 'address of the holder, lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  delta Int256 COMMENT 'change by this event, base units, signed' CODEC(ZSTD(1)),
  balance Int256 COMMENT 'base units after this change' CODEC(ZSTD(1)),  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, pt, holder, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Who holds how many principal tokens: one row per change of a holders balance. What lies in a markets pool is held by the market. Ordered by (chain_id, pt, holder, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.fixed_term_market_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS market, timestamp, position, block_number, protocol,
  fields.pt AS pt, fields.sy AS sy, fields.yt AS yt, fields.expiry AS expiry
FROM (
  SELECT stream, contract, timestamp, position, block_number, protocol,
    JSONExtract(data, 'Tuple(pt String, sy String, yt String, expiry UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'FixedTermTokensNamed'
);

CREATE VIEW IF NOT EXISTS internal.fixed_term_description_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS market, timestamp, position, block_number, fields.name AS name,
  fields.symbol AS symbol, fields.decimals AS decimals, fields.syDecimals AS sy_decimals, fields.yieldToken AS yield_token,
  fields.asset AS asset, fields.assetDecimals AS asset_decimals, toUInt8(fields.isLiquidity) AS is_liquidity
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(name String, symbol String, decimals UInt8, syDecimals Nullable(UInt8), yieldToken String, asset String, assetDecimals Nullable(UInt8), isLiquidity Bool)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'FixedTermMarketDescribed'
);

CREATE VIEW IF NOT EXISTS internal.fixed_term_state_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS market, timestamp, position, block_number,
  toUInt256OrZero(fields.totalPt) AS total_pt, toUInt256OrZero(fields.totalSy) AS total_sy, toUInt256OrZero(fields.totalLp) AS total_lp,
  toUInt256OrZero(fields.lnRateWad) AS ln_rate_wad, toUInt256OrNull(fields.ptSupply) AS pt_supply,
  toUInt256OrNull(fields.exchangeRate) AS exchange_rate, toUInt256OrNull(fields.pyIndex) AS py_index,
  toUInt256OrNull(fields.oracleRateWad) AS oracle_rate_wad
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(totalPt String, totalSy String, totalLp String, lnRateWad String, ptSupply Nullable(String), exchangeRate Nullable(String), pyIndex Nullable(String), oracleRateWad Nullable(String))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'FixedTermStateSampled'
);

CREATE VIEW IF NOT EXISTS internal.fixed_term_rate_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS market, timestamp, position, block_number,
  toUInt256OrZero(JSONExtractString(data, 'lnRateWad')) AS ln_rate_wad,
  toUInt32(least(JSONExtractUInt(data, 'at'), 4294967295)) AS told_at
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'ImpliedRateUpdated';

-- What a log moved in a pool.
CREATE VIEW IF NOT EXISTS internal.fixed_term_movement AS
SELECT contract AS market, timestamp, position, block_number, tx_hash, log_index,
  multiIf(type = 'PrincipalSwapped', 'swap', type = 'PoolLiquidityAdded', 'add', 'remove') AS kind,
  if(type = 'PoolLiquidityRemoved', fields.receiverSy, fields.receiver) AS receiver,
  multiIf(type = 'PrincipalSwapped', toInt256OrZero(fields.ptOut), type = 'PoolLiquidityAdded', -toInt256OrZero(fields.pt), toInt256OrZero(fields.pt)) AS pt_out,
  multiIf(type = 'PrincipalSwapped', toInt256OrZero(fields.syOut) + toInt256OrZero(fields.syToReserve),
    type = 'PoolLiquidityAdded', -toInt256OrZero(fields.sy), toInt256OrZero(fields.sy)) AS sy_out,
  toUInt256OrZero(fields.syFee) AS sy_fee,
  if(type = 'PoolLiquidityRemoved', -toInt256OrZero(fields.lp), toInt256OrZero(fields.lp)) AS lp
FROM (
  SELECT contract, timestamp, position, block_number, tx_hash, log_index, type,
    JSONExtract(data, 'Tuple(receiver String, receiverSy String, ptOut String, syOut String, syFee String, syToReserve String, pt String, sy String, lp String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('PrincipalSwapped', 'PoolLiquidityAdded', 'PoolLiquidityRemoved')
);

CREATE VIEW IF NOT EXISTS internal.fixed_term_trade_rows AS
WITH
  moved AS (SELECT * FROM internal.fixed_term_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT market, argMax(total_pt, position) AS had_pt, argMax(total_sy, position) AS had_sy FROM fixed_term_trade
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND market IN (SELECT market FROM moved)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY market
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.market AS market, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number, m.tx_hash AS tx_hash, m.log_index AS log_index, m.kind AS kind, m.receiver AS receiver,
  m.pt_out AS pt_out, m.sy_out AS sy_out, m.sy_fee AS sy_fee, m.lp AS lp,
  h.had_pt - sum(m.pt_out) OVER (PARTITION BY m.market ORDER BY m.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total_pt,
  h.had_sy - sum(m.sy_out) OVER (PARTITION BY m.market ORDER BY m.position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS total_sy
FROM moved AS m LEFT JOIN head AS h ON m.market = h.market;

-- PT that moved, once for each holder; what nobody holds (the zero address) left out, and what was sent to oneself.
CREATE VIEW IF NOT EXISTS internal.pt_movement AS
SELECT contract AS pt, moved.1 AS holder, moved.2 AS delta, timestamp, position, block_number
FROM (
  SELECT contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(`from` String, `to` String, amount String)') AS fields, toInt256OrZero(fields.amount) AS amount
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'PrincipalTransferred'
)
ARRAY JOIN [(fields.from, -amount), (fields.to, amount)] AS moved
WHERE fields.from != fields.to AND amount != 0 AND holder != '0x0000000000000000000000000000000000000000';

CREATE VIEW IF NOT EXISTS internal.pt_balance_rows AS
WITH
  moved AS (SELECT * FROM internal.pt_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT pt, holder, argMax(balance, position) AS had FROM pt_balance
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND (pt, holder) IN (SELECT pt, holder FROM moved)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY pt, holder
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.pt AS pt, m.holder AS holder, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number, m.delta AS delta,
  h.had + sum(m.delta) OVER (PARTITION BY m.pt, m.holder ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM moved AS m LEFT JOIN head AS h ON m.pt = h.pt AND m.holder = h.holder;

-- What every state of a fixed-term market is worth, in whole units of its asset.
CREATE VIEW IF NOT EXISTS fixed_term_figures AS
SELECT s.chain_id AS chain_id, s.market AS market, s.timestamp AS timestamp, s.block_number AS block_number,
  if(s.total_lp = 0, NULL, exp(toFloat64(s.ln_rate_wad) / 1e18) - 1) AS implied_apy,
  if(s.timestamp >= m.expires_at, 1., exp(-toFloat64(s.ln_rate_wad) / 1e18 * dateDiff('second', s.timestamp, m.expires_at) / 31536000))
    * least(1., ifNull(toFloat64(s.exchange_rate) / toFloat64(s.py_index), 1.)) AS pt_price,
  toFloat64(s.exchange_rate) / 1e18 AS rate,
  (toFloat64(s.total_sy) * rate + toFloat64(s.total_pt) * pt_price) / pow(10., d.decimals) AS liquidity,
  liquidity + (toFloat64(s.pt_supply) - toFloat64(s.total_pt)) * pt_price / pow(10., d.decimals) AS tvl,
  toFloat64(s.oracle_rate_wad) / 1e18 AS oracle_pt_price, s.total_pt AS total_pt_raw, s.total_sy AS total_sy_raw, s.pt_supply AS pt_supply_raw,
  s.exchange_rate AS exchange_rate_raw, s.position AS position
FROM fixed_term_state AS s
INNER JOIN (
  SELECT chain_id, market, toDateTime(argMax(expiry, position), 'UTC') AS expires_at
  FROM fixed_term_market WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS m ON s.chain_id = m.chain_id AND s.market = m.market
INNER JOIN (
  SELECT chain_id, market, argMax(decimals, position) AS decimals
  FROM fixed_term_description WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS d ON s.chain_id = d.chain_id AND s.market = d.market
WHERE (s.chain_id, s.position) NOT IN (SELECT chain_id, position FROM retracted_row)
COMMENT 'Grain: one row per state of a fixed-term market (`fixed_term_state`), with what follows from it in whole units of the asset. What the SY says of its rate is its own word: see `standing` in `fixed_term_markets`.';
ALTER TABLE fixed_term_figures
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN implied_apy 'APY of holding a PT bought at the last trade''s rate until the expiry, a fraction (0.05 is 5 %); NULL: nothing was ever in the pool',
  COMMENT COLUMN pt_price 'what a PT is worth in the asset at that rate; 1 from the expiry on, less where the SY lost value',
  COMMENT COLUMN rate 'assets for an SY, base units for base units; NULL: the SY did not say',
  COMMENT COLUMN liquidity 'PT and SY in the pool, whole units of the asset; NULL: the rate is not known',
  COMMENT COLUMN tvl 'liquidity and the PT outside of the pool, whole units of the asset; NULL: not known',
  COMMENT COLUMN oracle_pt_price 'what the protocol''s own oracle said of pt_price; NULL: not read',
  COMMENT COLUMN total_pt_raw 'PT in the pool, base units',
  COMMENT COLUMN total_sy_raw 'SY in the pool, base units',
  COMMENT COLUMN pt_supply_raw 'all PT, base units; NULL: not read',
  COMMENT COLUMN exchange_rate_raw 'asset base units for an SY base unit, scaled by 1e18; NULL: the SY did not answer, or nonsense',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

-- The first state of each hour: a row never changes.
CREATE VIEW IF NOT EXISTS fixed_term_hourly AS
SELECT chain_id, market, toStartOfHour(timestamp) AS hour, timestamp, implied_apy, pt_price, liquidity, tvl, total_pt_raw, total_sy_raw,
  pt_supply_raw, exchange_rate_raw
FROM fixed_term_figures
ORDER BY chain_id, market, position
LIMIT 1 BY chain_id, market, toStartOfHour(timestamp)
COMMENT 'Grain: one row per fixed-term market and hour, its first state: implied APY, liquidity and TVL.';
ALTER TABLE fixed_term_hourly
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN timestamp 'time of the state''s block, UTC',
  COMMENT COLUMN implied_apy 'APY of holding a PT bought at the last trade''s rate until the expiry, a fraction (0.05 is 5 %); NULL: nothing was ever in the pool',
  COMMENT COLUMN pt_price 'what a PT is worth in the asset at that rate; 1 from the expiry on, less where the SY lost value',
  COMMENT COLUMN liquidity 'PT and SY in the pool, whole units of the asset; NULL: the rate is not known',
  COMMENT COLUMN tvl 'liquidity and the PT outside of the pool, whole units of the asset; NULL: not known',
  COMMENT COLUMN total_pt_raw 'PT in the pool, base units',
  COMMENT COLUMN total_sy_raw 'SY in the pool, base units',
  COMMENT COLUMN pt_supply_raw 'all PT, base units; NULL: not read',
  COMMENT COLUMN exchange_rate_raw 'asset base units for an SY base unit, scaled by 1e18; NULL: the SY did not answer, or nonsense';

CREATE VIEW IF NOT EXISTS fixed_term_standings AS
SELECT chain_id, market, multiIf(
  (chain_id, market) IN (
    SELECT chain_id, address FROM address_facts
    WHERE subject LIKE 'market:%' AND kind = 'listed'), 'listed',
  (chain_id, sy) IN (
    SELECT chain_id, address FROM address_facts
    WHERE kind = 'wrapper' AND startsWith(subject, 'contract:')), 'made',
  'found') AS standing
FROM (
  SELECT chain_id, market, argMax(sy, position) AS sy FROM fixed_term_market
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
)
COMMENT 'Grain: one row per fixed-term market, and who vouches for it.';
ALTER TABLE fixed_term_standings
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN standing '`listed`: the registry lists the market; `made`: its factory made it, and the registry takes its SY at its word; `found`: anybody may have made the SY, whose word the figures are';

-- Fixed-term markets as they are known, with their newest state.
CREATE VIEW IF NOT EXISTS fixed_term_markets AS
SELECT m.chain_id AS chain_id, m.market AS market, m.of.1 AS protocol, d.of.1 AS name, d.of.2 AS symbol, m.of.2 AS pt, m.of.3 AS sy, m.of.4 AS yt,
  d.of.3 AS asset, a.symbol AS asset_symbol, toDateTime(m.of.5, 'UTC') AS expires_at, k.standing AS standing,
  s.of.1 AS sampled_at, s.of.2 AS implied_apy, s.of.3 AS pt_price, s.of.4 AS liquidity, s.of.5 AS tvl
FROM (
  SELECT chain_id, market, argMax((protocol, pt, sy, yt, expiry), position) AS of FROM fixed_term_market
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS m
ANY LEFT JOIN (
  SELECT chain_id, market, argMax((name, symbol, asset), position) AS of FROM fixed_term_description
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS d ON m.chain_id = d.chain_id AND m.market = d.market
ANY LEFT JOIN assets AS a ON m.chain_id = a.chain_id AND d.of.3 = a.asset
ANY LEFT JOIN fixed_term_standings AS k ON m.chain_id = k.chain_id AND m.market = k.market
ANY LEFT JOIN (
  SELECT chain_id, market, argMax((toNullable(timestamp), implied_apy, toNullable(pt_price), liquidity, tvl), position) AS of
  FROM fixed_term_figures GROUP BY chain_id, market
) AS s ON m.chain_id = s.chain_id AND m.market = s.market
COMMENT 'Grain: one row per fixed-term market: catalogue and newest state, which may be an hour old, or older after the expiry.';
ALTER TABLE fixed_term_markets
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN name 'name of the PT, as it says itself',
  COMMENT COLUMN symbol 'symbol of the PT, as it says itself',
  COMMENT COLUMN pt 'address of the principal token, lower case',
  COMMENT COLUMN sy 'address of the wrapped yield-bearing token, lower case',
  COMMENT COLUMN yt 'address of the yield token, lower case',
  COMMENT COLUMN asset 'address of what a PT is worth one of at the expiry, lower case; empty: the SY does not say',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN expires_at 'end of the term, UTC',
  COMMENT COLUMN standing '`listed`, `made` or `found`: see `fixed_term_standings`',
  COMMENT COLUMN sampled_at 'time of the newest state, UTC; NULL: none was read',
  COMMENT COLUMN implied_apy 'APY of the last trade, a fraction; NULL: nothing was ever in the pool',
  COMMENT COLUMN pt_price 'what a PT was worth in the asset then; NULL: not known',
  COMMENT COLUMN liquidity 'PT and SY in the pool, whole units of the asset; NULL: not known',
  COMMENT COLUMN tvl 'liquidity and the PT outside of the pool, whole units of the asset; NULL: not known';

-- Who holds a PT now.
CREATE VIEW IF NOT EXISTS pt_holders AS
SELECT b.chain_id AS chain_id, b.pt AS pt, b.holder AS holder, b.of.1 AS balance_raw,
  if(d.symbol = '', NULL, toFloat64(b.of.1) / pow(10., d.decimals)) AS balance, b.of.2 AS since
FROM (
  SELECT chain_id, pt, holder, argMax((balance, timestamp), position) AS of FROM pt_balance
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, pt, holder
) AS b
ANY LEFT JOIN (
  SELECT m.chain_id AS chain_id, m.pt AS pt, argMax(x.symbol, x.position) AS symbol, argMax(x.decimals, x.position) AS decimals
  FROM fixed_term_market AS m INNER JOIN fixed_term_description AS x ON m.chain_id = x.chain_id AND m.market = x.market
  WHERE (m.chain_id, m.position) NOT IN (SELECT chain_id, position FROM retracted_row)
    AND (x.chain_id, x.position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, pt
) AS d ON b.chain_id = d.chain_id AND b.pt = d.pt
WHERE b.of.1 != 0
COMMENT 'Grain: one row per principal token and holder with a balance. A market holds what lies in its pool.';
ALTER TABLE pt_holders
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN pt 'address of the principal token, lower case',
  COMMENT COLUMN holder 'address of the holder, lower case',
  COMMENT COLUMN balance_raw 'base units of the PT',
  COMMENT COLUMN balance 'whole PT; NULL: its decimals are not known',
  COMMENT COLUMN since 'time of the last change, UTC';
