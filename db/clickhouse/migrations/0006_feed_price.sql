-- Prices as feeds reported them. Which asset a feed prices is a registry fact (kind 'feed').
CREATE TABLE IF NOT EXISTS feed_price (
  chain_id UInt32,
  feed LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  source LowCardinality(String),
  answer Int256 COMMENT 'quote currency per whole unit, times 10^decimals' CODEC(ZSTD(1)),
  decimals UInt8,
  price Float64 COMMENT 'quote currency per whole unit' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, feed, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS feed_price_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  fields.feed AS feed,
  timestamp,
  position,
  block_number,
  fields.source AS source,
  toInt256(fields.answer) AS answer,
  fields.decimals AS decimals,
  toFloat64(answer) / pow(10., fields.decimals) AS price
FROM (
  SELECT stream, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(feed String, source String, answer String, decimals UInt8)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'PriceReported'
);
