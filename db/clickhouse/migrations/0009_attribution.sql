-- Deposits and redemptions of transactions that bear the suffix of one of our API keys: the code before our own in
-- the ERC-8021 suffix is that key's public code. Whose the key is, is told by api_key in Postgres.
CREATE TABLE IF NOT EXISTS attributed_flow (
  code LowCardinality(String) COMMENT 'public code of the API key',
  chain_id UInt32 COMMENT 'chain, by its id',
  day Date COMMENT 'UTC day',
  vault LowCardinality(String) COMMENT 'address of the vault, lower case',
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'number of that event''s block' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the block, UTC' CODEC(DoubleDelta, ZSTD(1)),
  account String COMMENT 'owner of the shares, address in lower case' CODEC(ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, redeem',
  assets UInt256 COMMENT 'asset base units' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'share base units' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'hash of the transaction' CODEC(ZSTD(1)),
  log_index UInt32 COMMENT 'place of the log in its block'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (code, chain_id, day, vault, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per deposit and redemption of a transaction with the suffix of an API key; `(code, chain_id, day, vault, position)`.';

CREATE VIEW IF NOT EXISTS internal.attributed_flow_rows AS
SELECT
  fields.codes[indexOf(fields.codes, 'vaultlog') - 1] AS code,
  toUInt32(stream) AS chain_id,
  toDate(timestamp) AS day,
  contract AS vault,
  position,
  block_number,
  timestamp,
  fields.owner AS account,
  if(type = 'Deposited', 'deposit', 'redeem') AS kind,
  toUInt256(fields.assets) AS assets,
  toUInt256(fields.shares) AS shares,
  tx_hash,
  log_index
FROM (
  SELECT stream, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(owner String, assets String, shares String, codes Array(String))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64}
    AND type IN ('Deposited', 'Redeemed') AND data LIKE '%"codes":%'
)
WHERE indexOf(fields.codes, 'vaultlog') > 1;

CREATE VIEW IF NOT EXISTS attributed_flows AS
SELECT moved.code AS code, moved.chain_id AS chain_id, moved.vault AS vault, moved.account AS account, moved.timestamp AS timestamp,
  moved.day AS day, moved.block_number AS block_number, moved.kind AS kind, known.asset AS asset, known.asset_symbol AS asset_symbol,
  known.asset_decimals AS asset_decimals, toFloat64(moved.assets) / pow(10., known.asset_decimals) AS assets,
  assets * if(moved.timestamp <= prices.until, prices.price_usd, NULL) AS assets_usd,
  moved.assets AS assets_raw, moved.shares AS shares_raw, moved.tx_hash AS tx_hash, moved.log_index AS log_index
FROM (
  SELECT * FROM attributed_flow FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS moved
INNER JOIN known_vaults AS known ON moved.chain_id = known.chain_id AND moved.vault = known.vault
ASOF LEFT JOIN asset_price_spans AS prices
  ON moved.chain_id = prices.chain_id AND known.asset = prices.asset AND moved.timestamp >= prices.since
COMMENT 'Grain: one row per deposit or redemption of a transaction that bears the suffix of an API key. `attributed_daily_flows` adds them up.';
ALTER TABLE attributed_flows
  COMMENT COLUMN code 'public code of the API key (`vaultlog keys list`)',
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN account 'owner of the shares, address in lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN day 'UTC day',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN kind 'deposit, redeem',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN asset_decimals 'decimals of the underlying',
  COMMENT COLUMN assets 'assets, whole units',
  COMMENT COLUMN assets_usd 'the assets in USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN assets_raw 'asset base units',
  COMMENT COLUMN shares_raw 'share base units',
  COMMENT COLUMN tx_hash 'hash of the transaction',
  COMMENT COLUMN log_index 'place of the log in its block';

-- One flow without a price makes the day's NULL.
CREATE VIEW IF NOT EXISTS attributed_daily_flows AS
SELECT
  code,
  chain_id,
  vault,
  day,
  any(asset) AS asset,
  any(asset_symbol) AS asset_symbol,
  toFloat64(deposits_raw) / pow(10., any(asset_decimals)) AS deposits,
  toFloat64(redemptions_raw) / pow(10., any(asset_decimals)) AS redemptions,
  if(countIf(kind = 'deposit' AND isNull(assets_usd)) > 0, NULL, sumIf(ifNull(assets_usd, 0), kind = 'deposit')) AS deposits_usd,
  if(countIf(kind = 'redeem' AND isNull(assets_usd)) > 0, NULL, sumIf(ifNull(assets_usd, 0), kind = 'redeem')) AS redemptions_usd,
  sumIf(assets_raw, kind = 'deposit') AS deposits_raw,
  sumIf(assets_raw, kind = 'redeem') AS redemptions_raw,
  countIf(kind = 'deposit') AS deposit_count,
  countIf(kind = 'redeem') AS redemption_count,
  uniqExact(account) AS accounts
FROM attributed_flows
GROUP BY code, chain_id, vault, day
COMMENT 'Grain: one row per API key, vault and UTC day with deposits or redemptions whose transactions bear the key''s suffix
(`/v2/transactions/suffix`, and every payload of the API). What a vault passed on to another in the same transaction is
not counted again. `vaultlog flows` shows the same with the names of the keys.';
ALTER TABLE attributed_daily_flows
  COMMENT COLUMN code 'public code of the API key (`vaultlog keys list`)',
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN day 'UTC day',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN deposits 'deposited on the day: assets, whole units',
  COMMENT COLUMN redemptions 'redeemed on the day: assets, whole units',
  COMMENT COLUMN deposits_usd 'deposited on the day: USD at the price of each moment; NULL: one of them has no known price',
  COMMENT COLUMN redemptions_usd 'redeemed on the day: USD at the price of each moment; NULL: one of them has no known price',
  COMMENT COLUMN deposits_raw 'deposited on the day: asset base units',
  COMMENT COLUMN redemptions_raw 'redeemed on the day: asset base units',
  COMMENT COLUMN deposit_count 'deposits of the day, their number',
  COMMENT COLUMN redemption_count 'redemptions of the day, their number',
  COMMENT COLUMN accounts 'different owners of the shares';
