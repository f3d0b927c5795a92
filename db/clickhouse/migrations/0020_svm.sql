-- Vaults of chains of Solana's kind. Accounts and mints are 32 bytes, lower-case hex; signatures 64 bytes; block numbers are slots.
-- Which vault an account is: the program has checked the accounts of an instruction that it carried out.
CREATE TABLE IF NOT EXISTS svm_vault (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  protocol LowCardinality(String) COMMENT 'slug of the protocol',
  program LowCardinality(String) COMMENT 'account of the program that carries it out: one code may be deployed more than once',
  share_mint String COMMENT 'mint of its shares' CODEC(ZSTD(1)),
  asset_mint LowCardinality(String) COMMENT 'mint of what it takes; that of wrapped SOL where it takes SOL',
  authority String COMMENT 'the account that alone mints shares' CODEC(ZSTD(1)),
  reserve String COMMENT 'the account that withdrawals are paid from; empty: none' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a vault was met for the first time or with other accounts; the newest stands; `(chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_vault_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number, protocol, fields.program AS program,
  fields.shareMint AS share_mint, fields.asset AS asset_mint, fields.authority AS authority, fields.reserve AS reserve
FROM (
  SELECT stream, contract, timestamp, position, block_number, protocol,
    JSONExtract(data, 'Tuple(program String, shareMint String, asset String, authority String, reserve String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultIdentified'
);

-- What mints of shares and of assets say of themselves.
CREATE TABLE IF NOT EXISTS svm_mint (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'account of the mint, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  token_program LowCardinality(String) COMMENT 'which token program it is of: Token or Token-2022',
  decimals UInt8 COMMENT 'its decimals',
  mint_authority String COMMENT 'who may make more of it; empty: nobody' CODEC(ZSTD(1)),
  freeze_authority String COMMENT 'who may freeze what others hold of it; empty: nobody' CODEC(ZSTD(1)),
  name String COMMENT 'its name, as it says itself; empty: not known' CODEC(ZSTD(1)),
  symbol String COMMENT 'its symbol, as it says itself; empty: not known' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, mint, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a mint was read; the newest stands; `(chain_id, mint, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_mint_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS mint, timestamp, position, block_number, fields.tokenProgram AS token_program,
  fields.decimals AS decimals, fields.mintAuthority AS mint_authority, fields.freezeAuthority AS freeze_authority, fields.name AS name, fields.symbol AS symbol
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(tokenProgram String, decimals UInt8, mintAuthority String, freezeAuthority String, name String, symbol String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmMintDescribed'
);

-- Deposits and withdrawals, with the amounts that the token instructions below them moved.
CREATE TABLE IF NOT EXISTS svm_flow (
  account String COMMENT 'owner of the token account whose shares came or went' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  kind LowCardinality(String) COMMENT 'deposit, withdrawal',
  assets Nullable(UInt256) COMMENT 'asset base units; NULL: no instruction says how many' CODEC(ZSTD(1)),
  shares UInt256 COMMENT 'share base units: what the account got after the fee, or what left it with the fee' CODEC(ZSTD(1)),
  sender String COMMENT 'who paid the assets, or was paid them' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'signature of the transaction, lower-case hex of 64 bytes' CODEC(ZSTD(1)),
  instruction_index UInt32 COMMENT 'place of the outer instruction in its transaction',
  place UInt32 COMMENT 'place in the slot: index of the transaction × 256 + place of the instruction in its trace',
  path String COMMENT 'places of the instruction, between dots: of the outer one, of the one that it called, …',
  INDEX by_vault vault TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (account, chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per deposit or withdrawal; `(account, chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_flow_rows AS
SELECT fields.account AS account, toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  if(type = 'SvmDeposited', 'deposit', 'withdrawal') AS kind, toUInt256OrNull(fields.assets) AS assets, toUInt256(fields.shares) AS shares,
  if(type = 'SvmDeposited', fields.sender, fields.receiver) AS sender, tx_hash, fields.instructionIndex AS instruction_index, log_index AS place, fields.path AS path
FROM (
  SELECT stream, contract, timestamp, position, block_number, type, tx_hash, log_index,
    JSONExtract(data, 'Tuple(account String, sender String, receiver String, assets Nullable(String), shares String, instructionIndex UInt32, path String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('SvmDeposited', 'SvmWithdrawn')
);

-- Shares by token account and owner: what is so from a moment on, not what changed, so that one lost row is mended by the
-- next. What an owner has is the sum over token accounts of the newest row of each.
CREATE TABLE IF NOT EXISTS svm_balance (
  holder String COMMENT 'owner of the token account' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares',
  token_account String COMMENT 'the account that holds them' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  amount UInt256 COMMENT 'share base units that the token account has for this owner from here on; 0: it was closed, emptied, or is another owner''s, who has a row too' CODEC(ZSTD(1)),
  INDEX by_mint mint TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (holder, chain_id, mint, token_account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per change of a token account and owner; `(holder, chain_id, mint, token_account, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_balance_rows AS
SELECT holding.1 AS holder, toUInt32(stream) AS chain_id, contract AS mint, fields.tokenAccount AS token_account, timestamp, position, block_number,
  toUInt256(holding.2) AS amount
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(tokenAccount String, owner String, previousOwner String, amount String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmShareAccountChanged'
)
ARRAY JOIN if(fields.previousOwner IN ('', fields.owner), [(fields.owner, fields.amount)],
  [(fields.owner, fields.amount), (fields.previousOwner, '0')]) AS holding;

-- Shares that their owners have staked in farms. They lie in token accounts of the farms, and belong to who staked them.
-- Which farm a vault stakes the shares of its depositors in, as its own account says: stakes in others prove nothing, as anybody can make a
-- farm, and who made it may take out what others staked.
CREATE TABLE IF NOT EXISTS svm_farm (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  vault LowCardinality(String) COMMENT 'account of the vault',
  farm LowCardinality(String) COMMENT 'account of the farm',
  farm_vault String COMMENT 'token account of the farm, in which all that is staked lies' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, mint, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per farm that a vault was read to name for the first time; all of them count; `(chain_id, mint, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_farm_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS mint, timestamp, position, block_number, fields.vault AS vault, fields.farm AS farm, fields.farmVault AS farm_vault
FROM (
  SELECT stream, contract, timestamp, position, block_number, JSONExtract(data, 'Tuple(vault String, farm String, farmVault String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmFarmNamed'
);

-- One row per change of a stake with what is staked after it. What the farm's own account says replaces what the changes before came to:
-- they begin where the index does, and do not tell of a stake that was given to another owner, nor of a penalty.
CREATE TABLE IF NOT EXISTS svm_stake (
  holder String COMMENT 'owner of the stake' CODEC(ZSTD(1)),
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  mint LowCardinality(String) COMMENT 'mint of the shares',
  stake_account String COMMENT 'account in which the farm keeps what this owner has in it' CODEC(ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  farm LowCardinality(String) COMMENT 'account of the farm; it need not be one that a vault names: see svm_farm',
  amount Int256 COMMENT 'share base units that the owner has in the farm from here on, what is unstaked and not taken out yet with them; below zero where more was taken out than is known of' CODEC(ZSTD(1)),
  INDEX by_mint mint TYPE bloom_filter(0.01) GRANULARITY 1
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (holder, chain_id, mint, stake_account, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per change of a stake, or reading of its account; `(holder, chain_id, mint, stake_account, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_stake_rows AS
WITH
  told AS (
    SELECT contract AS mint, timestamp, position, block_number, type = 'SvmStakeSampled' AS is_whole,
      JSONExtract(data, 'Tuple(farm String, stakeAccount String, owner String, change String, amount String)') AS fields,
      -- Conditions may be tried in any order: other types' data are not to be read as a number.
      toInt256(multiIf(type = 'SvmStakeSampled', fields.amount, type = 'SvmStakeChanged', fields.change, '0')) AS value
    FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('SvmStakeChanged', 'SvmStakeSampled')
  ),
  head AS (
    SELECT holder, mint, stake_account, argMax(amount, position) AS before
    FROM svm_stake
    WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
      AND holder IN (
        SELECT JSONExtractString(data, 'owner') FROM event
        WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type IN ('SvmStakeChanged', 'SvmStakeSampled'))
      AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64})
    GROUP BY holder, mint, stake_account
  ),
  counted AS (
    SELECT fields.owner AS holder, mint, fields.stakeAccount AS stake_account, fields.farm AS farm, timestamp, position, block_number, value,
      sum(is_whole) OVER (PARTITION BY holder, mint, stake_account ORDER BY position ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS wholes
    FROM told
  )
SELECT counted.holder AS holder, toUInt32({stream:Int32}) AS chain_id, counted.mint AS mint, counted.stake_account AS stake_account,
  counted.timestamp AS timestamp, counted.position AS position, counted.block_number AS block_number, counted.farm AS farm,
  if(counted.wholes = 0, head.before, toInt256(0))
    + sum(counted.value) OVER (PARTITION BY counted.holder, counted.mint, counted.stake_account, counted.wholes ORDER BY counted.position
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS amount
FROM counted
LEFT JOIN head ON counted.holder = head.holder AND counted.mint = head.mint AND counted.stake_account = head.stake_account;

-- What a vault and its mint were at a slot, read when that was the newest: no node tells of the past. Hours in which nobody asked have no row.
CREATE TABLE IF NOT EXISTS svm_vault_sample (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  reason LowCardinality(String) COMMENT 'hourly, activity, discovery',
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: not read' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, by their mint, share base units; NULL: not read' CODEC(ZSTD(1)),
  price_assets Nullable(UInt256) COMMENT 'asset base units that price_shares are worth; NULL: there is no share' CODEC(ZSTD(1)),
  price_shares Nullable(UInt256) COMMENT 'share base units; NULL: there is no share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: there is no share' CODEC(ZSTD(1)),
  idle_assets Nullable(UInt256) COMMENT 'what withdrawals can be paid of at once, asset base units; NULL: not read' CODEC(ZSTD(1)),
  epoch Nullable(UInt64) COMMENT 'epoch of the slot; NULL: not read',
  updated_epoch Nullable(UInt64) COMMENT 'epoch in which the vault was last brought up to date; NULL: it does not say'
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per sample; `(chain_id, vault, timestamp, position)`.';

CREATE VIEW IF NOT EXISTS internal.svm_vault_sample_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number, fields.reason AS reason,
  toUInt256OrNull(fields.totalAssets) AS total_assets, toUInt256OrNull(fields.totalSupply) AS total_supply,
  toUInt256OrNull(fields.priceAssets) AS price_assets, toUInt256OrNull(fields.priceShares) AS price_shares,
  if(price_shares = 0, NULL, toFloat64(price_assets) / toFloat64(price_shares) * pow(10., toInt32(fields.decimals) - fields.assetDecimals)) AS share_price,
  toUInt256OrNull(fields.idleAssets) AS idle_assets, fields.epoch AS epoch, fields.updatedEpoch AS updated_epoch
FROM (
  SELECT stream, contract, timestamp, position, block_number,
    JSONExtract(data, 'Tuple(reason String, totalAssets Nullable(String), totalSupply Nullable(String), priceAssets Nullable(String), priceShares Nullable(String),
      idleAssets Nullable(String), decimals UInt8, assetDecimals UInt8, epoch Nullable(UInt64), updatedEpoch Nullable(UInt64))') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultSampled'
);

-- The first sample of each hour, with the APYs of the windows that end at it: (P1 / P0) ^ (year / (t1 - t0)) - 1, where t0 is the
-- row with a price nearest to a window ago, at most half an hour or a twentieth of the window away, whichever is more.
CREATE TABLE IF NOT EXISTS svm_vault_hourly (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  hour DateTime('UTC') COMMENT 'start of the hour, UTC' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  timestamp DateTime('UTC') COMMENT 'time of the sample''s slot, UTC' CODEC(DoubleDelta, ZSTD(1)),
  total_assets Nullable(UInt256) COMMENT 'assets of the vault, asset base units; NULL: not read' CODEC(ZSTD(1)),
  total_supply Nullable(UInt256) COMMENT 'all shares, by their mint, share base units; NULL: not read' CODEC(ZSTD(1)),
  price_assets Nullable(UInt256) COMMENT 'asset base units that price_shares are worth; NULL: there is no share' CODEC(ZSTD(1)),
  price_shares Nullable(UInt256) COMMENT 'share base units; NULL: there is no share' CODEC(ZSTD(1)),
  share_price Nullable(Float64) COMMENT 'assets per whole share; NULL: there is no share' CODEC(ZSTD(1)),
  apy_1h Nullable(Float64) COMMENT 'APY over the last hour, fraction per year (0.05 is 5 %); NULL: unknown' CODEC(ZSTD(1)),
  apy_1d Nullable(Float64) COMMENT 'APY over the last day, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_7d Nullable(Float64) COMMENT 'APY over the last 7 days, fraction per year; NULL: unknown' CODEC(ZSTD(1)),
  apy_30d Nullable(Float64) COMMENT 'APY over the last 30 days, fraction per year; NULL: unknown' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, hour, position)
SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 1024,
  min_bytes_for_wide_part = 268435456
COMMENT 'Grain: one row per vault and hour, its first sample; `(chain_id, vault, hour, position)`. The price of a stake pool moves once an epoch, some two days: between, the APY of an hour and of a day is 0.';

-- Rows from the 32 days before a batch, of the vaults that the batch samples.
CREATE VIEW IF NOT EXISTS internal.svm_vault_hourly_before AS
SELECT vault, hour, position, timestamp, share_price
FROM svm_vault_hourly FINAL
WHERE chain_id = toUInt32({stream:Int32}) AND position <= {from:UInt64}
  AND hour >= (
    SELECT toDateTime(greatest(toInt64(toUnixTimestamp(min(timestamp))) - 32 * 86400, 0), 'UTC') FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultSampled')
  AND vault IN (
    SELECT contract FROM event
    WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmVaultSampled')
  AND position NOT IN (SELECT position FROM retracted WHERE stream = {stream:Int32} AND retracted_by <= {to:UInt64});

-- begins: where the windows begin that end at a row; (0, …) is none.
CREATE VIEW IF NOT EXISTS internal.svm_vault_hourly_rows AS
SELECT toUInt32({stream:Int32}) AS chain_id, vault, hour, position, block_number, timestamp, told.1 AS total_assets, told.2 AS total_supply,
  told.3 AS price_assets, told.4 AS price_shares, price AS share_price, apys[1] AS apy_1h, apys[2] AS apy_1d, apys[3] AS apy_7d, apys[4] AS apy_30d
FROM (
  SELECT *, arrayMap(apy -> if(isFinite(apy), apy, NULL), arrayMap(begin ->
    if(NOT is_priced OR begin.1 = 0, NULL, pow(point.2 / begin.2, 31536000. / (at - begin.1)) - 1), begins)) AS apys
  FROM (
    SELECT *, told.5 AS price, ifNull(price > 0, 0) AS is_priced, toInt64(toUnixTimestamp(timestamp)) AS at, (at, ifNull(price, 0.)) AS point,
      arrayMap((earlier, later, w) ->
        if(later.1 = 0 OR (earlier.1 > 0 AND at - w - earlier.1 <= later.1 - (at - w)), earlier, later),
        [last_value(point) OVER (by_price RANGE BETWEEN 5400 PRECEDING AND 3600 PRECEDING),
          last_value(point) OVER (by_price RANGE BETWEEN 90720 PRECEDING AND 86400 PRECEDING),
          last_value(point) OVER (by_price RANGE BETWEEN 635040 PRECEDING AND 604800 PRECEDING),
          last_value(point) OVER (by_price RANGE BETWEEN 2721600 PRECEDING AND 2592000 PRECEDING)],
        [first_value(point) OVER (by_price RANGE BETWEEN 3599 PRECEDING AND 1800 PRECEDING),
          first_value(point) OVER (by_price RANGE BETWEEN 86399 PRECEDING AND 82080 PRECEDING),
          first_value(point) OVER (by_price RANGE BETWEEN 604799 PRECEDING AND 574560 PRECEDING),
          first_value(point) OVER (by_price RANGE BETWEEN 2591999 PRECEDING AND 2462400 PRECEDING)],
        [3600, 86400, 604800, 2592000]) AS begins
    FROM (
      SELECT vault, hour, first.1 AS position, first.2 AS block_number, first.3 AS timestamp, 1 AS is_new, first.4 AS told
      FROM (
        SELECT vault, toStartOfHour(timestamp) AS hour,
          min((position, block_number, timestamp, (total_assets, total_supply, price_assets, price_shares, share_price))) AS first
        FROM svm_vault_sample
        WHERE chain_id = toUInt32({stream:Int32}) AND position > {from:UInt64} AND position <= {to:UInt64}
        GROUP BY vault, hour
      )
      WHERE (vault, hour) NOT IN (
        SELECT vault, hour FROM internal.svm_vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64}))
      UNION ALL
      SELECT vault, hour, position, 0, timestamp, 0, (NULL, NULL, NULL, NULL, share_price)
      FROM internal.svm_vault_hourly_before(stream = {stream:Int32}, from = {from:UInt64}, to = {to:UInt64})
    )
    WINDOW by_price AS (PARTITION BY vault, is_priced ORDER BY at)
  )
  WHERE is_new
);

-- What programs wrote down of the price of a share, told by the log of the slot itself: the past has it, where samples have not.
CREATE TABLE IF NOT EXISTS svm_price (
  chain_id UInt32 COMMENT 'chain, by the id of its stream: 1399811149 is Solana',
  vault LowCardinality(String) COMMENT 'account of the vault, lower-case hex of 32 bytes',
  timestamp DateTime('UTC') COMMENT 'time of the slot, UTC, as the cluster reckons it' CODEC(DoubleDelta, ZSTD(1)),
  position UInt64 COMMENT 'place of the event that the row follows from, in the chain''s stream of events' CODEC(DoubleDelta, ZSTD(1)),
  block_number UInt64 COMMENT 'that event''s slot' CODEC(DoubleDelta, ZSTD(1)),
  price_assets UInt256 COMMENT 'asset base units that price_shares are worth' CODEC(ZSTD(1)),
  price_shares UInt256 COMMENT 'share base units' CODEC(ZSTD(1)),
  tx_hash String COMMENT 'signature of the transaction, lower-case hex of 64 bytes' CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY chain_id
ORDER BY (chain_id, vault, timestamp, position)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT 'Grain: one row per time that a program wrote down the price of a share; `(chain_id, vault, timestamp, position)`. Stake pools write none to the log, and where a log was cut off there is none.';

CREATE VIEW IF NOT EXISTS internal.svm_price_rows AS
SELECT toUInt32(stream) AS chain_id, contract AS vault, timestamp, position, block_number,
  toUInt256(fields.priceAssets) AS price_assets, toUInt256(fields.priceShares) AS price_shares, tx_hash
FROM (
  SELECT stream, contract, timestamp, position, block_number, tx_hash, JSONExtract(data, 'Tuple(priceAssets String, priceShares String)') AS fields
  FROM event
  WHERE stream = {stream:Int32} AND position > {from:UInt64} AND position <= {to:UInt64} AND type = 'SvmPriceUpdated'
);

-- Vaults of chains of Solana's kind for analysts: what they are, who holds them, what went in and out, and prices by the hour.
CREATE VIEW IF NOT EXISTS svm_vaults AS
WITH
  mints AS (
    SELECT chain_id, mint, argMax(toNullable(decimals), position) AS decimals, argMax(symbol, position) AS symbol, argMax(name, position) AS name
    FROM svm_mint
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    GROUP BY chain_id, mint
  ),
  samples AS (
    SELECT chain_id, vault, max(timestamp) AS sampled_at, argMax((total_assets, total_supply, share_price), position) AS last
    FROM svm_vault_sample
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
    GROUP BY chain_id, vault
  )
SELECT v.chain_id AS chain_id, v.vault AS vault, v.protocol AS protocol, v.program AS program, share.name AS name,
  v.share_mint AS share_mint, share.symbol AS share_symbol, share.decimals AS share_decimals,
  v.asset_mint AS asset_mint, asset.symbol AS asset_symbol, asset.decimals AS asset_decimals,
  if(s.vault = '', NULL, s.sampled_at) AS sampled_at, s.last.1 AS total_assets_raw, s.last.2 AS total_supply_raw, s.last.3 AS share_price,
  toFloat64(s.last.1) / pow(10., asset.decimals) AS total_assets
FROM (
  SELECT * FROM svm_vault
  WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
  ORDER BY position DESC
  LIMIT 1 BY chain_id, vault
) AS v
LEFT JOIN mints AS share ON share.chain_id = v.chain_id AND share.mint = v.share_mint
LEFT JOIN mints AS asset ON asset.chain_id = v.chain_id AND asset.mint = v.asset_mint
LEFT JOIN samples AS s ON s.chain_id = v.chain_id AND s.vault = v.vault
COMMENT 'Grain: one row per vault of a chain of Solana''s kind, as it stands now; `(chain_id, vault)`.';
ALTER TABLE svm_vaults
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN program 'account of the program that carries it out',
  COMMENT COLUMN name 'what its share is called, as the mint says itself; empty: not known',
  COMMENT COLUMN share_mint 'mint of its shares',
  COMMENT COLUMN share_symbol 'symbol of the share; empty: not known',
  COMMENT COLUMN share_decimals 'decimals of the share; NULL: never read',
  COMMENT COLUMN asset_mint 'mint of what it takes; that of wrapped SOL where it takes SOL',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN asset_decimals 'decimals of the asset; NULL: never read',
  COMMENT COLUMN sampled_at 'time of the newest sample, UTC; NULL: never read',
  COMMENT COLUMN total_assets_raw 'assets of the vault, asset base units; NULL: not read',
  COMMENT COLUMN total_supply_raw 'all shares, share base units; NULL: not read',
  COMMENT COLUMN share_price 'assets per whole share; NULL: there is no share',
  COMMENT COLUMN total_assets 'assets of the vault, whole units; NULL: not read';

-- Staked shares stand under who staked them; the farm in whose token account they lie holds none.
CREATE VIEW IF NOT EXISTS svm_positions AS
SELECT b.chain_id AS chain_id, v.vault AS vault, b.holder AS holder, b.shares_raw AS shares_raw,
  toFloat64(b.shares_raw) / pow(10., v.share_decimals) AS shares, shares * v.share_price AS assets, v.asset_symbol AS asset_symbol, b.since AS changed_at,
  b.staked_raw AS staked_raw
FROM (
  SELECT chain_id, mint, holder, toUInt256(sum(held)) AS shares_raw, toUInt256(sumIf(held, is_staked)) AS staked_raw, max(last.2) AS since
  FROM (
    SELECT chain_id, mint, holder, 0 AS is_staked, argMax((toInt256(amount), timestamp), position) AS last, last.1 AS held
    FROM svm_balance
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
      AND (chain_id, mint, token_account) NOT IN (
        SELECT chain_id, mint, farm_vault FROM svm_farm WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row))
    GROUP BY chain_id, mint, holder, token_account
    UNION ALL
    SELECT chain_id, mint, holder, 1 AS is_staked, argMax((amount, timestamp), position) AS last, greatest(last.1, toInt256(0)) AS held
    FROM svm_stake
    WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row)
      AND (chain_id, mint, farm) IN (
        SELECT chain_id, mint, farm FROM svm_farm WHERE (chain_id, position) NOT IN (SELECT chain_id, position FROM retracted_row))
    GROUP BY chain_id, mint, holder, stake_account
  )
  GROUP BY chain_id, mint, holder
  HAVING shares_raw > 0
) AS b
INNER JOIN svm_vaults AS v ON v.chain_id = b.chain_id AND v.share_mint = b.mint
COMMENT 'Grain: one row per holder and vault of a chain of Solana''s kind, with what is held now over all token accounts and staked in the farm that the vault names; `(chain_id, vault, holder)`. Shares that another farm or another program holds stand under that program.';
ALTER TABLE svm_positions
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN holder 'owner of the token accounts and of the stake',
  COMMENT COLUMN shares_raw 'shares, base units',
  COMMENT COLUMN shares 'shares, whole units; NULL: decimals were never read',
  COMMENT COLUMN assets 'what they are worth at the newest sample, whole units of the asset; NULL: no price of a share is known',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN changed_at 'time of the newest change, UTC',
  COMMENT COLUMN staked_raw 'of these, what is staked in a farm, base units';

CREATE VIEW IF NOT EXISTS svm_flows AS
SELECT f.chain_id AS chain_id, f.timestamp AS timestamp, f.block_number AS block_number, f.vault AS vault, v.protocol AS protocol, f.account AS account,
  f.kind AS kind, f.assets AS assets_raw, toFloat64(f.assets) / pow(10., v.asset_decimals) AS assets, v.asset_symbol AS asset_symbol,
  f.shares AS shares_raw, toFloat64(f.shares) / pow(10., v.share_decimals) AS shares, f.tx_hash AS tx_hash, f.position AS position
FROM svm_flow AS f FINAL
INNER JOIN svm_vaults AS v ON v.chain_id = f.chain_id AND v.vault = f.vault
WHERE (f.chain_id, f.position) NOT IN (SELECT chain_id, position FROM retracted_row)
COMMENT 'Grain: one row per deposit or withdrawal of a vault of a chain of Solana''s kind, with names and whole units; `(chain_id, position)`.';
ALTER TABLE svm_flows
  COMMENT COLUMN chain_id 'chain, by the id of its stream: 1399811149 is Solana',
  COMMENT COLUMN timestamp 'time of the slot, UTC',
  COMMENT COLUMN block_number 'slot',
  COMMENT COLUMN vault 'account of the vault, lower-case hex of 32 bytes',
  COMMENT COLUMN protocol 'slug of the protocol',
  COMMENT COLUMN account 'owner of the token account whose shares came or went',
  COMMENT COLUMN kind 'deposit, withdrawal',
  COMMENT COLUMN assets_raw 'asset base units; NULL: no instruction says how many',
  COMMENT COLUMN assets 'whole units of the asset; NULL: not known',
  COMMENT COLUMN asset_symbol 'symbol of the asset; empty: not known',
  COMMENT COLUMN shares_raw 'share base units',
  COMMENT COLUMN shares 'whole shares; NULL: decimals were never read',
  COMMENT COLUMN tx_hash 'signature of the transaction, lower-case hex of 64 bytes',
  COMMENT COLUMN position 'place of the event that the row follows from, in the chain''s stream of events';

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
