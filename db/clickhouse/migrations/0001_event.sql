-- The staging layer: the event store's rows as they are, mirrored range by range so that read models are made where
-- they live, by INSERT ... SELECT. Rebuilt from Postgres at any time; never written by anything but the mirror.
CREATE TABLE IF NOT EXISTS event (
  stream Int32 COMMENT 'chain id; 0 is the registry; 1399811149 is Solana, which has no chain id',
  position UInt64 COMMENT '1, 2, 3 … within the stream',
  type LowCardinality(String) COMMENT 'what happened, as in db/events/vocabulary.ts',
  protocol LowCardinality(String) COMMENT 'slug of the protocol that told of it; empty: no protocol did (retractions, the registry''s facts)',
  block_number UInt64 COMMENT 'number of that event''s block',
  block_hash String COMMENT 'hash of the block; empty in the registry''s stream' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  tx_hash String COMMENT 'hash of the transaction (Solana: its signature, 64 bytes); empty: not from one' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block; 4294967295: not from a log',
  contract LowCardinality(String) COMMENT 'address of the contract that emitted it, lower-case hex: 20 bytes, of Solana 32',
  data String COMMENT 'what the event says, JSON; on-chain integers are decimal strings in base units' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY stream
ORDER BY (stream, position)
SETTINGS non_replicated_deduplication_window = 10000
COMMENT 'Grain: one row per event; `(stream, position)`.';

-- Positions whose block turned out not to be canonical. A row of a read model that follows from such a position is
-- invisible from the position retracted_by on; rows themselves are never changed.
CREATE TABLE IF NOT EXISTS retracted (
  stream Int32 COMMENT 'chain id; 0 is the registry; 1399811149 is Solana, which has no chain id',
  position UInt64 COMMENT 'the event that is not canonical any more',
  retracted_by UInt64 COMMENT 'position of the retraction: readers at or after it do not see the event'
) ENGINE = ReplacingMergeTree
ORDER BY (stream, position)
SETTINGS non_replicated_deduplication_window = 10000
COMMENT 'Grain: one row per retracted event; `(stream, position)`.';
