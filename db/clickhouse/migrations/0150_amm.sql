-- Vaults of concentrated liquidity: of two tokens, in at most two positions of one pool, with shares of their own.
CREATE TABLE IF NOT EXISTS amm_vault (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  protocol LowCardinality(String) COMMENT 'slug of the protocol',
  factory LowCardinality(String) COMMENT 'address of the factory that made it, lower case',
  creator String COMMENT 'address of who had it made, lower case: anybody may' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Vaults of concentrated liquidity: of two tokens, in at most two positions of one pool, with shares of their own. Which factory made each, and for whom. Ordered by (chain_id, vault, timestamp, position).';

-- What a vault is of; none of it changes.
CREATE TABLE IF NOT EXISTS amm_description (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  name String COMMENT 'name of the vault, as it says itself',
  symbol String COMMENT 'symbol of its shares, as it says itself',
  decimals UInt8 COMMENT 'decimals of its shares, which say nothing of what a share is worth',
  pool String COMMENT 'address of the pool of concentrated liquidity, lower case',
  token0 String COMMENT 'address of the first token of the pool, lower case',
  token1 String COMMENT 'address of the second, lower case',
  takes_token0 UInt8 COMMENT '1: token0 can be deposited',
  takes_token1 UInt8 COMMENT '1: token1 can be deposited'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What a vault of concentrated liquidity is of: its pool, the two tokens, and which of them it takes; none of it changes. Ordered by (chain_id, vault, timestamp, position).';

-- A vault and its pool at the ends of blocks in which something happened in the vault, and hourly.
CREATE TABLE IF NOT EXISTS amm_state (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  total0 UInt256 COMMENT 'token0 that the vault has, at the price of that moment, base units; fees since its positions were touched last are not in it' CODEC(ZSTD(1)),
  total1 UInt256 COMMENT 'token1, likewise, base units' CODEC(ZSTD(1)),
  supply UInt256 COMMENT 'all shares, base units' CODEC(ZSTD(1)),
  sqrt_price_x96 UInt256 COMMENT 'price of that moment: the root of token1 base units per token0 base unit, times 2^96. A single trade moves it' CODEC(ZSTD(1)),
  twap_period Nullable(UInt32) COMMENT 'seconds over which the vault looks back itself; NULL: it does not say',
  mean_tick Nullable(Int32) COMMENT 'mean over that time: 1.0001 to its power is token1 base units per token0 base unit; NULL: the pool''s oracle does not reach so far back',
  base_liquidity Nullable(UInt256) COMMENT 'liquidity of the base position; NULL: what is in the positions was not answered' CODEC(ZSTD(1)),
  base_lower Nullable(Int32) COMMENT 'lower tick of the base position',
  base_upper Nullable(Int32) COMMENT 'upper tick of the base position',
  limit_liquidity Nullable(UInt256) COMMENT 'liquidity of the limit position' CODEC(ZSTD(1)),
  limit_lower Nullable(Int32) COMMENT 'lower tick of the limit position',
  limit_upper Nullable(Int32) COMMENT 'upper tick of the limit position',  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'A vault of concentrated liquidity and its pool at the ends of blocks in which something happened in the vault, and hourly. Amounts are base units of the tokens of `amm_description`. Ordered by (chain_id, vault, timestamp, position).';

-- What each deposit, withdrawal, rebalance and collection of fees moved.
CREATE TABLE IF NOT EXISTS amm_flow (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block',
  kind LowCardinality(String) COMMENT 'deposit, withdraw, rebalance or fees',
  account String COMMENT 'who got the shares, or the tokens, lower case; empty for a rebalance' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'shares that came to be or were given back, base units; all there are, for a rebalance' CODEC(ZSTD(1)),
  amount0 UInt256 COMMENT 'token0 deposited or withdrawn, base units; all that the vault had, for a rebalance' CODEC(ZSTD(1)),
  amount1 UInt256 COMMENT 'token1, likewise, base units' CODEC(ZSTD(1)),
  fee0 UInt256 COMMENT 'fees of the positions that were collected, token0 base units, the protocol''s part among them' CODEC(ZSTD(1)),
  fee1 UInt256 COMMENT 'likewise, token1 base units' CODEC(ZSTD(1)),  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What each deposit, withdrawal, rebalance and collection of fees of a vault of concentrated liquidity moved. Whose a position is follows from `amm_share`: through a guard shares go by way of it. Ordered by (chain_id, vault, timestamp, position).';

-- Who holds how many shares: one row per change, with the balance after it.
CREATE TABLE IF NOT EXISTS amm_share (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  holder String COMMENT 'address of the holder, lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  delta Int256 COMMENT 'change by this event, base units, signed' CODEC(ZSTD(1)),
  balance Int256 COMMENT 'base units after this change' CODEC(ZSTD(1)),  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, holder, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Who holds how many shares of vaults of concentrated liquidity: one row per change of the balance of a holder. Ordered by (chain_id, vault, holder, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.amm_vault_rows AS
SELECT toUInt32(stream) AS chain_id, fields.vault AS vault, timestamp, position, block_number, protocol, contract AS factory, fields.creator AS creator
FROM (
  SELECT stream, contract, timestamp, position, block_number, protocol, JSONExtract(data, 'Tuple(vault String, creator String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AmmVaultCreated'
);

CREATE VIEW IF NOT EXISTS internal.amm_description_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number, fields.name AS name, fields.symbol AS symbol,
  fields.decimals AS decimals, fields.pool AS pool, fields.token0 AS token0, fields.token1 AS token1,
  toUInt8(fields.takesToken0) AS takes_token0, toUInt8(fields.takesToken1) AS takes_token1
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(name String, symbol String, decimals UInt8, pool String, token0 String, token1 String, takesToken0 Bool, takesToken1 Bool)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AmmVaultDescribed'
);

CREATE VIEW IF NOT EXISTS internal.amm_state_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  toUInt256OrZero(fields.total0) AS total0, toUInt256OrZero(fields.total1) AS total1, toUInt256OrZero(fields.supply) AS supply,
  toUInt256OrZero(fields.sqrtPriceX96) AS sqrt_price_x96, fields.twapPeriod AS twap_period, fields.meanTick AS mean_tick,
  toUInt256OrNull(fields.baseLiquidity) AS base_liquidity, fields.baseLower AS base_lower, fields.baseUpper AS base_upper,
  toUInt256OrNull(fields.limitLiquidity) AS limit_liquidity, fields.limitLower AS limit_lower, fields.limitUpper AS limit_upper
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(total0 String, total1 String, supply String, sqrtPriceX96 String, twapPeriod Nullable(UInt32), meanTick Nullable(Int32), baseLiquidity Nullable(String), baseLower Nullable(Int32), baseUpper Nullable(Int32), limitLiquidity Nullable(String), limitLower Nullable(Int32), limitUpper Nullable(Int32))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AmmVaultSampled'
);

CREATE VIEW IF NOT EXISTS internal.amm_flow_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number, tx_hash, log_index,
  multiIf(type = 'AmmDeposited', 'deposit', type = 'AmmWithdrawn', 'withdraw', type = 'AmmRebalanced', 'rebalance', 'fees') AS kind,
  if(type = 'AmmFeesCollected', fields.sender, fields.to) AS account,
  toUInt256OrZero(if(type = 'AmmRebalanced', fields.supply, fields.shares)) AS shares,
  toUInt256OrZero(if(type = 'AmmRebalanced', fields.total0, fields.amount0)) AS amount0,
  toUInt256OrZero(if(type = 'AmmRebalanced', fields.total1, fields.amount1)) AS amount1,
  toUInt256OrZero(fields.fee0) AS fee0, toUInt256OrZero(fields.fee1) AS fee1
FROM (
  SELECT stream, contract, timestamp, position, block_number, tx_hash, log_index, type,
    JSONExtract(data, 'Tuple(sender String, `to` String, shares String, amount0 String, amount1 String, supply String, total0 String, total1 String, fee0 String, fee1 String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('AmmDeposited', 'AmmWithdrawn', 'AmmRebalanced', 'AmmFeesCollected')
);

-- Shares that moved, once for each holder; what nobody holds (the zero address) left out, and what was sent to oneself.
CREATE VIEW IF NOT EXISTS internal.amm_share_movement AS
SELECT contract AS vault, moved.1 AS holder, moved.2 AS delta, timestamp, position, block_number
FROM (
  SELECT contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(`from` String, `to` String, shares String)') AS fields, toInt256OrZero(fields.shares) AS amount
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AmmShareTransferred'
)
ARRAY JOIN [(fields.from, -amount), (fields.to, amount)] AS moved
WHERE fields.from != fields.to AND amount != 0 AND holder != '0x0000000000000000000000000000000000000000';

CREATE VIEW IF NOT EXISTS internal.amm_share_rows AS
WITH
  moved AS (SELECT * FROM internal.amm_share_movement(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})),
  head AS (
    SELECT vault, holder, argMax(balance, position) AS had FROM amm_share
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64} AND (vault, holder) IN (SELECT vault, holder FROM moved)
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY vault, holder
  )
SELECT toUInt32({stream:Int32}) AS chain_id, m.vault AS vault, m.holder AS holder, m.timestamp AS timestamp, m.position AS position,
  m.block_number AS block_number, m.delta AS delta,
  h.had + sum(m.delta) OVER (PARTITION BY m.vault, m.holder ORDER BY m.position
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS balance
FROM moved AS m LEFT JOIN head AS h ON m.vault = h.vault AND m.holder = h.holder;
