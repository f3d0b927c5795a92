-- Tokens that lending markets name, as they describe themselves. Assets of vaults are described by `vault`.
CREATE TABLE IF NOT EXISTS asset (
  chain_id UInt32 COMMENT 'chain, by its id',
  asset String COMMENT 'address of the token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  name String COMMENT 'name of the token, as it says itself',
  symbol String COMMENT 'symbol of the token, as it says itself',
  decimals UInt8 COMMENT 'decimals of the token'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Tokens that lending markets name, as they describe themselves. Assets of vaults are described by `vault`. Ordered by (chain_id, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.asset_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS asset, timestamp, position, block_number, fields.name AS name,
  fields.symbol AS symbol, fields.decimals AS decimals
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(name String, symbol String, decimals UInt8)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AssetDescribed'
);
