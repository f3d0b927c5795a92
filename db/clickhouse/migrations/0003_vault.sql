-- The catalogue: one row per discovery of a vault (a second one only where the first was retracted).
CREATE TABLE IF NOT EXISTS vault (
  chain_id UInt32,
  vault String,
  position UInt64,
  block_number UInt64,
  timestamp DateTime('UTC'),
  protocol LowCardinality(String),
  name String,
  symbol String,
  decimals UInt8 COMMENT 'of the share',
  asset String,
  asset_name String,
  asset_symbol LowCardinality(String),
  asset_decimals UInt8,
  deployed_block Nullable(UInt64),
  deployed_at Nullable(DateTime('UTC'))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS vault_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  fields.vault AS vault,
  position,
  block_number,
  timestamp,
  fields.protocol AS protocol,
  fields.name AS name,
  fields.symbol AS symbol,
  fields.decimals AS decimals,
  fields.asset AS asset,
  fields.assetName AS asset_name,
  fields.assetSymbol AS asset_symbol,
  fields.assetDecimals AS asset_decimals,
  fields.deployedBlock AS deployed_block,
  toDateTime(fields.deployedAt, 'UTC') AS deployed_at
FROM (
  SELECT stream, position, block_number, timestamp,
    JSONExtract(data, 'Tuple(vault String, protocol String, name String, symbol String, decimals UInt8, asset String,
      assetName String, assetSymbol String, assetDecimals UInt8, deployedBlock Nullable(UInt64), deployedAt Nullable(UInt32))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'VaultDiscovered'
);

-- Vaults that come from where the registry of contracts says so: one row per word of a factory, and per Comet, which the
-- registry names itself. A factory's word may come before the vault is discovered, or long after.
CREATE TABLE IF NOT EXISTS vault_made (
  chain_id UInt32,
  vault String,
  position UInt64,
  block_number UInt64,
  timestamp DateTime('UTC'),
  factory String COMMENT 'empty: the registry names the vault itself',
  protocol LowCardinality(String)
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS vault_made_rows AS
SELECT toUInt32(stream) AS chain_id, fields.vault AS vault, position, block_number, timestamp,
  fields.factory AS factory, fields.protocol AS protocol
FROM (
  SELECT stream, position, block_number, timestamp, type,
    JSONExtract(data, 'Tuple(vault String, factory String, protocol String, pool String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('VaultCreated', 'VaultDiscovered')
)
-- The pool of a Comet is itself. What an aToken calls its pool is only its own word.
WHERE type = 'VaultCreated' OR (fields.protocol = 'compound' AND fields.pool = fields.vault);
