-- Which rows are the last is found in narrow columns; the wide ones are read of those alone.
CREATE VIEW IF NOT EXISTS vault_states AS
SELECT chain_id, vault, timestamp AS sampled_at, share_price, total_assets AS total_assets_raw, total_supply AS total_supply_raw, apy_1d, apy_7d,
  apy_30d
FROM vault_hourly
WHERE (chain_id, vault, position) IN (
  SELECT chain_id, vault, max(position) FROM vault_hourly
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  GROUP BY chain_id, vault)
LIMIT 1 BY chain_id, vault
COMMENT 'Grain: one row per vault that was ever sampled: its newest hourly state. `vaults` has the same in whole units, beside the catalogue.';
ALTER TABLE vault_states
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN sampled_at 'time of the newest hourly sample, UTC',
  COMMENT COLUMN share_price 'assets per whole share; NULL: unknown, or no share',
  COMMENT COLUMN total_assets_raw 'assets of the vault, asset base units; NULL: the contract did not answer',
  COMMENT COLUMN total_supply_raw 'all shares, share base units; NULL: the contract did not answer',
  COMMENT COLUMN apy_1d 'APY over the last day, fraction per year (0.05 is 5 %); NULL: unknown',
  COMMENT COLUMN apy_7d 'APY over the last 7 days, fraction per year; NULL: unknown',
  COMMENT COLUMN apy_30d 'APY over the last 30 days, fraction per year; NULL: unknown';

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
  described.category AS asset_category,
  curated.curator AS curator,
  known.deployed_at AS deployed_at,
  standings.standing AS standing,
  if(state.vault = '', NULL, state.sampled_at) AS sampled_at,
  state.share_price AS share_price,
  toFloat64(state.total_assets_raw) / pow(10., known.asset_decimals) AS total_assets,
  toFloat64(state.total_supply_raw) / pow(10., known.decimals) AS total_supply,
  state.apy_1d AS apy_1d,
  state.apy_7d AS apy_7d,
  state.apy_30d AS apy_30d
FROM known_vaults AS known
INNER JOIN vault_standings AS standings ON known.chain_id = standings.chain_id AND known.vault = standings.vault
LEFT JOIN assets AS described ON known.chain_id = described.chain_id AND known.asset = described.asset
LEFT JOIN (
  SELECT chain_id, address, JSONExtractString(value) AS curator FROM address_facts WHERE subject LIKE 'vault:%' AND kind = 'curator'
) AS curated ON known.chain_id = curated.chain_id AND known.vault = curated.address
LEFT JOIN vault_states AS state ON known.chain_id = state.chain_id AND known.vault = state.vault
COMMENT 'Grain: one row per vault: catalogue and newest hourly state.';
ALTER TABLE vaults
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN protocol 'slug of what it is, e.g. metamorpho; erc-4626: of no factory that is known',
  COMMENT COLUMN name 'name of the share token, as it says itself',
  COMMENT COLUMN symbol 'symbol of the share token, as it says itself',
  COMMENT COLUMN decimals 'decimals of the share',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN asset_decimals 'decimals of the underlying',
  COMMENT COLUMN asset_category 'USD, EURO, ETH, BTC or OTHER: see `assets`',
  COMMENT COLUMN curator 'who curates it, by the registry (`curator:<name>` in `facts`); empty: not said',
  COMMENT COLUMN deployed_at 'time of the block that deployed it, UTC; NULL: unknown',
  COMMENT COLUMN standing '`listed`: the registry lists it; `made`: a factory that the registry names made it; `found`: known by its shape alone, and its figures are its own word',
  COMMENT COLUMN sampled_at 'time of the newest hourly sample, UTC; NULL: never sampled',
  COMMENT COLUMN share_price 'assets per whole share; NULL: unknown, or no share',
  COMMENT COLUMN total_assets 'assets of the vault, whole units; NULL: unknown',
  COMMENT COLUMN total_supply 'all shares, whole units; NULL: unknown',
  COMMENT COLUMN apy_1d 'APY over the last day, fraction per year (0.05 is 5 %); NULL: unknown',
  COMMENT COLUMN apy_7d 'APY over the last 7 days, fraction per year; NULL: unknown',
  COMMENT COLUMN apy_30d 'APY over the last 30 days, fraction per year; NULL: unknown';

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

-- As /v2/benchmarks has them, rewards left out.
CREATE VIEW IF NOT EXISTS benchmarks AS
SELECT chain_id, code, day, count() AS vaults, sum(value_usd) AS tvl_usd,
  sum(apy_1d * value_usd) / sumIf(value_usd, apy_1d IS NOT NULL) AS apy_1d,
  sum(apy_7d * value_usd) / sumIf(value_usd, apy_7d IS NOT NULL) AS apy_7d,
  sum(apy_30d * value_usd) / sumIf(value_usd, apy_30d IS NOT NULL) AS apy_30d
FROM (
  SELECT worth.chain_id AS chain_id, if(lower(worth.asset_symbol) IN ('eth', 'weth'), 'eth', 'usd') AS code, toDate(worth.hour) AS day,
    assumeNotNull(worth.tvl_usd) AS value_usd, yields.apy_1d AS apy_1d, yields.apy_7d AS apy_7d, yields.apy_30d AS apy_30d
  FROM tvl_usd AS worth
  INNER JOIN (
    SELECT chain_id, vault, hour, apy_1d, apy_7d, apy_30d FROM share_prices
    WHERE opens_day = 1 AND share_price IS NOT NULL AND coalesce(apy_1d, apy_7d, apy_30d) IS NOT NULL
  ) AS yields ON worth.chain_id = yields.chain_id AND worth.vault = yields.vault AND worth.hour = yields.hour
  WHERE worth.standing != 'found' AND worth.tvl_usd >= 1000000
    AND lower(worth.asset_symbol) IN ('usdc', 'usdt', 'dai', 'usds', 'usde', 'eth', 'weth')
  ORDER BY value_usd DESC
  LIMIT 5 BY chain_id, code, day
)
GROUP BY chain_id, code, day
COMMENT 'Grain: one row per chain, benchmark and UTC day: the mean APY of the five largest vaults of its assets that are listed or made and hold at
least a million USD, weighted by their value at the first sample of the day. No row: there was no such vault.';
ALTER TABLE benchmarks
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN code 'usd: vaults of USDC, USDT, DAI, USDS and USDe; eth: of ETH and WETH',
  COMMENT COLUMN day 'UTC day',
  COMMENT COLUMN vaults 'vaults that count, five at most',
  COMMENT COLUMN tvl_usd 'their value together, USD',
  COMMENT COLUMN apy_1d 'mean APY over the last day, fraction per year; NULL: no vault has one',
  COMMENT COLUMN apy_7d 'mean APY over the last 7 days, fraction per year; NULL: no vault has one',
  COMMENT COLUMN apy_30d 'mean APY over the last 30 days, fraction per year; NULL: no vault has one';

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

CREATE VIEW IF NOT EXISTS account_flows AS
SELECT moved.chain_id AS chain_id, moved.vault AS vault, moved.account AS account, moved.timestamp AS timestamp,
  moved.block_number AS block_number, moved.kind AS kind, known.asset AS asset, known.asset_symbol AS asset_symbol,
  toFloat64(moved.assets) / pow(10., known.asset_decimals) AS assets,
  toFloat64(moved.shares) / pow(10., known.decimals) AS shares,
  assets * if(moved.timestamp <= prices.until, prices.price_usd, NULL) AS assets_usd,
  moved.assets AS assets_raw, moved.shares AS shares_raw, moved.sender AS sender, moved.tx_hash AS tx_hash, moved.log_index AS log_index
FROM (SELECT * FROM flow FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)) AS moved
INNER JOIN known_vaults AS known ON moved.chain_id = known.chain_id AND moved.vault = known.vault
ASOF LEFT JOIN asset_price_spans AS prices
  ON moved.chain_id = prices.chain_id AND known.asset = prices.asset AND moved.timestamp >= prices.since
COMMENT 'Grain: one row per deposit or redemption.';
ALTER TABLE account_flows
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN account 'owner of the shares, address in lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN kind 'deposit, redeem',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN assets 'assets, whole units',
  COMMENT COLUMN shares 'shares, whole units',
  COMMENT COLUMN assets_usd 'the assets in USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN assets_raw 'asset base units',
  COMMENT COLUMN shares_raw 'share base units',
  COMMENT COLUMN sender 'who called the vault, address in lower case',
  COMMENT COLUMN tx_hash 'hash of the transaction',
  COMMENT COLUMN log_index 'place of the log in its block';

CREATE VIEW IF NOT EXISTS daily_flows_usd AS
SELECT chain_id, vault, toDate(timestamp) AS day, any(asset) AS asset, any(asset_symbol) AS asset_symbol,
  if(countIf(kind = 'deposit' AND assets_usd IS NULL) > 0, NULL, sumIf(ifNull(assets_usd, 0), kind = 'deposit')) AS deposits_usd,
  if(countIf(kind = 'redeem' AND assets_usd IS NULL) > 0, NULL, sumIf(ifNull(assets_usd, 0), kind = 'redeem')) AS redemptions_usd,
  deposits_usd - redemptions_usd AS net_flow_usd,
  countIf(assets_usd IS NULL) AS unpriced_flows
FROM account_flows
GROUP BY chain_id, vault, day
COMMENT 'Grain: one row per vault and UTC day with a flow, each flow at the price of its moment. `daily_flows` has the same days in whole units.';
ALTER TABLE daily_flows_usd
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN day 'UTC day',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN deposits_usd 'deposited on the day, USD; NULL: the price of one of them is unknown',
  COMMENT COLUMN redemptions_usd 'redeemed on the day, USD; NULL: the price of one of them is unknown',
  COMMENT COLUMN net_flow_usd 'deposits less redemptions, USD; NULL: one of both is unknown',
  COMMENT COLUMN unpriced_flows 'flows of the day whose price is unknown, their number';

CREATE VIEW IF NOT EXISTS share_transfers AS
SELECT moved.chain_id AS chain_id, moved.vault AS vault, moved.timestamp AS timestamp, moved.block_number AS block_number,
  moved.told.1 AS sender, moved.told.2 AS receiver, toFloat64(moved.shares) / pow(10., known.decimals) AS shares,
  known.asset AS asset, known.asset_symbol AS asset_symbol, shares * samples.share_price AS assets,
  assets * if(moved.timestamp <= prices.until, prices.price_usd, NULL) AS assets_usd,
  moved.shares AS shares_raw, moved.tx_hash AS tx_hash, moved.log_index AS log_index
FROM (
  SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, block_number, tx_hash, log_index,
    JSONExtract(data, 'Tuple(from String, to String, shares String)') AS told, toUInt256OrZero(told.shares) AS shares
  FROM event FINAL
  WHERE type = 'ShareTransferred' AND (toUInt32(stream), position) NOT IN (SELECT chain_id, position FROM retracted_row)
    AND told.1 != told.2 AND shares > 0 AND '0x0000000000000000000000000000000000000000' NOT IN (told.1, told.2)
) AS moved
INNER JOIN known_vaults AS known ON moved.chain_id = known.chain_id AND moved.vault = known.vault
ASOF LEFT JOIN (
  SELECT chain_id, vault, block_number, share_price FROM vault_sample
  WHERE share_price IS NOT NULL AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
) AS samples ON moved.chain_id = samples.chain_id AND moved.vault = samples.vault AND moved.block_number >= samples.block_number
ASOF LEFT JOIN asset_price_spans AS prices
  ON moved.chain_id = prices.chain_id AND known.asset = prices.asset AND moved.timestamp >= prices.since
COMMENT 'Grain: one row per transfer of shares from one account to another; what deposits mint and redemptions burn is in `account_flows`.';
ALTER TABLE share_transfers
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN timestamp 'time of the block, UTC',
  COMMENT COLUMN block_number 'number of that event''s block',
  COMMENT COLUMN sender 'who gave the shares, address in lower case',
  COMMENT COLUMN receiver 'who got them, address in lower case',
  COMMENT COLUMN shares 'shares, whole units',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN assets 'what the shares were worth at the last share price read by then: assets, whole units; NULL: none was',
  COMMENT COLUMN assets_usd 'the same in USD at the price of that moment; NULL: unknown',
  COMMENT COLUMN shares_raw 'share base units',
  COMMENT COLUMN tx_hash 'hash of the transaction',
  COMMENT COLUMN log_index 'place of the log in its block';

-- What came or went as shares is what changed a balance beyond deposits and redemptions of the same block.
CREATE VIEW IF NOT EXISTS account_returns AS
SELECT held.chain_id AS chain_id, held.vault AS vault, held.account AS account, state.asset AS asset, state.asset_symbol AS asset_symbol,
  toFloat64(held.deposited_raw) / pow(10., state.asset_decimals) AS deposited,
  toFloat64(held.withdrawn_raw) / pow(10., state.asset_decimals) AS withdrawn,
  if(held.unpriced > 0, NULL, held.received_shares / pow(10., state.decimals)) AS received,
  if(held.shares_raw = 0, 0., toFloat64(held.shares_raw) / pow(10., state.decimals) * state.share_price) AS value,
  value + withdrawn - deposited - received AS returns,
  returns * if(state.sampled_at <= prices.until, prices.price_usd, NULL) AS returns_usd,
  held.deposited_raw AS deposited_raw, held.withdrawn_raw AS withdrawn_raw, held.shares_raw AS shares_raw
FROM (
  SELECT moved.chain_id AS chain_id, moved.vault AS vault, moved.account AS account, sum(moved.deposited) AS deposited_raw,
    sum(moved.withdrawn) AS withdrawn_raw, sum(moved.gained) AS shares_raw, countIf(moved.sent != 0 AND samples.share_price IS NULL) AS unpriced,
    sum(if(moved.sent = 0, 0., toFloat64(moved.sent) * ifNull(samples.share_price, 0.))) AS received_shares
  FROM (
    SELECT chain_id, vault, account, block_number, sum(delta) AS gained, gained - sum(minted) AS sent, sum(put) AS deposited, sum(taken) AS withdrawn
    FROM (
      SELECT chain_id, vault, holder AS account, block_number, delta, toInt256(0) AS minted, toUInt256(0) AS put, toUInt256(0) AS taken
      FROM balance FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
      UNION ALL
      SELECT chain_id, vault, account, block_number, toInt256(0), if(kind = 'deposit', toInt256(shares), -toInt256(shares)),
        if(kind = 'deposit', assets, toUInt256(0)), if(kind = 'redeem', assets, toUInt256(0))
      FROM flow FINAL WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    )
    GROUP BY chain_id, vault, account, block_number
  ) AS moved
  ASOF LEFT JOIN (
    SELECT chain_id, vault, block_number, share_price FROM vault_sample WHERE share_price IS NOT NULL AND (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ) AS samples ON moved.chain_id = samples.chain_id AND moved.vault = samples.vault AND moved.block_number >= samples.block_number
  GROUP BY chain_id, vault, account
) AS held
INNER JOIN vaults AS state ON held.chain_id = state.chain_id AND held.vault = state.vault
ASOF LEFT JOIN asset_price_spans AS prices
  ON held.chain_id = prices.chain_id AND state.asset = prices.asset AND state.sampled_at >= prices.since
COMMENT 'Grain: one row per vault and account that ever held shares: what it earned, in whole units of the asset. Shares that came from others or
went to them count at the share price of their block; `/v2/portfolio/total-returns` of the API is the same, exact to the unit.';
ALTER TABLE account_returns
  COMMENT COLUMN chain_id 'chain, by its id',
  COMMENT COLUMN vault 'address of the vault, lower case',
  COMMENT COLUMN account 'owner of the shares, address in lower case',
  COMMENT COLUMN asset 'address of the underlying, lower case',
  COMMENT COLUMN asset_symbol 'symbol of the underlying, as it says itself',
  COMMENT COLUMN deposited 'assets that it deposited, whole units',
  COMMENT COLUMN withdrawn 'assets that it redeemed, whole units',
  COMMENT COLUMN received 'shares that came from others less those that went to others, at the share price of their blocks: assets, whole units; NULL: one of the prices is unknown',
  COMMENT COLUMN value 'what its shares are worth at the newest hourly share price: assets, whole units; NULL: unknown',
  COMMENT COLUMN returns 'value + withdrawn − deposited − received: assets, whole units; below zero: lost; NULL: unknown',
  COMMENT COLUMN returns_usd 'the same in USD at the price of the newest hourly sample; NULL: unknown',
  COMMENT COLUMN deposited_raw 'deposited, asset base units',
  COMMENT COLUMN withdrawn_raw 'redeemed, asset base units',
  COMMENT COLUMN shares_raw 'shares held now, share base units';
