-- The staging layer: the event store's rows as they are, mirrored range by range so that read models are made where
-- they live, by INSERT ... SELECT. Rebuilt from Postgres at any time; never written by anything but the mirror.
CREATE TABLE IF NOT EXISTS event (
  stream Int32,
  position UInt64,
  type LowCardinality(String),
  block_number UInt64,
  block_hash String CODEC(ZSTD(1)),
  timestamp DateTime('UTC'),
  tx_hash String CODEC(ZSTD(1)),
  log_index UInt32 COMMENT '4294967295: not from a log',
  contract LowCardinality(String),
  data String COMMENT 'JSON; integers beyond 2^53 as decimal strings' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY stream
ORDER BY (stream, position)
SETTINGS non_replicated_deduplication_window = 10000;

-- Positions whose block turned out not to be canonical. A row of a read model that follows from such a position is
-- invisible from the position retracted_by on; rows themselves are never changed.
CREATE TABLE IF NOT EXISTS retracted (
  stream Int32,
  position UInt64,
  retracted_by UInt64
) ENGINE = ReplacingMergeTree
ORDER BY (stream, position)
SETTINGS non_replicated_deduplication_window = 10000;
