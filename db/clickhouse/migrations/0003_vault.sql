-- The catalogue: one row per discovery of a vault (a second one only where the first was retracted).
CREATE TABLE IF NOT EXISTS vault (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault String COMMENT 'address of the vault, lower case',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  timestamp DateTime('UTC') COMMENT 'time of the block in which it was discovered, UTC',
  protocol LowCardinality(String) COMMENT 'slug of what it is, e.g. metamorpho; erc-4626: of no factory that is known',
  name String COMMENT 'name of the share token, as it says itself',
  symbol String COMMENT 'symbol of the share token, as it says itself',
  decimals UInt8 COMMENT 'decimals of the share',
  asset String COMMENT 'address of the underlying, lower case',
  asset_name String COMMENT 'name of the underlying, as it says itself',
  asset_symbol LowCardinality(String) COMMENT 'symbol of the underlying, as it says itself',
  asset_decimals UInt8 COMMENT 'decimals of the underlying',
  deployed_block Nullable(UInt64) COMMENT 'number of the block that deployed it; NULL: unknown',
  deployed_at Nullable(DateTime('UTC')) COMMENT 'time of the block that deployed it, UTC; NULL: unknown',
  async_deposits Nullable(UInt8) COMMENT '1: deposits are requests, executed later (ERC-7540); NULL: unknown',
  async_redemptions Nullable(UInt8) COMMENT '1: redemptions are requests, executed later (ERC-7540), or wait for a cooldown that is on or can be switched on; NULL: unknown'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per discovery of a vault; `(chain_id, vault, position)`.';

CREATE VIEW IF NOT EXISTS internal.vault_rows AS
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
  toDateTime(fields.deployedAt, 'UTC') AS deployed_at,
  if(isNull(fields.hasCooldown), NULL, toUInt8(ifNull(fields.asyncDeposits, 0))) AS async_deposits,
  if(isNull(fields.hasCooldown), NULL, toUInt8(ifNull(fields.asyncRedemptions, 0) OR fields.hasCooldown)) AS async_redemptions
FROM (
  SELECT stream, position, block_number, timestamp,
    JSONExtract(data, 'Tuple(vault String, protocol String, name String, symbol String, decimals UInt8, asset String,
      assetName String, assetSymbol String, assetDecimals UInt8, deployedBlock Nullable(UInt64), deployedAt Nullable(UInt32),
      asyncDeposits Nullable(Bool), asyncRedemptions Nullable(Bool), hasCooldown Nullable(Bool))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'VaultDiscovered'
);

-- Vaults that come from where the registry of contracts says so: one row per word of a factory, and per Comet, which the
-- registry names itself. A factory's word may come before the vault is discovered, or long after.
CREATE TABLE IF NOT EXISTS vault_made (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault String COMMENT 'address of the vault, lower case',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  timestamp DateTime('UTC') COMMENT 'time of the block in which that was said, UTC',
  factory String COMMENT 'address of the factory; empty: the registry of contracts names the vault itself',
  protocol LowCardinality(String) COMMENT 'protocol that the factory is of'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per word of a factory about a vault, and per Comet; `(chain_id, vault, position)`.';

CREATE VIEW IF NOT EXISTS internal.vault_made_rows AS
SELECT toUInt32(stream) AS chain_id, fields.vault AS vault, position, block_number, timestamp,
  fields.factory AS factory, fields.protocol AS protocol
FROM (
  SELECT stream, position, block_number, timestamp, type, event.protocol AS told_by,
    JSONExtract(data, 'Tuple(vault String, factory String, protocol String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('VaultCreated', 'VaultDiscovered')
)
-- Comets are those that the registry and the configurator name; what an aToken calls its pool is only its own word.
WHERE type = 'VaultCreated' OR told_by = 'compound-v3';

-- What a vault's own events say of its settings, one row per change: fees, caps, pauses. The last visible row of a
-- (setting, market) is what holds; all rows of 'paused' are its history.
CREATE TABLE IF NOT EXISTS vault_setting (
  chain_id UInt32 COMMENT 'chain, by its id',
  vault String COMMENT 'address of the vault, lower case',
  setting LowCardinality(String) COMMENT 'fee:performance, fee:management …, cap:deposit, cap:supply …, paused',
  market String COMMENT 'market or scope within the vault; empty: the whole vault',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  value Nullable(UInt256) COMMENT 'fee: fraction scaled by 1e18; cap: asset base units; paused: 1 or 0; NULL: changed to what the event does not say'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, setting, market, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per change that a vault''s own events tell; `(chain_id, vault, setting, market, position)`. What holds is the
last of a (vault, setting, market); the rows of `paused` are its history.';

CREATE VIEW IF NOT EXISTS internal.vault_setting_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  contract AS vault,
  multiIf(type = 'FeeChanged', concat('fee:', fields.kind), type = 'CapChanged', concat('cap:', fields.kind), 'paused') AS setting,
  coalesce(fields.market, fields.scope, '') AS market,
  position,
  block_number,
  timestamp,
  multiIf(
    type = 'FeeChanged', toUInt256OrNull(fields.feeWad),
    type = 'CapChanged', if(coalesce(fields.capDecimals, 0) = 0, toUInt256OrNull(fields.cap), NULL),
    toNullable(toUInt256(type = 'Paused'))) AS value
FROM (
  SELECT stream, contract, position, block_number, timestamp, type,
    JSONExtract(data, 'Tuple(kind String, feeWad Nullable(String), cap Nullable(String), capDecimals Nullable(UInt8),
      market Nullable(String), scope Nullable(String))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('FeeChanged', 'CapChanged', 'Paused', 'Unpaused')
);

-- Vaults that stand: neither taken back by a fork nor left alone by an operator.
CREATE VIEW IF NOT EXISTS known_vaults AS
SELECT * FROM vault FINAL
WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
COMMENT 'Grain: one row per vault as it was discovered, less what forks took back and what operators ignore; other views use it.';
ALTER TABLE known_vaults
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN timestamp 'time of the block in which it was discovered, UTC',
  COMMENT COLUMN protocol 'slug of what it is, e.g. metamorpho; erc-4626: of no factory that is known',
  COMMENT COLUMN name 'name of the share token, as it says itself',
  COMMENT COLUMN symbol 'symbol of the share token, as it says itself',
  COMMENT COLUMN decimals 'decimals of the share',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_name 'name of the underlying, as it says itself',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN asset_decimals 'decimals of the underlying',
  COMMENT COLUMN deployed_block 'number of the block that deployed it; NULL: unknown',
  COMMENT COLUMN deployed_at 'time of the block that deployed it, UTC; NULL: unknown',
  COMMENT COLUMN async_deposits '1: deposits are requests, executed later (ERC-7540); NULL: unknown',
  COMMENT COLUMN async_redemptions '1: redemptions are requests, executed later (ERC-7540), or wait for a cooldown that is on or can be switched on; NULL: unknown';

-- How a vault came to be known: the registry lists it, a factory that the registry names made it, or it was found by its
-- shape, which anybody can give a contract.
CREATE VIEW IF NOT EXISTS vault_standings AS
SELECT known.chain_id AS chain_id, known.vault AS vault, multiIf(
  (known.chain_id, known.vault) IN (
    SELECT chain_id, address FROM address_facts WHERE subject LIKE 'vault:%' AND kind = 'listed'
  ), 'listed',
  (known.chain_id, known.vault) IN (
    SELECT chain_id, vault FROM vault_made
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ), 'made',
  'found') AS standing
FROM (
  SELECT DISTINCT chain_id, vault FROM vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS known
COMMENT 'Grain: one row per vault: how it came to be known.';
ALTER TABLE vault_standings
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN standing '`listed`, `made` or `found`: see `vaults`';
