-- What the data team reads: stable names and columns, retracted rows left out, amounts in whole units beside the exact
-- ones. README.md beside this folder documents each; a test runs its examples.
CREATE VIEW IF NOT EXISTS retracted_row AS
SELECT toUInt32(stream) AS chain_id, position FROM retracted;

-- Contracts that an operator has left alone: no view shows what is stored of them as vaults.
CREATE VIEW IF NOT EXISTS ignored_contracts AS
SELECT toUInt32OrZero(splitByChar(':', subject)[2]) AS chain_id, splitByChar(':', subject)[3] AS contract, since,
  JSONExtractString(value, 'reason') AS reason
FROM (
  SELECT subject, argMax(removed, position) AS removed, argMax(value, position) AS value, argMax(timestamp, position) AS since
  FROM registry_fact
  WHERE subject LIKE 'contract:%' AND kind = 'ignored' AND position NOT IN (SELECT position FROM retracted WHERE stream = 0)
  GROUP BY subject
)
WHERE removed = 0;

-- How a vault came to be known: the registry lists it, a factory that the registry names made it, or it was found by its
-- shape, which anybody can give a contract.
CREATE VIEW IF NOT EXISTS vault_standings AS
SELECT known.chain_id AS chain_id, known.vault AS vault, multiIf(
  (known.chain_id, known.vault) IN (
    SELECT toUInt32OrZero(splitByChar(':', subject)[2]), lower(splitByChar(':', subject)[3])
    FROM (
      SELECT subject, argMax(removed, position) AS removed
      FROM registry_fact
      WHERE subject LIKE 'vault:%' AND kind = 'listed' AND position NOT IN (SELECT position FROM retracted WHERE stream = 0)
      GROUP BY subject
    )
    WHERE removed = 0
  ), 'listed',
  (known.chain_id, known.vault) IN (
    SELECT chain_id, vault FROM vault_made
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ), 'made',
  'found') AS standing
FROM (
  SELECT DISTINCT chain_id, vault FROM vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS known;

CREATE VIEW IF NOT EXISTS vaults AS
SELECT
  known.chain_id AS chain_id,
  known.vault AS vault,
  known.protocol AS protocol,
  known.name AS name,
  known.symbol AS symbol,
  known.decimals AS decimals,
  known.asset AS asset,
  known.asset_symbol AS asset_symbol,
  known.asset_decimals AS asset_decimals,
  known.deployed_at AS deployed_at,
  standings.standing AS standing,
  state.sampled_at AS sampled_at,
  state.share_price AS share_price,
  toFloat64(state.total_assets) / pow(10., known.asset_decimals) AS total_assets,
  toFloat64(state.total_supply) / pow(10., known.decimals) AS total_supply,
  state.apy_1d AS apy_1d,
  state.apy_7d AS apy_7d,
  state.apy_30d AS apy_30d
FROM (
  SELECT * FROM vault FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
) AS known
INNER JOIN vault_standings AS standings ON known.chain_id = standings.chain_id AND known.vault = standings.vault
LEFT JOIN (
  SELECT chain_id, vault, toNullable(timestamp) AS sampled_at, share_price, total_assets, total_supply, apy_1d, apy_7d, apy_30d
  FROM vault_hourly
  -- Which rows are the last is found in narrow columns; the wide ones are read of those alone.
  WHERE (chain_id, vault, position) IN (
    SELECT chain_id, vault, max(position) FROM vault_hourly
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    GROUP BY chain_id, vault)
  LIMIT 1 BY chain_id, vault
) AS state ON known.chain_id = state.chain_id AND known.vault = state.vault;

CREATE VIEW IF NOT EXISTS share_prices AS
SELECT
  hourly.chain_id AS chain_id,
  hourly.vault AS vault,
  hourly.hour AS hour,
  hourly.timestamp AS sampled_at,
  hourly.block_number AS block_number,
  hourly.share_price AS share_price,
  toFloat64(hourly.total_assets) / pow(10., known.asset_decimals) AS total_assets,
  toFloat64(hourly.total_supply) / pow(10., known.decimals) AS total_supply,
  hourly.apy_1h AS apy_1h,
  hourly.apy_1d AS apy_1d,
  hourly.apy_7d AS apy_7d,
  hourly.apy_30d AS apy_30d,
  hourly.opens_day AS opens_day
FROM (
  SELECT * FROM vault_hourly FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS hourly
INNER JOIN (
  SELECT chain_id, vault, decimals, asset_decimals FROM vault FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
) AS known ON hourly.chain_id = known.chain_id AND hourly.vault = known.vault;

CREATE VIEW IF NOT EXISTS daily_flows AS
SELECT
  days.chain_id AS chain_id,
  days.vault AS vault,
  days.day AS day,
  toFloat64(days.total_deposits) / pow(10., known.asset_decimals) AS deposits,
  toFloat64(days.total_redemptions) / pow(10., known.asset_decimals) AS redemptions,
  deposits - redemptions AS net_flow,
  days.total_deposits AS deposits_raw,
  days.total_redemptions AS redemptions_raw,
  days.deposit_count AS deposit_count,
  days.redemption_count AS redemption_count,
  days.unique_depositors AS unique_depositors,
  days.unique_redeemers AS unique_redeemers
FROM (
  -- A day whose flows were all retracted keeps a head of zeros.
  SELECT * FROM daily_flow_head FINAL WHERE deposit_count + redemption_count > 0
) AS days
INNER JOIN (
  SELECT chain_id, vault, asset_decimals FROM vault FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
) AS known ON days.chain_id = known.chain_id AND days.vault = known.vault;

CREATE VIEW IF NOT EXISTS balances_at AS
SELECT
  held.chain_id AS chain_id,
  held.vault AS vault,
  held.holder AS holder,
  toFloat64(held.last.2) / pow(10., known.decimals) AS balance,
  held.last.2 AS balance_raw,
  held.last.3 AS since
FROM (
  SELECT chain_id, vault, holder, max((position, balance, timestamp)) AS last
  FROM balance
  WHERE timestamp <= {at:DateTime('UTC')} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, vault, holder
  HAVING last.2 != 0
) AS held
INNER JOIN (
  SELECT chain_id, vault, decimals FROM vault FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
) AS known ON held.chain_id = known.chain_id AND held.vault = known.vault;

CREATE VIEW IF NOT EXISTS holders AS
SELECT
  holder,
  toFloat64(balance_raw) / pow(10., (
    SELECT argMax(decimals, position) FROM vault
    WHERE chain_id = {chain:UInt32} AND vault = {vault:String} AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row))) AS balance,
  toFloat64(balance_raw) / toFloat64(sum(balance_raw) OVER ()) AS share,
  row_number() OVER (ORDER BY balance_raw DESC, holder) AS place,
  balance_raw,
  since
FROM (
  SELECT holder, balance AS balance_raw, timestamp AS since
  FROM holder FINAL
  WHERE chain_id = {chain:UInt32} AND vault = {vault:String} AND balance > 0
);

-- How an asset is priced now: by a feed, by a constant, or like another asset. A feed that missed three reports has stopped:
-- a heartbeat is a day where the registry does not say it.
CREATE VIEW IF NOT EXISTS asset_price_sources AS
WITH facts AS (
  SELECT toUInt32(splitByChar(':', subject)[2]) AS chain_id, splitByChar(':', subject)[3] AS asset, kind, value
  FROM (
    SELECT subject, kind, argMax(value, position) AS value, argMax(removed, position) AS removed
    FROM registry_fact
    WHERE subject LIKE 'asset:%' AND kind IN ('feed', 'peg') AND position NOT IN (SELECT position FROM retracted WHERE stream = 0)
    GROUP BY subject, kind
  )
  WHERE removed = 0
)
SELECT
  stated.chain_id AS chain_id,
  stated.asset AS asset,
  stated.of AS pegged_to,
  if(stated.of = '', stated.usd, other.usd) AS peg_usd,
  if(stated.of = '', stated.feed, other.feed) AS feed,
  if(stated.of = '', stated.feed_chain_id, other.feed_chain_id) AS feed_chain_id,
  3 * if(stated.of = '', stated.heartbeat, other.heartbeat) AS greatest_age
FROM (
  SELECT chain_id, asset,
    maxIf(JSONExtractString(value, 'of'), kind = 'peg') AS of,
    maxIf(toFloat64OrNull(trim(BOTH '"' FROM JSONExtractRaw(value, 'usd'))), kind = 'peg') AS usd,
    maxIf(JSONExtractString(value, 'feed'), kind = 'feed') AS feed,
    maxIf(if(JSONHas(value, 'chainId'), toUInt32(JSONExtractUInt(value, 'chainId')), chain_id), kind = 'feed') AS feed_chain_id,
    maxIf(if(JSONHas(value, 'heartbeat'), toUInt32(JSONExtractUInt(value, 'heartbeat')), 86400), kind = 'feed') AS heartbeat
  FROM facts GROUP BY chain_id, asset
) AS stated
LEFT JOIN (
  SELECT chain_id, asset,
    maxIf(toFloat64OrNull(trim(BOTH '"' FROM JSONExtractRaw(value, 'usd'))), kind = 'peg') AS usd,
    maxIf(JSONExtractString(value, 'feed'), kind = 'feed') AS feed,
    maxIf(if(JSONHas(value, 'chainId'), toUInt32(JSONExtractUInt(value, 'chainId')), chain_id), kind = 'feed') AS feed_chain_id,
    maxIf(if(JSONHas(value, 'heartbeat'), toUInt32(JSONExtractUInt(value, 'heartbeat')), 86400), kind = 'feed') AS heartbeat
  FROM facts GROUP BY chain_id, asset
) AS other ON stated.chain_id = other.chain_id AND stated.of = other.asset;

CREATE VIEW IF NOT EXISTS asset_prices AS
SELECT
  sources.chain_id AS chain_id,
  sources.asset AS asset,
  prices.timestamp AS reported_at,
  prices.price AS price_usd,
  prices.source AS source,
  prices.feed AS feed
FROM (
  SELECT * FROM feed_price FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS prices
INNER JOIN asset_price_sources AS sources ON sources.feed_chain_id = prices.chain_id AND sources.feed = prices.feed;

CREATE VIEW IF NOT EXISTS tvl_usd AS
SELECT
  valued.chain_id AS chain_id,
  valued.vault AS vault,
  valued.standing AS standing,
  valued.hour AS hour,
  valued.sampled_at AS sampled_at,
  valued.asset_symbol AS asset_symbol,
  valued.tvl AS tvl,
  if(isNotNull(valued.peg_usd), valued.peg_usd,
    if(prices.price > 0 AND dateDiff('second', prices.timestamp, valued.sampled_at) <= valued.greatest_age, prices.price, NULL)) AS price_usd,
  tvl * price_usd AS tvl_usd
FROM (
  SELECT hourly.chain_id AS chain_id, hourly.vault AS vault, standings.standing AS standing, hourly.hour AS hour,
    hourly.timestamp AS sampled_at, known.asset_symbol AS asset_symbol, toFloat64(hourly.total_assets) / pow(10., known.asset_decimals) AS tvl,
    sources.peg_usd AS peg_usd, sources.feed AS feed, sources.feed_chain_id AS feed_chain_id, sources.greatest_age AS greatest_age
  FROM (
    SELECT * FROM vault_hourly FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ) AS hourly
  INNER JOIN (
    SELECT chain_id, vault, asset, asset_symbol, asset_decimals FROM vault FINAL
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
  ) AS known ON hourly.chain_id = known.chain_id AND hourly.vault = known.vault
  INNER JOIN vault_standings AS standings ON hourly.chain_id = standings.chain_id AND hourly.vault = standings.vault
  LEFT JOIN asset_price_sources AS sources ON sources.chain_id = known.chain_id AND sources.asset = known.asset
) AS valued
ASOF LEFT JOIN (
  SELECT chain_id, feed, timestamp, price FROM feed_price FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS prices ON valued.feed_chain_id = prices.chain_id AND valued.feed = prices.feed AND valued.sampled_at >= prices.timestamp;

CREATE VIEW IF NOT EXISTS account_flows AS
SELECT
  flows.chain_id AS chain_id,
  flows.vault AS vault,
  flows.account AS account,
  flows.timestamp AS timestamp,
  flows.block_number AS block_number,
  flows.kind AS kind,
  toFloat64(flows.assets) / pow(10., known.asset_decimals) AS assets,
  toFloat64(flows.shares) / pow(10., known.decimals) AS shares,
  flows.assets AS assets_raw,
  flows.shares AS shares_raw,
  flows.sender AS sender,
  flows.tx_hash AS tx_hash,
  flows.log_index AS log_index
FROM (
  SELECT * FROM flow FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS flows
INNER JOIN (
  SELECT chain_id, vault, decimals, asset_decimals FROM vault FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row) AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
) AS known ON flows.chain_id = known.chain_id AND flows.vault = known.vault;

CREATE VIEW IF NOT EXISTS latest_events AS
SELECT toUInt32(stream) AS chain_id, position, timestamp, type, block_number, contract, tx_hash,
  if(log_index = 4294967295, NULL, log_index) AS log_index, data
FROM event
WHERE stream = toInt32({chain:UInt32})
  AND position > (SELECT toInt64(max(position)) - 1000 FROM event WHERE stream = toInt32({chain:UInt32}))
  AND position NOT IN (SELECT position FROM retracted WHERE stream = toInt32({chain:UInt32}))
  AND type != 'BlockRetracted'
ORDER BY position DESC;
