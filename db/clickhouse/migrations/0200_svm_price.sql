-- What programs wrote down of the price of a share, told by the log of the slot itself: the past has it, where samples have not.
CREATE TABLE IF NOT EXISTS svm_price (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  price_assets UInt256 COMMENT 'asset base units that price_shares are worth' CODEC(ZSTD(1)),
  price_shares UInt256 COMMENT 'share base units' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'signature of the transaction, lower-case hex of 64 bytes' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a program wrote down the price of a share; `(chain_id, vault, timestamp, position)`. Stake pools write none to the log, and where a log was cut off there is none.';

CREATE VIEW IF NOT EXISTS internal.svm_price_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  toUInt256(fields.priceAssets) AS price_assets, toUInt256(fields.priceShares) AS price_shares, tx_hash
FROM (
  SELECT stream, contract, timestamp, position, block_number, tx_hash, JSONExtract(data, 'Tuple(priceAssets String, priceShares String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmPriceUpdated'
);
