-- Morpho's adaptive rate model (AdaptiveCurveIrm): its own log at each accrual of a market.
CREATE TABLE IF NOT EXISTS morpho_rate (
  chain_id UInt32 COMMENT 'chain, by its id',
  irm LowCardinality(String) COMMENT 'address of the rate model, lower case',
  market String COMMENT 'market id, bytes32',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  average_rate_wad UInt256 COMMENT 'rate of borrowers per second, scaled by 1e18, of the period that ended' CODEC(ZSTD(1)),
  rate_at_target_wad UInt256 COMMENT 'rate of borrowers per second at a utilization of 90 %, scaled by 1e18' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, market, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Morpho''s adaptive rate model (AdaptiveCurveIrm): its own log at each accrual of a market. Ordered by (chain_id, market, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.morpho_rate_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS irm, fields.market AS market, timestamp, position, block_number,
  toUInt256OrZero(fields.averageRateWad) AS average_rate_wad, toUInt256OrZero(fields.rateAtTargetWad) AS rate_at_target_wad
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, averageRateWad String, rateAtTargetWad String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND protocol = 'morpho-blue' AND type = 'RateAtTargetChanged'
);
