-- What the rate model of a Morpho market answered at the ends of blocks with events of it, where its model is not the
-- adaptive one, whose logs are morpho_rate.
CREATE TABLE IF NOT EXISTS morpho_sampled_rate (
  chain_id UInt32 COMMENT 'chain, by its id',
  market String COMMENT 'market id, bytes32',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  rate_wad UInt256 COMMENT 'rate of borrowers per second, scaled by 1e18, from the row on' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What the rate model of a Morpho market answered at the ends of blocks with events of it and hourly, where its model is not the adaptive one. Ordered by (chain_id, market, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.morpho_sampled_rate_rows AS
SELECT toUInt32(stream) AS chain_id, fields.market AS market, timestamp, position, block_number,
  toUInt256OrZero(fields.rateWad) AS rate_wad
FROM (
  SELECT stream, timestamp, position, block_number, JSONExtract(data, 'Tuple(market String, rateWad String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue' AND type = 'BorrowRateSampled'
);
