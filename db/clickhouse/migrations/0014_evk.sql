-- Euler v2. What a lending vault says of itself after each act; interest is in it up to the row's block.
CREATE TABLE IF NOT EXISTS evk_status (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  total_shares UInt256 COMMENT 'all shares, share base units' CODEC(ZSTD(1)),
  total_borrows UInt256 COMMENT 'what is owed to the vault, asset base units, rounded up' CODEC(ZSTD(1)),
  accumulated_fees UInt256 COMMENT 'fees not paid out yet, share base units' CODEC(ZSTD(1)),
  cash UInt256 COMMENT 'what the vault holds of its asset, base units' CODEC(ZSTD(1)),
  accumulator_ray UInt256 COMMENT 'what a debt of one ray at the beginning has become' CODEC(ZSTD(1)),
  interest_rate_ray UInt256 COMMENT 'rate of borrowers per second, ray (1e27 = 1), from the row on' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Euler v2. What a lending vault says of itself after each act; interest is in it up to the row''s block. Ordered by (chain_id, vault, timestamp, position).';

-- The debt of a vault with 31 bits of fraction, at the ends of blocks with acts in it.
CREATE TABLE IF NOT EXISTS evk_total (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  owed UInt256 COMMENT 'debt, asset base units times 2^31' CODEC(ZSTD(1)),
  accumulator_ray UInt256 COMMENT 'what a debt of one ray at the beginning has become' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'The debt of a vault with 31 bits of fraction, at the ends of blocks with acts in it. Ordered by (chain_id, vault, timestamp, position).';

-- The debt of an account with 31 bits of fraction, at the ends of blocks in which it changed: later it is that times the
-- vault's accumulator, divided by the one of the row.
CREATE TABLE IF NOT EXISTS evk_debt (
  chain_id UInt32 COMMENT 'chain, by its id',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  owed UInt256 COMMENT 'debt, asset base units times 2^31' CODEC(ZSTD(1)),
  accumulator_ray UInt256 COMMENT 'what a debt of one ray at the beginning has become' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'The debt of an account with 31 bits of fraction, at the ends of blocks in which it changed: later it is that times the vault''s accumulator, divided by the one of the row. Ordered by (chain_id, account, vault, timestamp, position).';

-- Against which vaults' shares a vault lends, and how much.
CREATE TABLE IF NOT EXISTS evk_ltv (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  collateral LowCardinality(String) COMMENT 'address of the vault whose shares secure, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  borrow_ltv_bps UInt16 COMMENT 'of the value counts for borrowing, hundredths of a percent',
  liquidation_ltv_bps UInt16 COMMENT 'of the value counts before liquidation',
  initial_liquidation_ltv_bps UInt16 COMMENT 'what counted before the change',
  target_at UInt32 COMMENT 'unix seconds at which the liquidation LTV holds; the initial one ramps down to it',
  ramp_seconds UInt32 COMMENT 'length of the ramp'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, collateral, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Against which vaults'' shares a vault lends, and how much. Ordered by (chain_id, vault, collateral, timestamp, position).';

-- What accounts enabled in the connector: vaults that secure them (collateral), the vault that lends to them (controller).
CREATE TABLE IF NOT EXISTS evk_enabled (
  chain_id UInt32 COMMENT 'chain, by its id',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  role LowCardinality(String) COMMENT 'collateral or controller',
  vault LowCardinality(String) COMMENT 'address of the vault that is enabled, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  enabled UInt8 COMMENT '1: enabled, 0: not any more'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, role, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What accounts enabled in the connector: vaults that secure them (collateral), the vault that lends to them (controller). Ordered by (chain_id, account, role, vault, timestamp, position).';

-- Whose the accounts of a prefix are: a wallet has 256 accounts, whose addresses differ in the last byte.
CREATE TABLE IF NOT EXISTS evk_owner (
  chain_id UInt32 COMMENT 'chain, by its id',
  owner String COMMENT 'address of the wallet, lower case' CODEC(ZSTD(1)),
  prefix String COMMENT 'first 19 bytes of the addresses of all its accounts: 0x and 38 digits, lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, owner, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Whose the accounts of a prefix are: a wallet has 256 accounts in the connector of Euler v2, whose addresses differ in the last byte, and is registered when it first acts there. Ordered by (chain_id, owner, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.evk_status_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  toUInt256OrZero(fields.totalShares) AS total_shares, toUInt256OrZero(fields.totalBorrows) AS total_borrows, toUInt256OrZero(fields.accumulatedFees) AS accumulated_fees,
  toUInt256OrZero(fields.cash) AS cash, toUInt256OrZero(fields.accumulatorRay) AS accumulator_ray, toUInt256OrZero(fields.interestRateRay) AS interest_rate_ray
FROM (
  SELECT stream, contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(totalShares String, totalBorrows String, accumulatedFees String, cash String, accumulatorRay String, interestRateRay String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'euler-v2' AND type = 'VaultStatusChanged'
);

CREATE VIEW IF NOT EXISTS internal.evk_total_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  toUInt256OrZero(fields.owed) AS owed, toUInt256OrZero(fields.accumulatorRay) AS accumulator_ray
FROM (
  SELECT stream, contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(owed String, accumulatorRay String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'euler-v2' AND type = 'DebtTotalSampled'
);

CREATE VIEW IF NOT EXISTS internal.evk_debt_rows AS
SELECT toUInt32(stream) AS chain_id, fields.account AS account, contract AS vault, timestamp, position, block_number,
  toUInt256OrZero(fields.owed) AS owed, toUInt256OrZero(fields.accumulatorRay) AS accumulator_ray
FROM (
  SELECT stream, contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(account String, owed String, accumulatorRay String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'euler-v2' AND type = 'DebtSampled'
);

CREATE VIEW IF NOT EXISTS internal.evk_ltv_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, fields.collateral AS collateral, timestamp, position, block_number,
  fields.borrowLtvBps AS borrow_ltv_bps, fields.liquidationLtvBps AS liquidation_ltv_bps,
  fields.initialLiquidationLtvBps AS initial_liquidation_ltv_bps, fields.targetAt AS target_at, fields.rampSeconds AS ramp_seconds
FROM (
  SELECT stream, contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(collateral String, borrowLtvBps UInt16, liquidationLtvBps UInt16, initialLiquidationLtvBps UInt16, targetAt UInt32, rampSeconds UInt32)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'euler-v2' AND type = 'LtvChanged'
);

CREATE VIEW IF NOT EXISTS internal.evk_enabled_rows AS
SELECT toUInt32(stream) AS chain_id, fields.account AS account,
  if(type = 'AccountCollateralChanged', 'collateral', 'controller') AS role, fields.vault AS vault, timestamp, position, block_number,
  toUInt8(fields.enabled) AS enabled
FROM (
  SELECT stream, contract, timestamp, position, block_number, type,
    JSONExtract(data, 'Tuple(account String, vault String, enabled Bool)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'euler-v2' AND type IN ('AccountCollateralChanged', 'AccountControllerChanged')
);

CREATE VIEW IF NOT EXISTS internal.evk_owner_rows AS
SELECT toUInt32(stream) AS chain_id, fields.owner AS owner, fields.prefix AS prefix, timestamp, position, block_number
FROM (
  SELECT stream, timestamp, position, block_number, JSONExtract(data, 'Tuple(owner String, prefix String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AccountOwnerRegistered'
);
