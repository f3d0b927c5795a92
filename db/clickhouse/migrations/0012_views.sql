-- What the data team reads: stable names and columns, retracted rows left out, amounts in whole units beside the exact
-- ones. README.md beside this folder documents each; a test runs its examples.
CREATE VIEW IF NOT EXISTS retracted_row AS
SELECT toUInt32(stream) AS chain_id, position FROM retracted
COMMENT 'Grain: one row per retracted position; other views use it.';
ALTER TABLE retracted_row
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN position 'a position whose rows are not to be seen';

-- What holds now of what the registry was told.
CREATE VIEW IF NOT EXISTS facts AS
SELECT subject, kind, value, since
FROM (
  SELECT subject, kind, argMax(value, position) AS value, argMax(removed, position) AS removed, argMax(timestamp, position) AS since
  FROM registry_fact
  WHERE position NOT IN (SELECT position FROM retracted WHERE stream = 0)
  GROUP BY subject, kind
)
WHERE removed = 0
COMMENT 'Grain: one row per subject and kind of fact that holds now.';
ALTER TABLE facts
  COMMENT COLUMN subject 'what it is said of: vault:<chain>:<address>, asset:<chain>:<address>, contract:<chain>:<address>, protocol:<name> or curator:<name>',
  COMMENT COLUMN kind 'of a vault: listed, vaultId, tags, curator, featured, flags, fees, rewards, incentives, transactional; of an asset: feed, peg, group, logo; of a contract: ignored; of a protocol or curator: profile',
  COMMENT COLUMN value 'JSON; db/registry/kinds.ts has the schema of each kind',
  COMMENT COLUMN since 'when it was recorded, UTC';

-- Facts about what has an address.
CREATE VIEW IF NOT EXISTS address_facts AS
WITH splitByChar(':', subject) AS parts
SELECT subject, toUInt32OrZero(parts[2]) AS chain_id, lower(parts[3]) AS address, kind, value, since
FROM facts
WHERE length(parts) = 3
COMMENT 'Grain: one row per fact that holds now of a vault, an asset, a contract or a market: `facts` with chain and address apart.';
ALTER TABLE address_facts
  COMMENT COLUMN subject 'vault:<chain>:<address>, asset:<chain>:<address>, contract:<chain>:<address> or market:<chain>:<address>',
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN address 'address of what it is said of, lower case',
  COMMENT COLUMN kind 'listed, tags, feed, peg, ignored …: see `facts`',
  COMMENT COLUMN value 'JSON; db/registry/kinds.ts has the schema of each kind',
  COMMENT COLUMN since 'when it was recorded, UTC';

-- Contracts that an operator has left alone: no view shows what is stored of them as vaults.
CREATE VIEW IF NOT EXISTS ignored_contracts AS
SELECT chain_id, address AS contract, since, JSONExtractString(value, 'reason') AS reason
FROM address_facts
WHERE subject LIKE 'contract:%' AND kind = 'ignored'
COMMENT 'Grain: one row per contract that an operator has left alone (`vaultlog ignore`). No other view shows what is stored of it as a
vault; the tables and `latest_events` do.';
ALTER TABLE ignored_contracts
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN contract 'address of the contract, lower case',
  COMMENT COLUMN since 'when it was recorded, UTC',
  COMMENT COLUMN reason 'in words; empty where none was given';

-- How a vault came to be known: the registry lists it, a factory that the registry names made it, or it was found by its
-- shape, which anybody can give a contract.
CREATE VIEW IF NOT EXISTS vault_standings AS
SELECT known.chain_id AS chain_id, known.vault AS vault, multiIf(
  (known.chain_id, known.vault) IN (
    SELECT chain_id, address FROM address_facts WHERE subject LIKE 'vault:%' AND kind = 'listed'
  ), 'listed',
  (known.chain_id, known.vault) IN (
    SELECT chain_id, vault FROM vault_made
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ), 'made',
  'found') AS standing
FROM (
  SELECT DISTINCT chain_id, vault FROM vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS known
COMMENT 'Grain: one row per vault: how it came to be known.';
ALTER TABLE vault_standings
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN standing '`listed`, `made` or `found`: see `vaults`';

-- Vaults that stand: neither taken back by a fork nor left alone by an operator.
CREATE VIEW IF NOT EXISTS known_vaults AS
SELECT * FROM vault FINAL
WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  AND (chain_id, vault) NOT IN (SELECT chain_id, contract FROM ignored_contracts)
COMMENT 'Grain: one row per vault as it was discovered, less what forks took back and what operators ignore; other views use it.';
ALTER TABLE known_vaults
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN timestamp 'time of the block in which it was discovered, UTC',
  COMMENT COLUMN protocol 'slug of what it is, e.g. metamorpho; erc-4626: of no factory that is known',
  COMMENT COLUMN name 'name of the share token, as it says itself',
  COMMENT COLUMN symbol 'symbol of the share token, as it says itself',
  COMMENT COLUMN decimals 'decimals of the share',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_name 'name of the underlying, as it says itself',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN asset_decimals 'decimals of the underlying',
  COMMENT COLUMN deployed_block 'number of the block that deployed it; NULL: unknown',
  COMMENT COLUMN deployed_at 'time of the block that deployed it, UTC; NULL: unknown',
  COMMENT COLUMN async_deposits '1: deposits are requests, executed later (ERC-7540); NULL: unknown',
  COMMENT COLUMN async_redemptions '1: redemptions are requests, executed later (ERC-7540), or wait for a cooldown that is on or can be switched on; NULL: unknown';

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
INNER JOIN known_vaults AS known ON hourly.chain_id = known.chain_id AND hourly.vault = known.vault
COMMENT 'Grain: one row per vault and hour with a sample.';
ALTER TABLE share_prices
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN sampled_at 'time of the sample''s block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN share_price 'assets per whole share; NULL: unknown, or no share',
  COMMENT COLUMN total_assets 'assets of the vault, whole units; NULL: unknown',
  COMMENT COLUMN total_supply 'all shares, whole units; NULL: unknown',
  COMMENT COLUMN apy_1h 'APY over the last hour, fraction per year (0.05 is 5 %); NULL: unknown',
  COMMENT COLUMN apy_1d 'APY over the last day, fraction per year; NULL: unknown',
  COMMENT COLUMN apy_7d 'APY over the last 7 days, fraction per year; NULL: unknown',
  COMMENT COLUMN apy_30d 'APY over the last 30 days, fraction per year; NULL: unknown',
  COMMENT COLUMN opens_day '1: first of its UTC day';

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
INNER JOIN known_vaults AS known ON days.chain_id = known.chain_id AND days.vault = known.vault
COMMENT 'Grain: one row per vault and UTC day with a flow.';
ALTER TABLE daily_flows
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN day 'UTC day',
  COMMENT COLUMN deposits 'deposited on the day: assets, whole units',
  COMMENT COLUMN redemptions 'redeemed on the day: assets, whole units',
  COMMENT COLUMN net_flow 'deposits − redemptions, whole units',
  COMMENT COLUMN deposits_raw 'deposited on the day: asset base units',
  COMMENT COLUMN redemptions_raw 'redeemed on the day: asset base units',
  COMMENT COLUMN deposit_count 'deposits of the day, their number',
  COMMENT COLUMN redemption_count 'redemptions of the day, their number',
  COMMENT COLUMN unique_depositors 'different owners who deposited on the day',
  COMMENT COLUMN unique_redeemers 'different owners who redeemed on the day';

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
INNER JOIN known_vaults AS known ON held.chain_id = known.chain_id AND held.vault = known.vault
COMMENT 'Grain: one row per vault and holder with a balance at `at` (DateTime, UTC).

`chain_id`: chain, by its id
`vault`: address of the vault, lower case
`holder`: address of the holder, lower case
`balance`: shares, whole units
`balance_raw`: share base units
`since`: time of the change that led to it';

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
)
COMMENT 'Grain: one row per holder with a balance now, of one `chain` (UInt32) and `vault` (String).

`holder`: address of the holder, lower case
`balance`: shares, whole units
`share`: fraction of all held shares
`place`: 1: the largest
`balance_raw`: share base units
`since`: time of the last change, or of the last one taken back (of `balances_at` it is that of the change that counts)';

-- How an asset is priced now: by a feed, by a constant, or like another asset. A feed that missed three reports has stopped:
-- a heartbeat is a day where the registry does not say it.
CREATE VIEW IF NOT EXISTS asset_price_sources AS
WITH told AS (
  SELECT chain_id, address AS asset,
    maxIf(JSONExtractString(value, 'of'), kind = 'peg') AS of,
    maxIf(toFloat64OrNull(trim(BOTH '"' FROM JSONExtractRaw(value, 'usd'))), kind = 'peg') AS usd,
    maxIf(JSONExtractString(value, 'feed'), kind = 'feed') AS feed,
    maxIf(if(JSONHas(value, 'chainId'), toUInt32(JSONExtractUInt(value, 'chainId')), chain_id), kind = 'feed') AS feed_chain_id,
    maxIf(if(JSONHas(value, 'heartbeat'), toUInt32(JSONExtractUInt(value, 'heartbeat')), 86400), kind = 'feed') AS heartbeat
  FROM address_facts
  WHERE subject LIKE 'asset:%' AND kind IN ('feed', 'peg')
  GROUP BY chain_id, asset
)
SELECT
  stated.chain_id AS chain_id,
  stated.asset AS asset,
  stated.of AS pegged_to,
  if(stated.of = '', stated.usd, other.usd) AS peg_usd,
  if(stated.of = '', stated.feed, other.feed) AS feed,
  if(stated.of = '', stated.feed_chain_id, other.feed_chain_id) AS feed_chain_id,
  3 * if(stated.of = '', stated.heartbeat, other.heartbeat) AS greatest_age
FROM told AS stated
LEFT JOIN told AS other ON stated.chain_id = other.chain_id AND stated.of = other.asset
COMMENT 'Grain: one row per asset with a curated price source.';
ALTER TABLE asset_price_sources
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN asset 'address of the asset, lower case',
  COMMENT COLUMN pegged_to 'address of the asset it is priced like; empty: none',
  COMMENT COLUMN peg_usd 'constant price; NULL: none',
  COMMENT COLUMN feed 'address of the feed; empty: none',
  COMMENT COLUMN feed_chain_id 'chain on which the feed reports',
  COMMENT COLUMN greatest_age 'seconds after a report beyond which it is no price any more: three heartbeats of the feed';

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
INNER JOIN asset_price_sources AS sources ON sources.feed_chain_id = prices.chain_id AND sources.feed = prices.feed
COMMENT 'Grain: one row per report of an asset''s feed.';
ALTER TABLE asset_prices
  COMMENT COLUMN chain_id 'of the asset',
  COMMENT COLUMN asset 'address of the asset, lower case',
  COMMENT COLUMN reported_at 'time of the report''s block, UTC',
  COMMENT COLUMN price_usd 'USD per whole unit of the asset',
  COMMENT COLUMN source 'kind of the feed, e.g. chainlink',
  COMMENT COLUMN feed 'address of the price feed, lower case';

-- For joins: ASOF LEFT JOIN … ON chain_id, asset and timestamp >= since, and a price counts while timestamp <= until.
CREATE VIEW IF NOT EXISTS asset_price_spans AS
SELECT chain_id, asset, toDateTime(0, 'UTC') AS since, toDateTime(4294967295, 'UTC') AS until, peg_usd AS price_usd
FROM asset_price_sources WHERE peg_usd IS NOT NULL
UNION ALL
SELECT sources.chain_id, sources.asset, prices.timestamp, prices.timestamp + sources.greatest_age, if(prices.price > 0, prices.price, NULL)
FROM asset_price_sources AS sources
INNER JOIN (
  SELECT chain_id, feed, timestamp, argMax(price, position) AS price FROM feed_price WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, feed, timestamp
) AS prices ON sources.feed_chain_id = prices.chain_id AND sources.feed = prices.feed
WHERE sources.peg_usd IS NULL
COMMENT 'Grain: one row per asset and report of its feed; one for an asset with a constant price. The newest row that began by a moment has the price of
that moment, unless it has ended before: `ASOF LEFT JOIN` on `since`, then compare with `until`.';
ALTER TABLE asset_price_spans
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN asset 'address of the asset, lower case',
  COMMENT COLUMN since 'from when on this is the price, UTC',
  COMMENT COLUMN until 'until when it is one, unless the next comes first, UTC',
  COMMENT COLUMN price_usd 'USD per whole unit of the asset; NULL: the feed reported none';

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
  INNER JOIN known_vaults AS known ON hourly.chain_id = known.chain_id AND hourly.vault = known.vault
  INNER JOIN vault_standings AS standings ON hourly.chain_id = standings.chain_id AND hourly.vault = standings.vault
  LEFT JOIN asset_price_sources AS sources ON sources.chain_id = known.chain_id AND sources.asset = known.asset
) AS valued
ASOF LEFT JOIN (
  SELECT chain_id, feed, timestamp, price FROM feed_price FINAL
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS prices ON valued.feed_chain_id = prices.chain_id AND valued.feed = prices.feed AND valued.sampled_at >= prices.timestamp
COMMENT 'Grain: one row per vault and hour with a sample.';
ALTER TABLE tvl_usd
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN standing '`listed`, `made` or `found`: see `vaults`',
  COMMENT COLUMN hour 'start of the hour, UTC',
  COMMENT COLUMN sampled_at 'time of the sample''s block, UTC',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN tvl 'assets of the vault, whole units; NULL: unknown',
  COMMENT COLUMN price_usd 'USD per whole unit at or before sampled_at, no older than `greatest_age`; NULL: unknown',
  COMMENT COLUMN tvl_usd 'value of these assets, USD; NULL: unknown';

CREATE VIEW IF NOT EXISTS latest_events AS
SELECT toUInt32(stream) AS chain_id, position, timestamp, type, block_number, contract, tx_hash,
  if(log_index = 4294967295, NULL, log_index) AS log_index, data
FROM event
WHERE stream = toInt32({chain:UInt32})
  AND position > (SELECT toInt64(max(position)) - 1000 FROM event WHERE stream = toInt32({chain:UInt32}))
  AND position NOT IN (SELECT position FROM retracted WHERE stream = toInt32({chain:UInt32}))
  AND type != 'BlockRetracted'
ORDER BY position DESC
COMMENT 'Grain: the newest events of one `chain` (UInt32), at most 1,000.

`chain_id`: chain, by its id
`position`: place of the event that the row follows from, in the chain''s stream of events
`timestamp`: time of the block, UTC
`type`: what happened, as in db/events/vocabulary.ts
`block_number`: number of that event''s block
`contract`: address of the contract that emitted it, lower case
`tx_hash`: hash of the transaction
`log_index`: place of the log in its block; NULL: not from a log
`data`: what the event says, JSON; on-chain integers are decimal strings in base units';
