-- ANY INNER JOIN keeps one row of a key on the left side as well: of each market or vault, one state of all. Here every
-- state has its row.
DROP VIEW IF EXISTS fixed_term_figures;
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

DROP VIEW IF EXISTS amm_figures;
CREATE VIEW IF NOT EXISTS amm_figures AS
WITH
  -- What a position is of at a price: token0 and token1, base units.
  (liquidity, low, high, root) -> (
    if(liquidity = 0, 0., liquidity * (1 / greatest(least(root, high), low) - 1 / high)),
    if(liquidity = 0, 0., liquidity * (least(greatest(root, low), high) - low))) AS amounts,
  toFloat64(s.sqrt_price_x96) / 79228162514264337593543950336. AS spot,
  s.mean_tick IS NULL OR s.base_liquidity IS NULL OR s.limit_liquidity IS NULL AS is_unknown,
  if(is_unknown, spot, pow(1.0001, ifNull(s.mean_tick, 0) / 2.)) AS root,
  (tick -> pow(1.0001, ifNull(tick, 0) / 2.)) AS at,
  (root -> (
    amounts(toFloat64(ifNull(s.base_liquidity, 0)), at(s.base_lower), at(s.base_upper), root),
    amounts(toFloat64(ifNull(s.limit_liquidity, 0)), at(s.limit_lower), at(s.limit_upper), root))) AS held
SELECT s.chain_id AS chain_id, s.vault AS vault, s.timestamp AS timestamp, s.block_number AS block_number,
  toUInt8(is_unknown) AS is_spot,
  root * root AS price,
  if(d.takes_token1, d.token1, d.token0) AS value_token,
  toFloat64(s.total0) + if(is_unknown, 0., (held(root).1.1 + held(root).2.1) - (held(spot).1.1 + held(spot).2.1)) AS amount0,
  toFloat64(s.total1) + if(is_unknown, 0., (held(root).1.2 + held(root).2.2) - (held(spot).1.2 + held(spot).2.2)) AS amount1,
  if(d.takes_token1, amount0 * price + amount1, amount0 + amount1 / price) AS value_raw,
  if(s.supply = 0, NULL, value_raw / toFloat64(s.supply)) AS share_value,
  value_raw / pow(10., a.decimals) AS value,
  s.total0 AS total0_raw, s.total1 AS total1_raw, s.supply AS supply_raw, s.position AS position
FROM amm_state AS s
INNER JOIN (
  SELECT chain_id, vault, argMax(token0, position) AS token0, argMax(token1, position) AS token1, argMax(takes_token1, position) AS takes_token1
  FROM amm_description WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) GROUP BY chain_id, vault
) AS d ON s.chain_id = d.chain_id AND s.vault = d.vault
ANY LEFT JOIN (SELECT chain_id, asset, toNullable(decimals) AS decimals FROM assets) AS a
  ON s.chain_id = a.chain_id AND a.asset = if(d.takes_token1, d.token1, d.token0)
WHERE (s.chain_id, s.position) NOT IN (SELECT chain_id, position FROM retracted_row)
COMMENT 'Grain: one row per state of a vault of liquidity (`amm_state`), with what follows from it as approximate numbers; the exact ones are of the API.';
ALTER TABLE amm_figures
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN is_spot '1: at the price of the moment, which a single trade moves; 0: at the mean over `twap_period`',
  COMMENT COLUMN price 'token1 base units per token0 base unit that the row is reckoned with',
  COMMENT COLUMN value_token 'address of the token that the vault takes, token1 if both: that in which it is valued',
  COMMENT COLUMN amount0 'token0 that the vault has, its positions at that price, base units',
  COMMENT COLUMN amount1 'token1, likewise',
  COMMENT COLUMN value_raw 'both together, base units of value_token',
  COMMENT COLUMN share_value 'base units of value_token per base unit of shares: what the decimals of shares say is no size; NULL: there is no share',
  COMMENT COLUMN value 'whole units of value_token; NULL: its decimals are not known',
  COMMENT COLUMN total0_raw 'token0 that the vault has at the price of the moment, base units',
  COMMENT COLUMN total1_raw 'token1, likewise',
  COMMENT COLUMN supply_raw 'all shares, base units',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

DROP VIEW IF EXISTS svm_share_prices;
CREATE VIEW IF NOT EXISTS svm_share_prices AS
SELECT chain_id, vault, toStartOfHour(timestamp) AS hour, argMax(price, position) AS share_price, argMax(source, position) AS told_by, max(timestamp) AS told_at
FROM (
  SELECT chain_id, vault, timestamp, position, assumeNotNull(share_price) AS price, 'sample' AS source
  FROM svm_vault_sample
  WHERE share_price IS NOT NULL
  UNION ALL
  SELECT chain_id, vault, timestamp, position, assumeNotNull(toFloat64(price_assets) / toFloat64(price_shares) * pow(10., shift)) AS price, 'log' AS source
  FROM svm_price
  ANY LEFT JOIN (
    SELECT chain_id, vault, toNullable(toInt32(share_decimals) - toInt32(asset_decimals)) AS shift
    FROM svm_vaults WHERE share_decimals IS NOT NULL AND asset_decimals IS NOT NULL
  ) AS v USING (chain_id, vault)
  WHERE price_shares > 0 AND shift IS NOT NULL
)
WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
GROUP BY chain_id, vault, hour
COMMENT 'Grain: one row per vault of a chain of Solana''s kind and hour in which a price of a share is known, the last of the hour; `(chain_id, vault, hour)`.';
ALTER TABLE svm_share_prices
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN share_price 'assets per whole share',
  COMMENT COLUMN told_by 'sample: read from a node when it was the newest; log: written down by the program itself, which is told of the past, too',
  COMMENT COLUMN told_at 'time of the newest price of the hour, UTC';
