-- What the data team asks of lending markets, in whole units and USD.
-- Whose asset it is: markets of Morpho Blue name theirs, a contract that is its own market lends its base asset (Comet) or the
-- asset of its shares (Euler), and elsewhere the market is the asset.
CREATE VIEW IF NOT EXISTS lending_events AS
SELECT acts.chain_id AS chain_id, acts.protocol AS protocol, acts.account AS account, acts.contract AS contract, acts.market AS market, acts.timestamp AS timestamp,
  acts.block_number AS block_number, acts.event_type AS event_type, acts.side AS side,
  if(event_type != 'liquidation', '', if(acts.part = 1 OR side = 'collateral', 'seized', 'repaid')) AS leg,
  liquidations.liquidator AS liquidator, acts.asset AS asset, told.symbol AS asset_symbol,
  if(told.asset = '', NULL, toFloat64(acts.assets) / pow(10., told.decimals)) AS amount,
  amount * if(acts.timestamp <= prices.until, prices.price_usd, NULL) AS amount_usd,
  acts.assets AS amount_raw, acts.tx_hash AS tx_hash, acts.log_index AS log_index
FROM (
  SELECT e.chain_id AS chain_id, e.protocol AS protocol, e.account AS account, e.contract AS contract, e.market AS market, e.side AS side, e.timestamp AS timestamp,
    e.position AS position, e.block_number AS block_number, e.event_type AS event_type, e.assets AS assets, e.tx_hash AS tx_hash,
    e.log_index AS log_index, e.part AS part,
    multiIf(m.market != '', if(e.side = 'loan', m.loan_asset, m.collateral_asset), e.contract != e.market, e.market,
    c.base_asset != '', c.base_asset, v.asset) AS asset
  FROM (SELECT * FROM lending_event FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)) AS e
  ANY LEFT JOIN (SELECT chain_id, market, loan_asset, ifNull(collateral_asset, '') AS collateral_asset FROM morpho_market WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)) AS m
    ON e.chain_id = m.chain_id AND e.market = m.market
  ANY LEFT JOIN (SELECT chain_id, comet, base_asset FROM comet_market WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)) AS c ON e.chain_id = c.chain_id AND e.market = c.comet
  ANY LEFT JOIN (SELECT chain_id, vault, asset FROM vault WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)) AS v ON e.chain_id = v.chain_id AND e.market = v.vault
) AS acts
ANY LEFT JOIN (
  SELECT toUInt32(stream) AS chain_id, position, concat(JSONExtractString(data, 'liquidator'), JSONExtractString(data, 'absorber')) AS liquidator
  FROM event WHERE type IN ('Liquidated', 'DebtAbsorbed', 'CollateralAbsorbed')
) AS liquidations ON acts.chain_id = liquidations.chain_id AND acts.position = liquidations.position
LEFT JOIN assets AS told ON acts.chain_id = told.chain_id AND acts.asset = told.asset
ASOF LEFT JOIN asset_price_spans AS prices ON acts.chain_id = prices.chain_id AND acts.asset = prices.asset AND acts.timestamp >= prices.since
COMMENT 'Grain: one row per asset that an account moved in a lending market: a liquidation has one for what was repaid and one for what was seized.';
ALTER TABLE lending_events
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'slug of the protocol, e.g. aave-v3',
  COMMENT COLUMN account 'whose position it is, of a liquidation the borrower: address in lower case',
  COMMENT COLUMN contract 'address of the pool, Morpho, Comet or vault that lends, lower case',
  COMMENT COLUMN market 'market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet (or the collateral asset) of Compound v3, the vault of Euler v2',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN event_type 'supply, withdraw, borrow, repay, liquidation',
  COMMENT COLUMN side 'loan: what is lent and borrowed (of Aave v3 all assets are); collateral: what only secures',
  COMMENT COLUMN leg 'of a liquidation: repaid or seized; empty otherwise',
  COMMENT COLUMN liquidator 'who liquidated, address in lower case; empty: no liquidation',
  COMMENT COLUMN asset 'address of the asset that moved, lower case',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN amount 'whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN amount_usd 'USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN amount_raw 'base units of the asset',
  COMMENT COLUMN tx_hash 'hash of the transaction',
  COMMENT COLUMN log_index 'place of the log in its block';

-- Rates at each state: of Aave as its pool says, of Morpho Blue the model's of the last accrual, of Compound v3 its curves at the
-- utilization of the row.
CREATE VIEW IF NOT EXISTS lending_rates AS
SELECT states.chain_id AS chain_id, states.protocol AS protocol, states.contract AS contract, states.market AS market, states.asset AS asset,
  told.symbol AS asset_symbol, states.timestamp AS timestamp, states.block_number AS block_number,
  if(told.asset = '', NULL, toFloat64(states.supplied) / pow(10., told.decimals)) AS supplied,
  if(told.asset = '', NULL, toFloat64(states.borrowed) / pow(10., told.decimals)) AS borrowed,
  supplied * if(states.timestamp <= prices.until, prices.price_usd, NULL) AS supplied_usd,
  borrowed * if(states.timestamp <= prices.until, prices.price_usd, NULL) AS borrowed_usd, states.utilization AS utilization,
  multiIf(protocol = 'aave-v3', aave.supply_rate, protocol = 'morpho-blue', morpho.borrow_rate * utilization * (1 - morpho.fee),
    empty(curves.supply), NULL,
    curves.supply[1] + curves.supply[2] * least(utilization, curves.supply[4]) + curves.supply[3] * greatest(utilization - curves.supply[4], 0.)) AS supply_rate,
  multiIf(protocol = 'aave-v3', aave.borrow_rate, protocol = 'morpho-blue', morpho.borrow_rate,
    empty(curves.borrow), NULL,
    curves.borrow[1] + curves.borrow[2] * least(utilization, curves.borrow[4]) + curves.borrow[3] * greatest(utilization - curves.borrow[4], 0.)) AS borrow_rate,
  states.supplied AS supplied_raw, states.borrowed AS borrowed_raw, states.position AS position
FROM lending_utilization AS states
ANY LEFT JOIN (
  SELECT chain_id, position, toNullable(toFloat64(liquidity_rate) / 1e27) AS supply_rate, toNullable(toFloat64(variable_borrow_rate) / 1e27) AS borrow_rate
  FROM aave_index
) AS aave ON states.chain_id = aave.chain_id AND states.position = aave.position
ANY LEFT JOIN (
  SELECT chain_id, position, 31536000 * toFloat64(borrow_rate_wad) / 1e18 AS borrow_rate, toFloat64(fee_wad) / 1e18 AS fee FROM morpho_state
) AS morpho ON states.chain_id = morpho.chain_id AND states.position = morpho.position
ASOF LEFT JOIN (
  SELECT chain_id, toString(comet) AS market, block_number,
    arrayMap((x, i) -> toFloat64(x) / 1e18 * if(i = 4, 1, 31536000), [supply_rate_base_wad, supply_rate_slope_low_wad, supply_rate_slope_high_wad, supply_kink_wad], [1, 2, 3, 4]) AS supply,
    arrayMap((x, i) -> toFloat64(x) / 1e18 * if(i = 4, 1, 31536000), [borrow_rate_base_wad, borrow_rate_slope_low_wad, borrow_rate_slope_high_wad, borrow_kink_wad], [1, 2, 3, 4]) AS borrow
  FROM comet_market WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS curves ON states.chain_id = curves.chain_id AND states.market = curves.market AND states.block_number >= curves.block_number
LEFT JOIN assets AS told ON states.chain_id = told.chain_id AND states.asset = told.asset
ASOF LEFT JOIN asset_price_spans AS prices ON states.chain_id = prices.chain_id AND states.asset = prices.asset AND states.timestamp >= prices.since
COMMENT 'Grain: one row per state that a lending market left (`lending_utilization`), in whole units, with USD and rates. Rates are simple ones per year,
before compounding: a fraction of 0.05 is 5 %.';
ALTER TABLE lending_rates
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'aave-v3, morpho-blue or compound-v3',
  COMMENT COLUMN contract 'address of the pool, Morpho or Comet, lower case',
  COMMENT COLUMN market 'market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3',
  COMMENT COLUMN asset 'address of what is lent, lower case',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN supplied 'lent to the market, whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN borrowed 'owed to the market, whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN supplied_usd 'lent to the market, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN borrowed_usd 'owed to the market, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN utilization 'borrowed over supplied, a fraction; 0 where nothing is supplied',
  COMMENT COLUMN supply_rate 'what lenders earn, fraction per year; NULL: not known',
  COMMENT COLUMN borrow_rate 'what borrowers pay, fraction per year; NULL: not known',
  COMMENT COLUMN supplied_raw 'lent to the market, base units of the asset',
  COMMENT COLUMN borrowed_raw 'owed to the market, base units of the asset',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';
