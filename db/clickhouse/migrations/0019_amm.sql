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

-- What every state of a vault of liquidity is worth. Positions are valued at the mean price over time, at which they would be of other
-- amounts than at the price of the moment; where the pool's oracle does not reach back, or positions are not known, at the latter.
CREATE VIEW IF NOT EXISTS amm_figures AS
WITH
  -- What a position is of at a price: token0 and token1, base units.
  (liquidity, low, high, root) -> (
    if(liquidity = 0, 0., liquidity * (1 / greatest(least(root, high), low) - 1 / high)),
    if(liquidity = 0, 0., liquidity * (least(greatest(root, low), high) - low))) AS amounts,
  toFloat64(s.sqrt_price_x96) / 79228162514264337593543950336. AS spot,
  s.mean_tick IS NULL OR s.base_liquidity IS NULL OR s.limit_liquidity IS NULL AS is_unknown,
  if(is_unknown, spot, pow(1.0001, ifNull(s.mean_tick, 0) / 2.)) AS root,
  (tick -> pow(1.0001, ifNull(tick, 0) / 2.)) AS at,
  (root -> (
    amounts(toFloat64(ifNull(s.base_liquidity, 0)), at(s.base_lower), at(s.base_upper), root),
    amounts(toFloat64(ifNull(s.limit_liquidity, 0)), at(s.limit_lower), at(s.limit_upper), root))) AS held
SELECT s.chain_id AS chain_id, s.vault AS vault, s.timestamp AS timestamp, s.block_number AS block_number,
  toUInt8(is_unknown) AS is_spot,
  root * root AS price,
  if(d.takes_token1, d.token1, d.token0) AS value_token,
  toFloat64(s.total0) + if(is_unknown, 0., (held(root).1.1 + held(root).2.1) - (held(spot).1.1 + held(spot).2.1)) AS amount0,
  toFloat64(s.total1) + if(is_unknown, 0., (held(root).1.2 + held(root).2.2) - (held(spot).1.2 + held(spot).2.2)) AS amount1,
  if(d.takes_token1, amount0 * price + amount1, amount0 + amount1 / price) AS value_raw,
  if(s.supply = 0, NULL, value_raw / toFloat64(s.supply)) AS share_value,
  value_raw / pow(10., a.decimals) AS value,
  s.total0 AS total0_raw, s.total1 AS total1_raw, s.supply AS supply_raw, s.position AS position
FROM amm_state AS s
INNER JOIN (
  SELECT chain_id, vault, argMax(token0, position) AS token0, argMax(token1, position) AS token1, argMax(takes_token1, position) AS takes_token1
  FROM amm_description WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault
) AS d ON s.chain_id = d.chain_id AND s.vault = d.vault
ANY LEFT JOIN (SELECT chain_id, asset, toNullable(decimals) AS decimals FROM assets) AS a
  ON s.chain_id = a.chain_id AND a.asset = if(d.takes_token1, d.token1, d.token0)
WHERE (s.chain_id, s.position) NOT IN (SELECT chain_id, position FROM retracted_row)
COMMENT 'Grain: one row per state of a vault of liquidity (`amm_state`), with what follows from it as approximate numbers; the exact ones are of the API.';
ALTER TABLE amm_figures
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN is_spot '1: at the price of the moment, which a single trade moves; 0: at the mean over `twap_period`',
  COMMENT COLUMN price 'token1 base units per token0 base unit that the row is reckoned with',
  COMMENT COLUMN value_token 'address of the token that the vault takes, token1 if both: that in which it is valued',
  COMMENT COLUMN amount0 'token0 that the vault has, its positions at that price, base units',
  COMMENT COLUMN amount1 'token1, likewise',
  COMMENT COLUMN value_raw 'both together, base units of value_token',
  COMMENT COLUMN share_value 'base units of value_token per base unit of shares: what the decimals of shares say is no size; NULL: there is no share',
  COMMENT COLUMN value 'whole units of value_token; NULL: its decimals are not known',
  COMMENT COLUMN total0_raw 'token0 that the vault has at the price of the moment, base units',
  COMMENT COLUMN total1_raw 'token1, likewise',
  COMMENT COLUMN supply_raw 'all shares, base units',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

-- The first state of each hour: a row never changes.
CREATE VIEW IF NOT EXISTS amm_hourly AS
SELECT chain_id, vault, toStartOfHour(timestamp) AS hour, timestamp, is_spot, price, share_value, value, total0_raw, total1_raw, supply_raw
FROM amm_figures
ORDER BY chain_id, vault, position
LIMIT 1 BY chain_id, vault, toStartOfHour(timestamp)
COMMENT 'Grain: one row per vault of liquidity and hour, its first state: price, what it is worth, and what a share is.';
ALTER TABLE amm_hourly
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN timestamp 'time of the state''s block, UTC',
  COMMENT COLUMN is_spot '1: at the price of the moment, which a single trade moves; 0: at the mean over `twap_period`',
  COMMENT COLUMN price 'token1 base units per token0 base unit',
  COMMENT COLUMN share_value 'base units of the token in which it is valued per base unit of shares; NULL: there is no share',
  COMMENT COLUMN value 'what the vault is worth in that token, whole units; NULL: its decimals are not known',
  COMMENT COLUMN total0_raw 'token0 that the vault has at the price of the moment, base units',
  COMMENT COLUMN total1_raw 'token1, likewise',
  COMMENT COLUMN supply_raw 'all shares, base units';

CREATE VIEW IF NOT EXISTS amm_standings AS
SELECT v.chain_id AS chain_id, v.vault AS vault, multiIf(
  (v.chain_id, v.vault) IN (
    SELECT chain_id, address FROM address_facts
    WHERE subject LIKE 'market:%' AND kind = 'listed'), 'listed',
  (v.chain_id, v.made.1, v.made.2) IN (
    SELECT chain_id, address, lower(JSONExtractString(value, 'deployer')) FROM address_facts
    WHERE subject LIKE 'contract:%' AND kind = 'ammFactory'), 'made',
  'found') AS standing
FROM (
  SELECT chain_id, vault, argMax((factory, creator), position) AS made FROM amm_vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault
) AS v
COMMENT 'Grain: one row per vault of liquidity, and who vouches for it.';
ALTER TABLE amm_standings
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN standing '`listed`: the registry lists the vault; `made`: a factory of the registry made it for the account that the registry names; `found`: anybody may have had it made, of any two tokens';

-- Vaults of liquidity as they are known, with their newest state.
CREATE VIEW IF NOT EXISTS amm_vaults AS
SELECT v.chain_id AS chain_id, v.vault AS vault, v.of.1 AS protocol, v.of.2 AS factory, d.of.1 AS name, d.of.2 AS symbol, d.of.3 AS pool,
  d.of.4 AS token0, d.of.5 AS token1, x.symbol AS token0_symbol, y.symbol AS token1_symbol, d.of.6 AS takes_token0, d.of.7 AS takes_token1,
  k.standing AS standing, s.of.1 AS sampled_at, s.of.2 AS is_spot, s.of.3 AS price, s.of.4 AS value, s.of.5 AS share_value, s.of.6 AS supply_raw
FROM (
  SELECT chain_id, vault, argMax((protocol, factory), position) AS of FROM amm_vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault
) AS v
ANY LEFT JOIN (
  SELECT chain_id, vault, argMax((name, symbol, pool, token0, token1, takes_token0, takes_token1), position) AS of FROM amm_description
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault
) AS d ON v.chain_id = d.chain_id AND v.vault = d.vault
ANY LEFT JOIN assets AS x ON v.chain_id = x.chain_id AND d.of.4 = x.asset
ANY LEFT JOIN assets AS y ON v.chain_id = y.chain_id AND d.of.5 = y.asset
ANY LEFT JOIN amm_standings AS k ON v.chain_id = k.chain_id AND v.vault = k.vault
ANY LEFT JOIN (
  SELECT chain_id, vault, argMax((toNullable(timestamp), toNullable(is_spot), toNullable(price), value, share_value, toNullable(supply_raw)), position) AS of
  FROM amm_figures GROUP BY chain_id, vault
) AS s ON v.chain_id = s.chain_id AND v.vault = s.vault
COMMENT 'Grain: one row per vault of liquidity: catalogue and newest state, which may be an hour old.';
ALTER TABLE amm_vaults
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN factory 'address of the factory that made it, lower case',
  COMMENT COLUMN name 'name of the vault, as it says itself; empty: it was not described',
  COMMENT COLUMN symbol 'symbol of its shares, as it says itself',
  COMMENT COLUMN pool 'address of its pool, lower case',
  COMMENT COLUMN token0 'address of the first token, lower case',
  COMMENT COLUMN token1 'address of the second token, lower case',
  COMMENT COLUMN token0_symbol 'symbol of token0, as it says itself; empty: not known',
  COMMENT COLUMN token1_symbol 'symbol of token1, as it says itself; empty: not known',
  COMMENT COLUMN takes_token0 '1: token0 can be deposited',
  COMMENT COLUMN takes_token1 '1: token1 can be deposited',
  COMMENT COLUMN standing '`listed`, `made` or `found`: see `amm_standings`',
  COMMENT COLUMN sampled_at 'time of the newest state, UTC; NULL: none was read',
  COMMENT COLUMN is_spot '1: valued at the price of the moment, which a single trade moves; NULL: no state was read',
  COMMENT COLUMN price 'token1 base units per token0 base unit; NULL: no state was read',
  COMMENT COLUMN value 'what it is worth in the token that it takes, token1 if both, whole units; NULL: not known',
  COMMENT COLUMN share_value 'base units of that token per base unit of shares; NULL: there is no share',
  COMMENT COLUMN supply_raw 'all shares, base units; NULL: no state was read';

-- Who holds shares of a vault of liquidity now.
CREATE VIEW IF NOT EXISTS amm_holders AS
SELECT chain_id, vault, holder, of.1 AS balance_raw, of.2 AS since
FROM (
  SELECT chain_id, vault, holder, argMax((balance, timestamp), position) AS of FROM amm_share
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault, holder
)
WHERE of.1 != 0
COMMENT 'Grain: one row per vault of liquidity and holder of its shares.';
ALTER TABLE amm_holders
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN holder 'address of the holder, lower case',
  COMMENT COLUMN balance_raw 'shares, base units',
  COMMENT COLUMN since 'time of the last change, UTC';
