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

CREATE VIEW IF NOT EXISTS evk_rates AS
SELECT states.chain_id AS chain_id, 'euler-v2' AS protocol, states.vault AS contract, toString(states.vault) AS market, known.asset AS asset,
  told.symbol AS asset_symbol, states.timestamp AS timestamp, states.block_number AS block_number,
  if(told.asset = '', NULL, toFloat64(supplied_raw) / pow(10., told.decimals)) AS supplied,
  if(told.asset = '', NULL, toFloat64(borrowed_raw) / pow(10., told.decimals)) AS borrowed,
  supplied * if(states.timestamp <= prices.until, prices.price_usd, NULL) AS supplied_usd,
  borrowed * if(states.timestamp <= prices.until, prices.price_usd, NULL) AS borrowed_usd,
  if(supplied_raw = 0, 0., toFloat64(borrowed_raw) / toFloat64(supplied_raw)) AS utilization,
  borrow_rate * utilization * (1 - if(fees.value IS NULL, 0.1, toFloat64(fees.value) / 1e18)) AS supply_rate,
  toNullable(31536000 * toFloat64(states.interest_rate_ray) / 1e27) AS borrow_rate,
  states.cash + states.total_borrows AS supplied_raw, states.total_borrows AS borrowed_raw, states.position AS position
FROM (
  SELECT * FROM evk_status FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS states
ANY LEFT JOIN (
  SELECT chain_id, vault, asset FROM vault WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS known ON states.chain_id = known.chain_id AND states.vault = known.vault
ASOF LEFT JOIN (
  SELECT chain_id, vault, position, value FROM vault_setting
  WHERE setting = 'fee:reserve' AND market = '' AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS fees ON states.chain_id = fees.chain_id AND states.vault = fees.vault AND states.position >= fees.position
LEFT JOIN assets AS told ON states.chain_id = told.chain_id AND known.asset = told.asset
ASOF LEFT JOIN asset_price_spans AS prices ON states.chain_id = prices.chain_id AND known.asset = prices.asset AND states.timestamp >= prices.since
COMMENT 'Grain: one row per state that a lending vault of Euler v2 left, with the columns of `lending_rates`. A tenth of the interest is
the vault''s fee until it says otherwise.';
ALTER TABLE evk_rates
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'slug of the protocol: euler-v2',
  COMMENT COLUMN contract 'address of the vault, lower case',
  COMMENT COLUMN market 'the same: a vault is one market',
  COMMENT COLUMN asset 'address of what is lent, lower case; empty: the vault is not described yet',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN supplied 'lent to the vault, whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN borrowed 'owed to the vault, whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN supplied_usd 'lent to the vault, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN borrowed_usd 'owed to the vault, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN utilization 'borrowed over supplied, a fraction; 0 where nothing is supplied',
  COMMENT COLUMN supply_rate 'what lenders earn, fraction per year before compounding',
  COMMENT COLUMN borrow_rate 'what borrowers pay, fraction per year before compounding',
  COMMENT COLUMN supplied_raw 'lent to the vault, base units of the asset',
  COMMENT COLUMN borrowed_raw 'owed to the vault, base units of the asset',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

CREATE VIEW IF NOT EXISTS lending_market_hourly AS
SELECT chain_id, protocol, contract, market, toStartOfHour(timestamp) AS hour, timestamp, block_number, asset, asset_symbol, supplied, borrowed,
  supplied_usd, borrowed_usd, utilization, supply_rate, borrow_rate, supplied_raw, borrowed_raw, position
FROM (SELECT * FROM lending_rates UNION ALL SELECT * FROM evk_rates)
ORDER BY position DESC
LIMIT 1 BY chain_id, contract, market, hour
COMMENT 'Grain: one row per lending market and hour in which its state changed, with the last state of that hour; an hour without a row is like the one
before it. Amounts have the interest that the market itself had counted by then; rates are simple ones per year, before compounding.';
ALTER TABLE lending_market_hourly
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'slug of the protocol: aave-v3, morpho-blue, compound-v3 or euler-v2',
  COMMENT COLUMN contract 'address of the pool, Morpho, Comet or vault that lends, lower case',
  COMMENT COLUMN market 'market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3, the vault of Euler v2',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN timestamp 'time of the block that left the state, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN asset 'address of what is lent, lower case',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
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

CREATE VIEW IF NOT EXISTS lending_markets AS
SELECT newest.chain_id AS chain_id, newest.protocol AS protocol, newest.contract AS contract, newest.market AS market, newest.asset AS asset,
  newest.asset_symbol AS asset_symbol, pairs.collateral_asset AS collateral_asset, told.symbol AS collateral_symbol,
  if(pairs.market = '', NULL, toFloat64(pairs.lltv_wad) / 1e18) AS lltv, newest.timestamp AS updated_at, newest.block_number AS block_number,
  newest.supplied AS supplied, newest.borrowed AS borrowed, newest.supplied_usd AS supplied_usd, newest.borrowed_usd AS borrowed_usd,
  newest.utilization AS utilization, newest.supply_rate AS supply_rate, newest.borrow_rate AS borrow_rate,
  newest.supplied_raw AS supplied_raw, newest.borrowed_raw AS borrowed_raw
FROM (
  SELECT * FROM (SELECT * FROM lending_rates UNION ALL SELECT * FROM evk_rates)
  ORDER BY position DESC
  LIMIT 1 BY chain_id, contract, market
) AS newest
ANY LEFT JOIN (
  SELECT chain_id, market, ifNull(collateral_asset, '') AS collateral_asset, lltv_wad FROM morpho_market
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS pairs ON newest.chain_id = pairs.chain_id AND newest.market = pairs.market
LEFT JOIN assets AS told ON newest.chain_id = told.chain_id AND pairs.collateral_asset = told.asset
COMMENT 'Grain: one row per lending market as its newest state left it. Amounts have the interest that the market itself had counted by then; rates are
simple ones per year, before compounding. What else secures debts of a market is told by `comet_asset` and `evk_ltv`.';
ALTER TABLE lending_markets
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'slug of the protocol: aave-v3, morpho-blue, compound-v3 or euler-v2',
  COMMENT COLUMN contract 'address of the pool, Morpho, Comet or vault that lends, lower case',
  COMMENT COLUMN market 'market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3, the vault of Euler v2',
  COMMENT COLUMN asset 'address of what is lent, lower case',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN collateral_asset 'of Morpho Blue: address of what secures, lower case; empty: nothing, or several assets do',
  COMMENT COLUMN collateral_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN lltv 'of Morpho Blue: loan-to-value from which a debt can be liquidated, a fraction; NULL: it depends on the collateral',
  COMMENT COLUMN updated_at 'time of the block that left the state, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN supplied 'lent to the market, whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN borrowed 'owed to the market, whole units of the asset; NULL: its decimals are not known',
  COMMENT COLUMN supplied_usd 'lent to the market, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN borrowed_usd 'owed to the market, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN utilization 'borrowed over supplied, a fraction; 0 where nothing is supplied',
  COMMENT COLUMN supply_rate 'what lenders earn, fraction per year; NULL: not known',
  COMMENT COLUMN borrow_rate 'what borrowers pay, fraction per year; NULL: not known',
  COMMENT COLUMN supplied_raw 'lent to the market, base units of the asset',
  COMMENT COLUMN borrowed_raw 'owed to the market, base units of the asset';

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

-- Comet tells of an absorbed debt and of each collateral by logs of their own: what one transaction took from one account of
-- it is one liquidation. Elsewhere each log is one.
CREATE VIEW IF NOT EXISTS liquidations AS
SELECT e.chain_id AS chain_id, e.protocol AS protocol, e.contract AS contract, e.account AS account, any(e.liquidator) AS liquidator,
  any(e.timestamp) AS timestamp, any(e.block_number) AS block_number, anyIf(e.market, e.leg = 'repaid') AS market,
  anyIf(e.asset, e.leg = 'repaid') AS asset, anyIf(e.asset_symbol, e.leg = 'repaid') AS asset_symbol, sumIf(e.amount, e.leg = 'repaid') AS repaid,
  if(countIf(e.leg = 'repaid' AND e.amount_usd IS NULL) > 0, NULL, sumIf(e.amount_usd, e.leg = 'repaid')) AS repaid_usd,
  groupArrayIf(e.asset, e.leg = 'seized') AS seized_assets, groupArrayIf(e.asset_symbol, e.leg = 'seized') AS seized_symbols,
  groupArrayIf(ifNull(e.amount, nan), e.leg = 'seized') AS seized,
  if(countIf(e.leg = 'seized' AND e.amount_usd IS NULL) > 0, NULL, sumIf(e.amount_usd, e.leg = 'seized')) AS seized_usd,
  sumIf(e.amount_raw, e.leg = 'repaid') AS repaid_raw, groupArrayIf(e.amount_raw, e.leg = 'seized') AS seized_raw, e.tx_hash AS tx_hash,
  min(e.log_index) AS log_index
FROM (SELECT *, if(protocol = 'compound-v3', 0, log_index) AS log FROM lending_events WHERE event_type = 'liquidation') AS e
GROUP BY e.chain_id, e.protocol, e.contract, e.account, e.tx_hash, e.log
COMMENT 'Grain: one row per liquidation; of Compound v3, what one transaction absorbed of one account. Arrays have one element per asset that was
seized, in the same order.';
ALTER TABLE liquidations
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN protocol 'slug of the protocol: aave-v3, morpho-blue, compound-v3 or euler-v2',
  COMMENT COLUMN contract 'address of the pool, Morpho, Comet or vault that lent, lower case',
  COMMENT COLUMN account 'who had borrowed, address in lower case',
  COMMENT COLUMN liquidator 'who liquidated, address in lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN market 'market of the debt: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3, the vault of Euler v2; empty: no debt was told of',
  COMMENT COLUMN asset 'address of the asset that was owed, lower case; empty: no debt was told of',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN repaid 'debt that was repaid, or absorbed by Comet: whole units; NULL: its decimals are not known, or no debt was told of',
  COMMENT COLUMN repaid_usd 'the same, USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN seized_assets 'addresses of the assets that were seized, lower case; of Euler v2 the assets of the vaults whose shares were',
  COMMENT COLUMN seized_symbols 'their symbols, as they say themselves; empty: not known',
  COMMENT COLUMN seized 'whole units of each; nan: its decimals are not known',
  COMMENT COLUMN seized_usd 'all of it together, USD at the prices of that moment; NULL: one of them is unknown',
  COMMENT COLUMN repaid_raw 'debt that was repaid, base units',
  COMMENT COLUMN seized_raw 'base units of each asset that was seized',
  COMMENT COLUMN tx_hash 'hash of the transaction',
  COMMENT COLUMN log_index 'place of the log in its block, of several the first';

-- What accounts had lent, owed and pledged at a moment: a view for each protocol's way of keeping it, and all together.
CREATE VIEW IF NOT EXISTS morpho_positions_at AS
SELECT held.chain_id AS chain_id, 'morpho-blue' AS protocol, held.account AS account, held.morpho AS contract, held.market AS market,
  part.1 AS side, part.2 AS asset, part.3 AS supplied_raw, part.4 AS borrowed_raw
FROM (
  SELECT chain_id, morpho, account, market, max((position, supply_shares, borrow_shares, collateral)) AS last
  FROM morpho_position
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, morpho, account, market
) AS held
INNER JOIN (
  SELECT chain_id, market, max((position, supply_assets, supply_shares, borrow_assets, borrow_shares)) AS last
  FROM morpho_state
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, market
) AS total ON held.chain_id = total.chain_id AND held.market = total.market
ANY LEFT JOIN (
  SELECT chain_id, market, loan_asset, ifNull(collateral_asset, '') AS collateral_asset FROM morpho_market
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS pairs ON held.chain_id = pairs.chain_id AND held.market = pairs.market
-- SharesMathLib.sol: a virtual asset and a million virtual shares; what is owed is rounded up.
ARRAY JOIN [
  ('loan', pairs.loan_asset, toUInt256(intDiv(held.last.2 * (total.last.2 + 1), total.last.3 + 1000000)),
    toUInt256(intDiv(held.last.3 * (total.last.4 + 1) + total.last.5 + 999999, total.last.5 + 1000000))),
  ('collateral', pairs.collateral_asset, toUInt256(held.last.4), toUInt256(0))] AS part
WHERE part.3 != 0 OR part.4 != 0
COMMENT 'Grain: one row per account, market of Morpho Blue and side with an amount at `at` (DateTime, UTC); interest is counted up to the market''s
last event before it.

`chain_id`: chain, by its id
`protocol`: slug of the protocol: morpho-blue
`account`: whose position it is, address in lower case
`contract`: address of the Morpho contract, lower case
`market`: market id, bytes32
`side`: loan: what is lent and borrowed; collateral: what only secures
`asset`: address of the asset, lower case
`supplied_raw`: lent or pledged, base units of the asset
`borrowed_raw`: what is owed, base units of the asset';

CREATE VIEW IF NOT EXISTS comet_positions_at AS
SELECT held.chain_id AS chain_id, 'compound-v3' AS protocol, held.account AS account, held.comet AS contract, toString(held.comet) AS market,
  'loan' AS side, pairs.base_asset AS asset,
  toUInt256(intDiv(greatest(held.last.2, toInt256(0)) * toInt256(total.last.2), 1000000000000000)) AS supplied_raw,
  toUInt256(intDiv(greatest(-held.last.2, toInt256(0)) * toInt256(total.last.3), 1000000000000000)) AS borrowed_raw
FROM (
  SELECT chain_id, comet, account, max((position, principal)) AS last
  FROM comet_principal
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, comet, account
  HAVING last.2 != 0
) AS held
INNER JOIN (
  SELECT chain_id, comet, max((position, supply_index, borrow_index)) AS last
  FROM comet_state
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, comet
) AS total ON held.chain_id = total.chain_id AND held.comet = total.comet
ANY LEFT JOIN (
  SELECT chain_id, comet, base_asset FROM comet_market WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS pairs ON held.chain_id = pairs.chain_id AND held.comet = pairs.comet
UNION ALL
SELECT chain_id, 'compound-v3', account, comet, toString(comet), 'collateral', toString(asset), toUInt256(greatest(last.2, toInt256(0))), toUInt256(0)
FROM (
  SELECT chain_id, comet, account, asset, max((position, balance)) AS last
  FROM comet_collateral
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, comet, account, asset
  HAVING last.2 > 0
)
COMMENT 'Grain: one row per account, Comet and asset with an amount at `at` (DateTime, UTC); interest is counted up to the last state of the Comet
before it, an hour old at most.

`chain_id`: chain, by its id
`protocol`: slug of the protocol: compound-v3
`account`: whose position it is, address in lower case
`contract`: address of the Comet, lower case
`market`: the same: a Comet is one market
`side`: loan: the base asset; collateral: what only secures
`asset`: address of the asset, lower case
`supplied_raw`: lent or pledged, base units of the asset
`borrowed_raw`: what is owed, base units of the asset';

-- Whichever way the version of the pool's code rounds (aave_revision).
CREATE VIEW IF NOT EXISTS aave_positions_at AS
WITH toInt256('1000000000000000000000000000') AS ray, toInt256('500000000000000000000000000') AS half
SELECT held.chain_id AS chain_id, 'aave-v3' AS protocol, held.account AS account, tokens.pool AS contract, tokens.asset AS market, 'loan' AS side,
  tokens.asset AS asset,
  toUInt256(sum(if(tokens.owed = 1, toInt256(0), intDiv(held.last.2 * toInt256(state.last.2) + if(code.revision >= 9, toInt256(0), half), ray)))) AS supplied_raw,
  toUInt256(sum(if(tokens.owed = 1, intDiv(held.last.2 * toInt256(state.last.3) + if(code.revision >= 9, ray - 1, half), ray), toInt256(0)))) AS borrowed_raw
FROM (
  SELECT chain_id, token, account, max((position, scaled)) AS last
  FROM aave_balance
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, token, account
  HAVING last.2 > 0
) AS held
INNER JOIN aave_tokens AS tokens ON held.chain_id = tokens.chain_id AND held.token = tokens.token
INNER JOIN (
  SELECT chain_id, pool, asset, max((position, liquidity_index, variable_borrow_index)) AS last
  FROM aave_index
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, pool, asset
) AS state ON held.chain_id = state.chain_id AND tokens.pool = state.pool AND tokens.asset = state.asset
LEFT JOIN (
  SELECT chain_id, token, argMax(revision, position) AS revision
  FROM aave_revision
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, token
) AS code ON held.chain_id = code.chain_id AND held.token = code.token
GROUP BY chain_id, account, contract, asset
COMMENT 'Grain: one row per account, pool of Aave v3 and asset with an amount at `at` (DateTime, UTC); interest is counted up to the last update of the
reserve before it. Which of it secures debts is told by `aave_choice`.

`chain_id`: chain, by its id
`protocol`: slug of the protocol: aave-v3
`account`: whose position it is, address in lower case
`contract`: address of the pool, lower case
`market`: the asset
`side`: loan: all assets of Aave are lent
`asset`: address of the asset, lower case
`supplied_raw`: lent, base units of the asset
`borrowed_raw`: what is owed at the variable rate, base units of the asset';

CREATE VIEW IF NOT EXISTS evk_positions_at AS
SELECT held.chain_id AS chain_id, 'euler-v2' AS protocol, held.account AS account, held.vault AS contract, toString(held.vault) AS market,
  'loan' AS side, known.asset AS asset,
  toUInt256(sum(intDiv(held.shares * toInt256(state.last.2 + state.last.3 + 1000000), toInt256(state.last.4 + 1000000)))) AS supplied_raw,
  toUInt256(sum(if(held.owed = 0, toUInt256(0), intDiv(intDiv(held.owed * state.last.5, held.accumulator) + 2147483647, 2147483648)))) AS borrowed_raw
FROM (
  SELECT chain_id, vault, holder AS account, argMax(balance, position) AS shares, toUInt256(0) AS owed, toUInt256(1) AS accumulator
  FROM balance
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    AND (chain_id, vault) IN (SELECT chain_id, vault FROM evk_status)
  GROUP BY chain_id, vault, holder
  HAVING shares > 0
  UNION ALL
  SELECT chain_id, vault, account, toInt256(0), argMax(owed, position) AS debt, argMax(accumulator_ray, position)
  FROM evk_debt
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, vault, account
  HAVING debt > 0
) AS held
INNER JOIN (
  SELECT chain_id, vault, max((position, cash, total_borrows, total_shares, accumulator_ray)) AS last
  FROM evk_status
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, vault
) AS state ON held.chain_id = state.chain_id AND held.vault = state.vault
ANY LEFT JOIN (
  SELECT chain_id, vault, asset FROM vault WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS known ON held.chain_id = known.chain_id AND held.vault = known.vault
GROUP BY chain_id, account, contract, asset
COMMENT 'Grain: one row per account and lending vault of Euler v2 with an amount at `at` (DateTime, UTC); interest is counted up to the vault''s last act
before it. Which vaults'' shares secure the debts of an account is told by `evk_enabled`.

`chain_id`: chain, by its id
`protocol`: slug of the protocol: euler-v2
`account`: whose position it is, one of the 256 of a wallet (`evk_owner`): address in lower case
`contract`: address of the vault, lower case
`market`: the same: a vault is one market
`side`: loan: shares of a vault are lent, whatever they secure
`asset`: address of the asset of the vault, lower case; empty: the vault is not described yet
`supplied_raw`: what the shares are worth, base units of the asset
`borrowed_raw`: what is owed, base units of the asset';

CREATE VIEW IF NOT EXISTS lending_positions_at AS
SELECT held.chain_id AS chain_id, held.protocol AS protocol, held.account AS account, held.contract AS contract, held.market AS market, held.side AS side,
  held.asset AS asset, told.symbol AS asset_symbol,
  if(told.asset = '', NULL, toFloat64(held.supplied_raw) / pow(10., told.decimals)) AS supplied,
  if(told.asset = '', NULL, toFloat64(held.borrowed_raw) / pow(10., told.decimals)) AS borrowed,
  supplied * prices.price_usd AS supplied_usd, borrowed * prices.price_usd AS borrowed_usd, held.supplied_raw AS supplied_raw, held.borrowed_raw AS borrowed_raw
FROM (
  SELECT * FROM morpho_positions_at(at = {at:DateTime('UTC')})
  UNION ALL SELECT * FROM comet_positions_at(at = {at:DateTime('UTC')})
  UNION ALL SELECT * FROM aave_positions_at(at = {at:DateTime('UTC')})
  UNION ALL SELECT * FROM evk_positions_at(at = {at:DateTime('UTC')})
) AS held
LEFT JOIN assets AS told ON held.chain_id = told.chain_id AND held.asset = told.asset
LEFT JOIN (
  SELECT chain_id, asset, if(max(tuple(since, until)).2 >= {at:DateTime('UTC')}, argMax(tuple(price_usd), since).1, NULL) AS price_usd
  FROM asset_price_spans WHERE since <= {at:DateTime('UTC')}
  GROUP BY chain_id, asset
) AS prices ON held.chain_id = prices.chain_id AND held.asset = prices.asset
COMMENT 'Grain: one row per account, market, side and asset with an amount at `at` (DateTime, UTC), of all lending protocols; interest is counted up to the
last state of the market before it.

`chain_id`: chain, by its id
`protocol`: slug of the protocol: aave-v3, morpho-blue, compound-v3 or euler-v2
`account`: whose position it is, address in lower case
`contract`: address of the pool, Morpho, Comet or vault that lends, lower case
`market`: market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3, the vault of Euler v2
`side`: loan: what is lent and borrowed; collateral: what only secures
`asset`: address of the asset, lower case
`asset_symbol`: its symbol, as it says itself; empty: not known
`supplied`: lent or pledged, whole units; NULL: its decimals are not known
`borrowed`: what is owed, whole units; NULL: its decimals are not known
`supplied_usd`: the same in USD at the price of that moment; NULL: unknown
`borrowed_usd`: the same in USD at the price of that moment; NULL: unknown
`supplied_raw`: lent or pledged, base units of the asset
`borrowed_raw`: what is owed, base units of the asset';
