-- Tokens that lending markets name, as they describe themselves. Assets of vaults are described by `vault`.
CREATE TABLE IF NOT EXISTS asset (
  chain_id UInt32,
  asset String,
  timestamp DateTime('UTC'),
  position UInt64,
  block_number UInt64,
  name String,
  symbol String,
  decimals UInt8
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS asset_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS asset, timestamp, position, block_number, fields.name AS name,
  fields.symbol AS symbol, fields.decimals AS decimals
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(name String, symbol String, decimals UInt8)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AssetDescribed'
);
