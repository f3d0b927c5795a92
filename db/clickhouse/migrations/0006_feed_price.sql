-- Prices as feeds reported them. Which asset a feed prices is a registry fact (kind 'feed').
CREATE TABLE IF NOT EXISTS feed_price (
  chain_id UInt32 COMMENT 'chain, by its id',
  feed LowCardinality(String) COMMENT 'address of the price feed, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  source LowCardinality(String) COMMENT 'kind of the feed, e.g. chainlink',
  answer Int256 COMMENT 'price × 10^decimals' CODEC(ZSTD(1)),
  decimals UInt8 COMMENT 'decimals of the answer',
  price Float64 COMMENT 'quote currency (USD) per whole unit' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, feed, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per report of a feed; `(chain_id, feed, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.feed_price_rows AS
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
