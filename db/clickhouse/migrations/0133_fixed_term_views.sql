-- What every state of a fixed-term market is worth, in whole units of its asset.
CREATE VIEW IF NOT EXISTS fixed_term_figures AS
SELECT s.chain_id AS chain_id, s.market AS market, s.timestamp AS timestamp, s.block_number AS block_number,
  if(s.total_lp = 0, NULL, exp(toFloat64(s.ln_rate_wad) / 1e18) - 1) AS implied_apy,
  if(s.timestamp >= m.expires_at, 1., exp(-toFloat64(s.ln_rate_wad) / 1e18 * dateDiff('second', s.timestamp, m.expires_at) / 31536000))
    * least(1., ifNull(toFloat64(s.exchange_rate) / toFloat64(s.py_index), 1.)) AS pt_price,
  toFloat64(s.exchange_rate) / 1e18 AS rate,
  (toFloat64(s.total_sy) * rate + toFloat64(s.total_pt) * pt_price) / pow(10., d.decimals) AS liquidity,
  liquidity + (toFloat64(s.pt_supply) - toFloat64(s.total_pt)) * pt_price / pow(10., d.decimals) AS tvl,
  toFloat64(s.oracle_rate_wad) / 1e18 AS oracle_pt_price, s.total_pt AS total_pt_raw, s.total_sy AS total_sy_raw, s.pt_supply AS pt_supply_raw,
  s.exchange_rate AS exchange_rate_raw, s.position AS position
FROM fixed_term_state AS s
INNER JOIN (
  SELECT chain_id, market, toDateTime(argMax(expiry, position), 'UTC') AS expires_at
  FROM fixed_term_market WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS m ON s.chain_id = m.chain_id AND s.market = m.market
INNER JOIN (
  SELECT chain_id, market, argMax(decimals, position) AS decimals
  FROM fixed_term_description WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS d ON s.chain_id = d.chain_id AND s.market = d.market
WHERE (s.chain_id, s.position) NOT IN (SELECT chain_id, position FROM retracted_row)
COMMENT 'Grain: one row per state of a fixed-term market (`fixed_term_state`), with what follows from it in whole units of the asset. What the SY says of its rate is its own word: see `standing` in `fixed_term_markets`.';
ALTER TABLE fixed_term_figures
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN implied_apy 'APY of holding a PT bought at the last trade''s rate until the expiry, a fraction (0.05 is 5 %); NULL: nothing was ever in the pool',
  COMMENT COLUMN pt_price 'what a PT is worth in the asset at that rate; 1 from the expiry on, less where the SY lost value',
  COMMENT COLUMN rate 'assets for an SY, base units for base units; NULL: the SY did not say',
  COMMENT COLUMN liquidity 'PT and SY in the pool, whole units of the asset; NULL: the rate is not known',
  COMMENT COLUMN tvl 'liquidity and the PT outside of the pool, whole units of the asset; NULL: not known',
  COMMENT COLUMN oracle_pt_price 'what the protocol''s own oracle said of pt_price; NULL: not read',
  COMMENT COLUMN total_pt_raw 'PT in the pool, base units',
  COMMENT COLUMN total_sy_raw 'SY in the pool, base units',
  COMMENT COLUMN pt_supply_raw 'all PT, base units; NULL: not read',
  COMMENT COLUMN exchange_rate_raw 'asset base units for an SY base unit, scaled by 1e18; NULL: the SY did not answer, or nonsense',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

-- The first state of each hour: a row never changes.
CREATE VIEW IF NOT EXISTS fixed_term_hourly AS
SELECT chain_id, market, toStartOfHour(timestamp) AS hour, timestamp, implied_apy, pt_price, liquidity, tvl, total_pt_raw, total_sy_raw,
  pt_supply_raw, exchange_rate_raw
FROM fixed_term_figures
ORDER BY chain_id, market, position
LIMIT 1 BY chain_id, market, toStartOfHour(timestamp)
COMMENT 'Grain: one row per fixed-term market and hour, its first state: implied APY, liquidity and TVL.';
ALTER TABLE fixed_term_hourly
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN timestamp 'time of the state''s block, UTC',
  COMMENT COLUMN implied_apy 'APY of holding a PT bought at the last trade''s rate until the expiry, a fraction (0.05 is 5 %); NULL: nothing was ever in the pool',
  COMMENT COLUMN pt_price 'what a PT is worth in the asset at that rate; 1 from the expiry on, less where the SY lost value',
  COMMENT COLUMN liquidity 'PT and SY in the pool, whole units of the asset; NULL: the rate is not known',
  COMMENT COLUMN tvl 'liquidity and the PT outside of the pool, whole units of the asset; NULL: not known',
  COMMENT COLUMN total_pt_raw 'PT in the pool, base units',
  COMMENT COLUMN total_sy_raw 'SY in the pool, base units',
  COMMENT COLUMN pt_supply_raw 'all PT, base units; NULL: not read',
  COMMENT COLUMN exchange_rate_raw 'asset base units for an SY base unit, scaled by 1e18; NULL: the SY did not answer, or nonsense';

CREATE VIEW IF NOT EXISTS fixed_term_standings AS
SELECT chain_id, market, multiIf(
  (chain_id, market) IN (
    SELECT chain_id, address FROM address_facts
    WHERE subject LIKE 'market:%' AND kind = 'listed'), 'listed',
  (chain_id, sy) IN (
    SELECT chain_id, address FROM address_facts
    WHERE kind = 'wrapper' AND startsWith(subject, 'contract:')), 'made',
  'found') AS standing
FROM (
  SELECT chain_id, market, argMax(sy, position) AS sy FROM fixed_term_market
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
)
COMMENT 'Grain: one row per fixed-term market, and who vouches for it.';
ALTER TABLE fixed_term_standings
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN standing '`listed`: the registry lists the market; `made`: its factory made it, and the registry takes its SY at its word; `found`: anybody may have made the SY, whose word the figures are';

-- Fixed-term markets as they are known, with their newest state.
CREATE VIEW IF NOT EXISTS fixed_term_markets AS
SELECT m.chain_id AS chain_id, m.market AS market, m.of.1 AS protocol, d.of.1 AS name, d.of.2 AS symbol, m.of.2 AS pt, m.of.3 AS sy, m.of.4 AS yt,
  d.of.3 AS asset, a.symbol AS asset_symbol, toDateTime(m.of.5, 'UTC') AS expires_at, k.standing AS standing,
  s.of.1 AS sampled_at, s.of.2 AS implied_apy, s.of.3 AS pt_price, s.of.4 AS liquidity, s.of.5 AS tvl
FROM (
  SELECT chain_id, market, argMax((protocol, pt, sy, yt, expiry), position) AS of FROM fixed_term_market
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS m
ANY LEFT JOIN (
  SELECT chain_id, market, argMax((name, symbol, asset), position) AS of FROM fixed_term_description
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, market
) AS d ON m.chain_id = d.chain_id AND m.market = d.market
ANY LEFT JOIN assets AS a ON m.chain_id = a.chain_id AND d.of.3 = a.asset
ANY LEFT JOIN fixed_term_standings AS k ON m.chain_id = k.chain_id AND m.market = k.market
ANY LEFT JOIN (
  SELECT chain_id, market, argMax((toNullable(timestamp), implied_apy, toNullable(pt_price), liquidity, tvl), position) AS of
  FROM fixed_term_figures GROUP BY chain_id, market
) AS s ON m.chain_id = s.chain_id AND m.market = s.market
COMMENT 'Grain: one row per fixed-term market: catalogue and newest state, which may be an hour old, or older after the expiry.';
ALTER TABLE fixed_term_markets
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN market 'address of the market, lower case',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN name 'name of the PT, as it says itself',
  COMMENT COLUMN symbol 'symbol of the PT, as it says itself',
  COMMENT COLUMN pt 'address of the principal token, lower case',
  COMMENT COLUMN sy 'address of the wrapped yield-bearing token, lower case',
  COMMENT COLUMN yt 'address of the yield token, lower case',
  COMMENT COLUMN asset 'address of what a PT is worth one of at the expiry, lower case; empty: the SY does not say',
  COMMENT COLUMN asset_symbol 'its symbol, as it says itself; empty: not known',
  COMMENT COLUMN expires_at 'end of the term, UTC',
  COMMENT COLUMN standing '`listed`, `made` or `found`: see `fixed_term_standings`',
  COMMENT COLUMN sampled_at 'time of the newest state, UTC; NULL: none was read',
  COMMENT COLUMN implied_apy 'APY of the last trade, a fraction; NULL: nothing was ever in the pool',
  COMMENT COLUMN pt_price 'what a PT was worth in the asset then; NULL: not known',
  COMMENT COLUMN liquidity 'PT and SY in the pool, whole units of the asset; NULL: not known',
  COMMENT COLUMN tvl 'liquidity and the PT outside of the pool, whole units of the asset; NULL: not known';

-- Who holds a PT now.
CREATE VIEW IF NOT EXISTS pt_holders AS
SELECT b.chain_id AS chain_id, b.pt AS pt, b.holder AS holder, b.of.1 AS balance_raw,
  if(d.symbol = '', NULL, toFloat64(b.of.1) / pow(10., d.decimals)) AS balance, b.of.2 AS since
FROM (
  SELECT chain_id, pt, holder, argMax((balance, timestamp), position) AS of FROM pt_balance
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, pt, holder
) AS b
ANY LEFT JOIN (
  SELECT m.chain_id AS chain_id, m.pt AS pt, argMax(x.symbol, x.position) AS symbol, argMax(x.decimals, x.position) AS decimals
  FROM fixed_term_market AS m INNER JOIN fixed_term_description AS x ON m.chain_id = x.chain_id AND m.market = x.market
  WHERE (m.chain_id, m.position) NOT IN (SELECT chain_id, position FROM retracted_row)
    AND (x.chain_id, x.position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, pt
) AS d ON b.chain_id = d.chain_id AND b.pt = d.pt
WHERE b.of.1 != 0
COMMENT 'Grain: one row per principal token and holder with a balance. A market holds what lies in its pool.';
ALTER TABLE pt_holders
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN pt 'address of the principal token, lower case',
  COMMENT COLUMN holder 'address of the holder, lower case',
  COMMENT COLUMN balance_raw 'base units of the PT',
  COMMENT COLUMN balance 'whole PT; NULL: its decimals are not known',
  COMMENT COLUMN since 'time of the last change, UTC';
