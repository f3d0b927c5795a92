-- Deposits into and redemptions from vaults, by owner of the shares.
CREATE TABLE IF NOT EXISTS flow (
  chain_id UInt32,
  vault LowCardinality(String),
  account String COMMENT 'owner of the shares' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, redeem',
  assets UInt256 COMMENT 'asset base units' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'share base units' CODEC(ZSTD(1)),
  sender String CODEC(ZSTD(1)),
  tx_hash String CODEC(ZSTD(1)),
  log_index UInt32
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS flow_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  contract AS vault,
  fields.owner AS account,
  timestamp,
  position,
  block_number,
  if(type = 'Deposited', 'deposit', 'redeem') AS kind,
  toUInt256(fields.assets) AS assets,
  toUInt256(fields.shares) AS shares,
  fields.sender AS sender,
  tx_hash,
  log_index
FROM (
  SELECT stream, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(owner String, sender String, assets String, shares String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('Deposited', 'Redeemed')
);
