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

-- A token that was listed again keeps one row.
CREATE VIEW IF NOT EXISTS aave_tokens AS
SELECT DISTINCT chain_id, part.1 AS token, part.2 AS owed, pool, asset
FROM (
  SELECT chain_id, a_token, pool, asset FROM aave_token WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS listed
INNER JOIN (
  SELECT chain_id, a_token, variable_debt_token FROM aave_reserve WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS reserves ON listed.chain_id = reserves.chain_id AND listed.a_token = reserves.a_token
ARRAY JOIN [(listed.a_token, 0), (reserves.variable_debt_token, 1)] AS part
COMMENT 'Grain: one row per aToken and variable debt token of Aave v3.';
ALTER TABLE aave_tokens
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN token 'address of the token, lower case',
  COMMENT COLUMN owed '1: it counts what is owed; 0: what is lent',
  COMMENT COLUMN pool 'address of the pool, lower case',
  COMMENT COLUMN asset 'address of the asset of the reserve, lower case';

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
