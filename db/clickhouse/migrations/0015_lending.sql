-- What accounts did in lending markets, by account: one row per asset that moved, so that a liquidation has two.
-- side: 'loan' is what is lent and borrowed, 'collateral' what only secures (Aave has one kind of asset, always 'loan').
-- market: where a market has several assets of a side, the asset (Aave; collateral of Compound v3).
CREATE TABLE IF NOT EXISTS lending_event (
  chain_id UInt32 COMMENT 'chain, by its id',
  protocol LowCardinality(String) COMMENT 'slug of the protocol, e.g. aave-v3',
  account String COMMENT 'address of the account, lower case' CODEC(ZSTD(1)),
  contract LowCardinality(String) COMMENT 'address of the pool, Morpho, Comet or lending vault, lower case',
  market String COMMENT 'market: bytes32 id of Morpho Blue, the asset of Aave v3; of Compound v3 the Comet, or the asset where it is collateral; of Euler the vault' CODEC(ZSTD(1)),
  side LowCardinality(String) COMMENT 'loan: what is lent and borrowed; collateral: what only secures',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  event_type LowCardinality(String) COMMENT 'supply, withdraw, borrow, repay, liquidation',
  assets UInt256 COMMENT 'base units of the asset' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block',
  part UInt8 COMMENT 'of the event: 1 is what a liquidation took, which may be of the asset that it repaid'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, account, contract, market, side, timestamp, position, part)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What accounts did in lending markets, by account: one row per asset that moved, so that a liquidation has two. side: ''loan'' is what is lent and borrowed, ''collateral'' what only secures (Aave has one kind of asset, always ''loan''). market: where a market has several assets of a side, the asset (Aave; collateral of Compound v3). Ordered by (chain_id, account, contract, market, side, timestamp, position, part).';

CREATE VIEW IF NOT EXISTS internal.lending_event_rows AS
SELECT toUInt32(stream) AS chain_id, protocol, account, contract, moved.1 AS market, moved.2 AS side, timestamp, position, block_number,
  multiIf(type IN ('Supplied', 'CollateralSupplied'), 'supply', type IN ('Withdrawn', 'CollateralWithdrawn'), 'withdraw',
    type = 'Borrowed', 'borrow', type = 'Repaid', 'repay', 'liquidation') AS event_type,
  toUInt256OrZero(moved.3) AS assets, tx_hash, log_index, toUInt8(moved.4) AS part
FROM (
  SELECT stream, protocol, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(market String, onBehalf String, borrower String, asset String, assets String, repaidAssets String, seizedAssets String, collateralMarket String)') AS fields,
    if(type IN ('Liquidated', 'DebtAbsorbed', 'CollateralAbsorbed'), fields.borrower, fields.onBehalf) AS account
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('Supplied', 'Withdrawn', 'CollateralSupplied', 'CollateralWithdrawn', 'Borrowed', 'Repaid', 'Liquidated',
      'DebtAbsorbed', 'CollateralAbsorbed')
)
ARRAY JOIN multiIf(
  type = 'Liquidated', [(fields.market, 'loan', fields.repaidAssets, 0),
    if(fields.collateralMarket = '', (fields.market, 'collateral', fields.seizedAssets, 1), (fields.collateralMarket, 'loan', fields.seizedAssets, 1))],
  [(if(fields.asset = '', fields.market, fields.asset),
    if(type IN ('CollateralSupplied', 'CollateralWithdrawn', 'CollateralAbsorbed'), 'collateral', 'loan'), fields.assets, 0)]) AS moved;

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

-- What share of what is lent was owed, at each state that lending markets left: reserves of Aave v3, markets of Morpho
-- Blue, base assets of Compound v3. Amounts are as of the row's own moment, interest included up to it.
CREATE VIEW IF NOT EXISTS lending_utilization AS
SELECT chain_id, protocol, contract, market, asset, timestamp, position, block_number, supplied, borrowed,
  if(supplied = 0, 0, toFloat64(borrowed) / toFloat64(supplied)) AS utilization
FROM (
  SELECT chain_id, 'morpho-blue' AS protocol, morpho AS contract, market, m.loan_asset AS asset, timestamp, position, block_number,
    toUInt256(supply_assets) AS supplied, toUInt256(borrow_assets) AS borrowed
  FROM morpho_state AS s
  ANY LEFT JOIN (SELECT chain_id, market, loan_asset FROM morpho_market) AS m ON s.chain_id = m.chain_id AND s.market = m.market
  UNION ALL
  SELECT chain_id, 'compound-v3' AS protocol, comet AS contract, comet AS market, c.base_asset AS asset, timestamp, position,
    block_number, intDiv(supply_principal * supply_index, toUInt256(1000000000000000)) AS supplied,
    intDiv(borrow_principal * borrow_index, toUInt256(1000000000000000)) AS borrowed
  FROM comet_state AS s
  ANY LEFT JOIN (SELECT chain_id, comet, base_asset FROM comet_market) AS c ON s.chain_id = c.chain_id AND s.comet = c.comet
  UNION ALL
  SELECT i.chain_id AS chain_id, 'aave-v3' AS protocol, i.pool AS contract, i.asset AS market, i.asset AS asset, i.timestamp AS timestamp,
    i.position AS position, i.block_number AS block_number,
    intDiv(toUInt256(s.scaled) * i.liquidity_index + toUInt256('500000000000000000000000000'), toUInt256('1000000000000000000000000000')) AS supplied,
    intDiv(toUInt256(b.scaled) * i.variable_borrow_index + toUInt256('500000000000000000000000000'), toUInt256('1000000000000000000000000000')) AS borrowed
  FROM (
    SELECT chain_id, pool, asset, timestamp, position, block_number, liquidity_index, variable_borrow_index, a_token, variable_debt_token
    FROM aave_index AS x
    INNER JOIN (SELECT DISTINCT chain_id, pool, asset, a_token, r.variable_debt_token AS variable_debt_token
      FROM aave_token AS t INNER JOIN (SELECT DISTINCT chain_id, a_token, variable_debt_token FROM aave_reserve) AS r
        ON t.chain_id = r.chain_id AND t.a_token = r.a_token) AS n
      ON x.chain_id = n.chain_id AND x.pool = n.pool AND x.asset = n.asset
  ) AS i
  -- The log of the rates comes before those of the tokens: totals are those at the end of the block.
  ASOF LEFT JOIN (SELECT chain_id, token, block_number, argMax(scaled, position) AS scaled FROM aave_total
    WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
    GROUP BY chain_id, token, block_number) AS s
    ON i.chain_id = s.chain_id AND i.a_token = s.token AND i.block_number >= s.block_number
  ASOF LEFT JOIN (SELECT chain_id, token, block_number, argMax(scaled, position) AS scaled FROM aave_total
    WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
    GROUP BY chain_id, token, block_number) AS b
    ON i.chain_id = b.chain_id AND i.variable_debt_token = b.token AND i.block_number >= b.block_number
)
WHERE (chain_id, position) NOT IN (SELECT toUInt32(stream), position FROM retracted)
COMMENT 'What share of what is lent was owed, at each state that lending markets left: reserves of Aave v3, markets of Morpho Blue, base assets of Compound v3. Amounts are as of the row''s own moment, interest included up to it. What was retracted is left out.';
ALTER TABLE lending_utilization
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'aave-v3, morpho-blue or compound-v3',
  COMMENT COLUMN contract 'address of the pool, Morpho or Comet, lower case',
  COMMENT COLUMN market 'market id: bytes32 for Morpho Blue, the asset for Aave, the Comet for Compound v3',
  COMMENT COLUMN asset 'address of what is lent, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN supplied 'lent to the market, base units of the asset',
  COMMENT COLUMN borrowed 'owed to the market, base units of the asset',
  COMMENT COLUMN utilization 'borrowed over supplied, a fraction; 0 where nothing is supplied';
