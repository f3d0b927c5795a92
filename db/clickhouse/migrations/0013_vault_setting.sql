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
