-- What the data team asks of lending markets, as 0120 has it for vaults: markets now and by the hour, positions at a moment,
-- liquidations.
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
