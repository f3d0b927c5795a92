-- Prices as feeds reported them. Which asset a feed prices is a registry fact (kind 'feed').
CREATE TABLE IF NOT EXISTS feed_price (
  chain_id UInt32 COMMENT 'chain, by its id',
  feed LowCardinality(String) COMMENT 'address of the price feed, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  source LowCardinality(String) COMMENT 'kind of the feed, e.g. chainlink',
  answer Int256 COMMENT 'price × 10^decimals' CODEC(ZSTD(1)),
  decimals UInt8 COMMENT 'decimals of the answer',
  price Float64 COMMENT 'quote currency (USD) per whole unit' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, feed, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per report of a feed; `(chain_id, feed, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.feed_price_rows AS
SELECT
  toUInt32(stream) AS chain_id,
  fields.feed AS feed,
  timestamp,
  position,
  block_number,
  fields.source AS source,
  toInt256(fields.answer) AS answer,
  fields.decimals AS decimals,
  toFloat64(answer) / pow(10., fields.decimals) AS price
FROM (
  SELECT stream, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(feed String, source String, answer String, decimals UInt8)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'PriceReported'
);

-- What lending markets' own oracles answered, at the ends of blocks with events of the market and hourly, in each
-- oracle's unit: Aave v3 its base currency per whole unit (USD scaled by 1e8 mostly); Compound v3 USD per whole unit scaled by 1e8; Morpho Blue loan units per collateral unit, scaled by 1e36
-- and the difference of decimals (asset is '').
CREATE TABLE IF NOT EXISTS oracle_price (
  chain_id UInt32 COMMENT 'chain, by its id',
  contract LowCardinality(String) COMMENT 'address of the pool, Comet, Morpho or vault that lends, lower case',
  market LowCardinality(String) COMMENT 'market: bytes32 id of Morpho Blue, the asset of Aave v3, the Comet of Compound v3, the lending vault of Euler v2',
  asset LowCardinality(String) COMMENT 'address of the asset that is priced, lower case; empty: the collateral of the market (Morpho Blue)',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  oracle LowCardinality(String) COMMENT 'address of the feed or oracle of its price, lower case',
  price Nullable(UInt256) COMMENT 'as the oracle answered, in the unit of its protocol (see the table''s comment); NULL: it did not answer' CODEC(ZSTD(1)),
  INDEX by_position position TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, contract, market, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'What lending markets'' own oracles answered, at the ends of blocks with events of the market and hourly, in each oracle''s unit: Aave v3 its base currency per whole unit (USD scaled by 1e8 mostly); Compound v3 USD per whole unit scaled by 1e8; Morpho Blue loan units per collateral unit, scaled by 1e36 and the difference of decimals (asset is ''''); Euler v2 base units of the unit of account per base unit of the asset, or of the asset of the collateral vault, scaled by 1e36, at the middle of bid and ask. Ordered by (chain_id, contract, market, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.oracle_price_rows AS
SELECT toUInt32(stream) AS chain_id, contract, fields.market AS market, fields.asset AS asset, timestamp, position, block_number,
  fields.oracle AS oracle, if(fields.price = '', NULL, toUInt256OrZero(fields.price)) AS price
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(market String, asset String, oracle String, price String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'OraclePriceSampled'
);

-- Tokens that lending markets name, as they describe themselves. Assets of vaults are described by `vault`.
CREATE TABLE IF NOT EXISTS asset (
  chain_id UInt32 COMMENT 'chain, by its id',
  asset String COMMENT 'address of the token, lower case',
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events',
  block_number UInt64 COMMENT 'number of that event''s block',
  name String COMMENT 'name of the token, as it says itself',
  symbol String COMMENT 'symbol of the token, as it says itself',
  decimals UInt8 COMMENT 'decimals of the token'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, asset, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Tokens that lending markets name, as they describe themselves. Assets of vaults are described by `vault`. Ordered by (chain_id, asset, timestamp, position).';

CREATE VIEW IF NOT EXISTS internal.asset_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS asset, timestamp, position, block_number, fields.name AS name,
  fields.symbol AS symbol, fields.decimals AS decimals
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(name String, symbol String, decimals UInt8)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'AssetDescribed'
);

CREATE VIEW IF NOT EXISTS assets AS
SELECT told.chain_id AS chain_id, told.asset AS asset, told.symbol AS symbol, told.decimals AS decimals,
  multiIf(stated.category != '', stated.category,
    match(symbol, '(?i)^(s|st|w)?(EUR[A-Z0-9]{0,3}|agEUR|[A-Z]?EURe|EURC|EURS)$'), 'EURO',
    match(symbol, '(?i)USD|^S?DAI$|^X?DAI$|^WXDAI$|^SDAI$|^FRAX$|^LUSD$|^GHO$|^BOLD$|^DOLA$|^MIM$'), 'USD',
    match(symbol, '(?i)ETH(X|\\+)?$|^(W|ST|WST|R|CB|E|EZ|RS|WE|OS|SFRX|FRX|M)ETH'), 'ETH',
    match(symbol, '(?i)BTC'), 'BTC',
    'OTHER') AS category
FROM (
  SELECT chain_id, asset, argMax(symbol, (rank, position)) AS symbol, argMax(decimals, (rank, position)) AS decimals
  FROM (
    SELECT chain_id, asset, symbol, decimals, position, 2 AS rank FROM asset WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    UNION ALL
    SELECT chain_id, asset, toString(asset_symbol), asset_decimals, position, 1 AS rank FROM vault WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    UNION ALL
    SELECT chain_id, vault, symbol, decimals, position, 0 AS rank FROM vault WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  )
  GROUP BY chain_id, asset
) AS told
LEFT JOIN (
  SELECT chain_id, address AS asset, JSONExtractString(value) AS category FROM address_facts WHERE subject LIKE 'asset:%' AND kind = 'group'
) AS stated ON stated.chain_id = told.chain_id AND stated.asset = told.asset
COMMENT 'Grain: one row per token that a vault or a lending market names, the shares of vaults among them.';
ALTER TABLE assets
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN asset 'address of the token, lower case',
  COMMENT COLUMN symbol 'symbol of the token, as it says itself',
  COMMENT COLUMN decimals 'decimals of the token',
  COMMENT COLUMN category 'USD, EURO, ETH, BTC or OTHER: as the registry says (fact `group`), else by the symbol, which is the token''s own word';

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
