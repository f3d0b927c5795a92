-- Every sample of a vault's state, as read from the chain at the end of a block. NULL: the contract did not answer.
CREATE TABLE IF NOT EXISTS vault_sample (
  chain_id UInt32,
  vault LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'asset base units' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'share base units' CODEC(ZSTD(1)),
  share_price_raw Nullable(UInt256) COMMENT 'asset base units per whole share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share' CODEC(ZSTD(1)),
  max_deposit Nullable(UInt256) COMMENT 'maxDeposit of an account that holds nothing, asset base units' CODEC(ZSTD(1)),
  idle_assets Nullable(UInt256) COMMENT 'what the vault itself holds of its asset, asset base units' CODEC(ZSTD(1)),
  borrowed_assets Nullable(UInt256) COMMENT 'lent out with interest, where the vault says so, asset base units' CODEC(ZSTD(1)),
  decimals UInt8 COMMENT 'of the share',
  asset_decimals UInt8
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456;

CREATE VIEW IF NOT EXISTS vault_sample_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  contract AS vault,
  timestamp,
  position,
  block_number,
  toUInt256OrNull(fields.totalAssets) AS total_assets,
  toUInt256OrNull(fields.totalSupply) AS total_supply,
  toUInt256OrNull(fields.sharePrice) AS share_price_raw,
  toFloat64(share_price_raw) / pow(10., fields.assetDecimals) AS share_price,
  toUInt256OrNull(fields.maxDeposit) AS max_deposit,
  toUInt256OrNull(fields.idleAssets) AS idle_assets,
  toUInt256OrNull(fields.borrowedAssets) AS borrowed_assets,
  fields.decimals AS decimals,
  fields.assetDecimals AS asset_decimals
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(totalAssets Nullable(String), totalSupply Nullable(String), sharePrice Nullable(String),
      maxDeposit Nullable(String), idleAssets Nullable(String), borrowedAssets Nullable(String),
      decimals UInt8, assetDecimals UInt8)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'StateSampled'
);
