-- Deposits into and redemptions from vaults, by owner of the shares.
CREATE TABLE IF NOT EXISTS flow (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  account String COMMENT 'owner of the shares, address in lower case' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, redeem',
  assets UInt256 COMMENT 'asset base units; of an aToken what its balance rose or fell by, which since v3.5 is up to two units less than what was supplied, or more than what was withdrawn' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'share base units' CODEC(ZSTD(1)),
  sender String COMMENT 'who called the vault, address in lower case' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per deposit or redemption; `(chain_id, vault, account, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.flow_rows AS
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
