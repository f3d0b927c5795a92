-- Accounts that were there before what is indexed begins are read by a node, once: the view takes the place of the one before.
CREATE VIEW IF NOT EXISTS internal.svm_balance_rows AS
SELECT holding.1 AS holder, toUInt32(stream) AS chain_id, contract AS mint, fields.tokenAccount AS token_account, timestamp, position, block_number,
  toUInt256(holding.2) AS amount
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(tokenAccount String, owner String, previousOwner String, amount String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('SvmShareAccountChanged', 'SvmShareAccountSampled')
)
ARRAY JOIN if(fields.previousOwner IN ('', fields.owner), [(fields.owner, fields.amount)],
  [(fields.owner, fields.amount), (fields.previousOwner, '0')]) AS holding;

CREATE TABLE IF NOT EXISTS svm_holders_listed (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares, lower-case hex of 32 bytes',
  farm String COMMENT 'farm whose stakes were read; empty: token accounts were' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  holders UInt64 COMMENT 'accounts that had some'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, mint, farm, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a node was asked for everybody who has shares of a vault; `(chain_id, mint, farm, timestamp, position)`. From there on `svm_balance` (of a farm: `svm_stake`) has all of them; before it those alone whose shares moved since the index began.';

CREATE VIEW IF NOT EXISTS internal.svm_holders_listed_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS mint, fields.farm AS farm, timestamp, position, block_number, fields.holders AS holders
FROM (
  SELECT stream, contract, timestamp, position, block_number, JSONExtract(data, 'Tuple(farm String, holders UInt64)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmHoldersListed'
);
