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
