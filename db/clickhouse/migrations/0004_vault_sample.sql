-- What samples of a batch say, the share price as a number among it. NULL: the contract did not answer; a share price is
-- NULL too where there is no share to speak of. A vault rounds to a unit, so of little enough that one unit moves the price
-- by more than 0.01 % the price says how the rounding fell, and nothing of what a share earned: fewer than 10,000 units of
-- the share, if these are less than a whole one; or of the asset, where the shares are no more than that by their own decimals
-- either (many shares of nothing are a loss, whose price is told).
CREATE VIEW IF NOT EXISTS internal.state_sample AS
WITH JSONExtract(data, 'Tuple(totalAssets Nullable(String), totalSupply Nullable(String), sharePrice Nullable(String),
  finePrice Nullable(String), fineDigits UInt8, maxDeposit Nullable(String), idleAssets Nullable(String),
  borrowedAssets Nullable(String), decimals UInt8, assetDecimals UInt8)') AS fields
SELECT
  contract AS vault,
  timestamp,
  position,
  block_number,
  toUInt256OrNull(fields.totalAssets) AS total_assets,
  toUInt256OrNull(fields.totalSupply) AS total_supply,
  toUInt256OrNull(fields.sharePrice) AS share_price_raw,
  toUInt256OrNull(fields.finePrice) AS fine_price,
  fields.fineDigits AS fine_digits,
  ifNull(total_assets < 10000, 0) AS is_hollow,
  ifNull(toFloat64(total_supply) < least(10000., pow(10., fields.decimals)), 0) OR (is_hollow
    AND ifNull(toFloat64(total_supply) < pow(10., 4 + fields.decimals - fields.assetDecimals), 0)) AS is_empty,
  if(is_empty, NULL, if(fine_price IS NULL, toFloat64(share_price_raw) / pow(10., fields.assetDecimals),
    toFloat64(fine_price) / pow(10., fields.assetDecimals + fine_digits))) AS share_price,
  toUInt256OrNull(fields.maxDeposit) AS max_deposit,
  toUInt256OrNull(fields.idleAssets) AS idle_assets,
  toUInt256OrNull(fields.borrowedAssets) AS borrowed_assets,
  fields.decimals AS decimals,
  fields.assetDecimals AS asset_decimals
FROM event
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled';

-- Every sample of a vault's state, as read from the chain at the end of a block. NULL: the contract did not answer.
CREATE TABLE IF NOT EXISTS vault_sample (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, share base units; NULL: the contract did not answer' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'what the contract says of one whole share, whether or not there are shares: asset base units' CODEC(ZSTD(1)),
  fine_price Nullable(UInt256) COMMENT 'what it says of 10^fine_digits whole shares, where that is the same price with more digits: asset base units' CODEC(ZSTD(1)),
  fine_digits UInt8 COMMENT 'how many more digits than the asset `fine_price` has; 0: none' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: unknown, or no share' CODEC(ZSTD(1)),
  max_deposit Nullable(UInt256) COMMENT 'maxDeposit of an account that holds nothing, asset base units' CODEC(ZSTD(1)),
  idle_assets Nullable(UInt256) COMMENT 'what the vault itself holds of its asset, asset base units' CODEC(ZSTD(1)),
  borrowed_assets Nullable(UInt256) COMMENT 'lent out with interest, where the vault says so (Euler''s totalBorrows), asset base units' CODEC(ZSTD(1)),
  decimals UInt8 COMMENT 'decimals of the share',
  asset_decimals UInt8 COMMENT 'decimals of the underlying'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per sample; `(chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.vault_sample_rows AS
SELECT toUInt32({stream:Int32}) AS chain_id, vault, timestamp, position, block_number, total_assets, total_supply,
  share_price_raw, fine_price, fine_digits, share_price, max_deposit, idle_assets, borrowed_assets, decimals, asset_decimals
FROM internal.state_sample(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64});
