-- What lending markets' own oracles answered, at the ends of blocks with events of the market and hourly, in each
-- oracle's unit: Compound v3 USD per whole unit scaled by 1e8; Morpho Blue loan units per collateral unit, scaled by 1e36
-- and the difference of decimals (asset is '').
CREATE TABLE IF NOT EXISTS oracle_price (
  chain_id UInt32,
  contract LowCardinality(String) COMMENT 'of the protocol: a Comet, Morpho',
  market LowCardinality(String),
  asset LowCardinality(String),
  timestamp DateTime('UTC') CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 CODEC(DoubleDelta, ZSTD(1)),
  oracle LowCardinality(String),
  price UInt256 CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, contract, market, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000;

CREATE VIEW IF NOT EXISTS oracle_price_rows AS
SELECT toUInt32(stream) AS chain_id, contract, fields.market AS market, fields.asset AS asset, timestamp, position, block_number,
  fields.oracle AS oracle, toUInt256OrZero(fields.price) AS price
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, asset String, oracle String, price String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'OraclePriceSampled'
);
