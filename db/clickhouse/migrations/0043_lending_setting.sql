-- Every change of a setting that has to do with lending markets: of a reserve, a market, an eMode category, an oracle ('': of
-- the whole deployment), or of what a vault may put into a market. `source` is the contract that said it.
CREATE TABLE IF NOT EXISTS lending_setting (
  chain_id UInt32 COMMENT 'chain, by its id',
  protocol LowCardinality(String) COMMENT 'slug of the protocol; erc-4626: of a vault about a market',
  source LowCardinality(String) COMMENT 'address of the contract that said it, lower case: configurator, oracle or provider (Aave), Comet, vault or router (Euler), Morpho',
  market String COMMENT 'what is set: the asset, or emode:n (Aave); the Comet; the lending vault, or what a route of a router is of (Euler); the bytes32 id (Morpho); empty: the whole deployment' CODEC(ZSTD(1)),
  key LowCardinality(String) COMMENT 'name of the setting, e.g. ltvBps, supplyCap, borrowPaused, oracle',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  value String COMMENT 'what it is set to, as text: integers in decimals, 1 and 0 for flags'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, protocol, source, market, key, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Every change of a setting that has to do with lending markets, of all protocols: of a reserve, a market, an eMode category or an oracle, or of what a vault may put into a market. Ordered by (chain_id, protocol, source, market, key, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.lending_setting_rows AS
SELECT toUInt32(stream) AS chain_id, protocol, contract AS source, JSONExtractString(data, 'market') AS market,
  pair.1 AS key, timestamp, position, block_number, trim(BOTH '"' FROM pair.2) AS value
FROM event
ARRAY JOIN arrayFilter(p -> p.2 != '', multiIf(
  type = 'RiskParametersChanged', arrayMap(name -> (name, JSONExtractRaw(data, name)),
    ['ltvBps', 'liquidationThresholdBps', 'liquidationBonusBps', 'eModeCategory', 'label', 'oracle']),
  type = 'CapChanged', [(concat(JSONExtractString(data, 'kind'), 'Cap'), JSONExtractRaw(data, 'cap'))],
  type = 'FeeChanged', [(concat(JSONExtractString(data, 'kind'), 'FeeWad'), JSONExtractRaw(data, 'feeWad'))],
  type = 'ReserveFlagChanged', [(JSONExtractString(data, 'flag'), if(JSONExtractBool(data, 'enabled'), '1', '0'))],
  type = 'OracleChanged', [('oracle', JSONExtractRaw(data, 'oracle'))],
  [('rateModel', JSONExtractRaw(data, 'model'))])) AS pair
WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
  AND type IN ('RiskParametersChanged', 'CapChanged', 'FeeChanged', 'ReserveFlagChanged', 'OracleChanged', 'RateModelChanged')
  AND (JSONHas(data, 'market') OR type = 'OracleChanged');
