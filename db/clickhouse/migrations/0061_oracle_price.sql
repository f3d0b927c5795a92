-- What lending markets' own oracles answered, at the ends of blocks with events of the market and hourly, in each
-- oracle's unit: Aave v3 its base currency per whole unit (USD scaled by 1e8 mostly); Compound v3 USD per whole unit scaled by 1e8; Morpho Blue loan units per collateral unit, scaled by 1e36
-- and the difference of decimals (asset is '').
CREATE TABLE IF NOT EXISTS oracle_price (
  chain_id UInt32 COMMENT 'chain, by its id',
  contract LowCardinality(String) COMMENT 'address of the pool, Comet, Morpho or vault that lends, lower case',
  market LowCardinality(String) COMMENT 'market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3, the lending vault of Euler v2',
  asset LowCardinality(String) COMMENT 'address of the asset that is priced, lower case; empty: the collateral of the market (Morpho Blue)',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  oracle LowCardinality(String) COMMENT 'address of the feed or oracle of its price, lower case',
  price Nullable(UInt256) COMMENT 'as the oracle answered, in the unit of its protocol (see the table''s comment); NULL: it did not answer' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, contract, market, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What lending markets'' own oracles answered, at the ends of blocks with events of the market and hourly, in each oracle''s unit: Aave v3 its base currency per whole unit (USD scaled by 1e8 mostly); Compound v3 USD per whole unit scaled by 1e8; Morpho Blue loan units per collateral unit, scaled by 1e36 and the difference of decimals (asset is ''''); Euler v2 base units of the unit of account per base unit of the asset, or of the asset of the collateral vault, scaled by 1e36, at the middle of bid and ask. Ordered by (chain_id, contract, market, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.oracle_price_rows AS
SELECT toUInt32(stream) AS chain_id, contract, fields.market AS market, fields.asset AS asset, timestamp, position, block_number,
  fields.oracle AS oracle, if(fields.price = '', NULL, toUInt256OrZero(fields.price)) AS price
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, asset String, oracle String, price String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'OraclePriceSampled'
);
